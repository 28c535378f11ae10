// Peak memory of whole processes: this program starts itself again for each job and reads what the
// system counted.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "src/base/checked.h"
#include "src/base/memory_usage.h"
#include "src/formats/test_bytes.h"
#include "src/generate/model_state.h"
#include "tboost/embed.h"
#include "tboost/generate.h"
#include "tests/model_testing.h"
#include "tests/sanitized.h"

namespace tboost {
namespace {

using namespace testing;

constexpr char kSmolLm[] = "SmolLM2-135M-Instruct.Q4_1.gguf";
constexpr char kGemma[] = "gemma-3-270m-q4_k_m.gguf";
constexpr char kMiniLm[] = "all-MiniLM-L6-v2";
constexpr double kMebibyte = 1 << 20;

// What a job tells its parent, in bytes.
struct Report {
  double peak = 0, weights = 0, arena = 0, kv = 0, predicted = 0;
  double touched = 0;  // of the weights: those resident when the job was done
};

double Kibibytes(std::istream& in) {
  double kib = 0;
  in >> kib;
  return kib * 1024;
}

// A job, "JOB MODEL OUTPUT", in a process of its own, which stays until the object goes.
class Child {
 public:
  explicit Child(const std::string& job) : job_(job) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);  // the end of this one tells the child to leave
    pid_ = fork();
    if (pid_ == 0) {
      setenv("TBOOST_MEMORY_JOB", fmt::format("{} {}", ends[1], job).c_str(), 1);
      execl("/proc/self/exe", "model_test", "--gtest_filter=Memory.DISABLED_Child",
            "--gtest_also_run_disabled_tests", "--gtest_brief=1", nullptr);
      _exit(127);
    }
    close(ends[1]);
    socket_ = ends[0];
    EXPECT_EQ(read(socket_, &report_, sizeof(report_)), static_cast<ssize_t>(sizeof(report_)));
  }
  ~Child() {
    close(socket_);
    int status = 0;
    waitpid(pid_, &status, 0);
    EXPECT_EQ(status, 0) << job_;
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  const Report& report() const { return report_; }

  // Bytes resident now; pages that n processes share count a n-th (PSS).
  double Proportional() const {
    std::ifstream in(fmt::format("/proc/{}/smaps_rollup", pid_));
    std::string word;
    while (in >> word)
      if (word == "Pss:") return Kibibytes(in);
    ADD_FAILURE() << "the system does not tell PSS";
    return 0;
  }

 private:
  std::string job_;
  pid_t pid_ = -1;
  int socket_ = -1;
  Report report_;
};

Report RunChild(const std::string& job) { return Child(job).report(); }

// The bytes of this range that are resident in this process.
double Resident(std::string_view range) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t first = reinterpret_cast<uintptr_t>(range.data()) / page;
  std::vector<uint64_t> pages(DivUp(range.size(), page));
  std::ifstream in("/proc/self/pagemap", std::ios::binary);
  in.seekg(static_cast<std::streamoff>(first * sizeof(uint64_t)));
  in.read(reinterpret_cast<char*>(pages.data()),
          static_cast<std::streamsize>(pages.size() * sizeof(uint64_t)));
  EXPECT_TRUE(in.good()) << "the system does not tell which pages are resident";
  const auto present = [](uint64_t entry) { return (entry >> 63) != 0; };
  return static_cast<double>(std::ranges::count_if(pages, present)) * static_cast<double>(page);
}

// Of a model that has run: what its plan says for these tokens of a sequence.
Report ReportOf(const Model& model, int64_t tokens) {
  const MemoryPlan plan = model.memory();
  Report report;
  report.weights = static_cast<double>(plan.weights);
  report.arena = static_cast<double>(plan.arena);
  report.kv = static_cast<double>(plan.kv_page * DivUp(static_cast<uint64_t>(tokens), kPageTokens));
  report.predicted = static_cast<double>(plan.Peak(tokens));
  report.touched = Resident(model.state().om->weights);
  return report;
}

// What a child works on; it tells its parent when it is done and stays until the parent leaves.
struct Job {
  int socket;
  std::string model, output;

  void Done(Report report) const {
    report.peak = static_cast<double>(ReadMemoryUsage().peak_resident);
    ASSERT_EQ(write(socket, &report, sizeof(report)), static_cast<ssize_t>(sizeof(report)));
    char none;
    EXPECT_EQ(read(socket, &none, 1), 0);
  }
};

void Compile(const Job& job) {
  Must(CompileToFile(job.model, job.output, {}));
  const uint64_t weights = Must(Must(OmReader::Open(job.output)).Section(kWeightsSection)).size();
  job.Done({.weights = static_cast<double>(weights)});
}

void Load(const Job& job) {
  const auto runtime = MakeRuntime();
  const auto model = Must(Model::Load(*runtime, job.model));
  job.Done(ReportOf(*model, 0));
}

void Generate(const Job& job) {
  const auto runtime = MakeRuntime();
  const auto model = Must(Model::Load(*runtime, job.model));
  Generator generator(*model);
  Must(generator.Generate(Ids(600, 100), {.max_tokens = 20, .ignore_eos = true}));
  job.Done(ReportOf(*model, 620));
}

// Texts of 256 tokens; of several, the ids come from everywhere in the vocabulary.
void EmbedTexts(const Job& job, size_t count) {
  const auto runtime = MakeRuntime();
  const auto model = Must(Model::Load(*runtime, job.model));
  std::vector<Ids> texts(count, Ids(256, 7));
  for (size_t i = 0; count > 1 && i < count * 256; ++i)
    texts[i / 256][i % 256] = static_cast<int32_t>(i * model->vocab_size() / (count * 256));
  Must(EmbedIds(*model, texts));
  job.Done(ReportOf(*model, 0));
}
void EmbedMany(const Job& job) { EmbedTexts(job, 8); }
void EmbedOne(const Job& job) { EmbedTexts(job, 1); }

TEST(Memory, DISABLED_Child) {
  const char* text = std::getenv("TBOOST_MEMORY_JOB");
  ASSERT_TRUE(text != nullptr) << "started by hand";
  std::istringstream words(text);
  std::string name;
  Job job;
  words >> job.socket >> name >> job.model >> job.output;
  const std::map<std::string, void (*)(const Job&)> jobs = {{"compile", Compile},
                                                            {"load", Load},
                                                            {"generate", Generate},
                                                            {"embed", EmbedMany},
                                                            {"embed_one", EmbedOne}};
  ASSERT_TRUE(jobs.contains(name)) << name;
  jobs.at(name)(job);
}

// How many pages of libraries and of the mapped source are resident differs between systems.
constexpr double kSystemVaries = 4 * kMebibyte;

TEST(Memory, CompilingAndLoadingHoldNoSecondCopy) {
  TBOOST_SKIP_IF_SANITIZED();
  const TemporaryFolder folder;
  for (const char* name : {kSmolLm, kMiniLm}) {
    TBOOST_REQUIRE_MODEL(name);
    const Report compile = RunChild(fmt::format("compile {} {}", RealModel(name), folder / "m.om"));
    EXPECT_LE(compile.peak, 1.15 * compile.weights + kSystemVaries) << name;
    const Report load = RunChild(fmt::format("load {}", RealModel(name)));
    EXPECT_LE(load.peak, 1.15 * load.weights + kSystemVaries) << name;
    EXPECT_GE(load.peak, load.weights) << name << ": measured nothing";
  }
}

// What a process may hold beyond the weights it touched, the plan's arena and its cache.
constexpr double kBeyond = 25e6;

void ExpectPromiseKept(const std::string& job, const std::string& model) {
  SCOPED_TRACE(fmt::format("{} {}", job, model));
  const Report report = RunChild(fmt::format("{} {}", job, model));
  EXPECT_LE(report.peak, report.touched + report.arena + report.kv + kBeyond);
  EXPECT_GE(report.peak, report.touched + report.kv) << "measured nothing";
  if (job == "embed_one") return;  // the plan counts the whole table
  EXPECT_NEAR(report.peak / report.predicted, 1, 0.15);
}

TEST(Memory, RunningHoldsWhatIsTouchedAndPlanned) {
  TBOOST_SKIP_IF_SANITIZED();
  const TemporaryFolder folder;
  const std::string om = folder / "m.om";
  for (const char* name : {kSmolLm, kGemma, kMiniLm}) {
    TBOOST_REQUIRE_MODEL(name);
    const std::string job = name == kMiniLm ? "embed" : "generate";
    ExpectPromiseKept(job, RealModel(name));
    Must(CompileToFile(RealModel(name), om, {}));
    ExpectPromiseKept(job, om);
  }
  ExpectPromiseKept("embed_one", om);
}

TEST(Memory, ProcessesShareTheWeightsOfAnOm) {
  TBOOST_SKIP_IF_SANITIZED();
  TBOOST_REQUIRE_MODEL(kSmolLm);
  const TemporaryFolder folder;
  Must(CompileToFile(RealModel(kSmolLm), folder / "m.om", {}));
  const std::string job = fmt::format("generate {}", folder / "m.om");
  const Child first(job), second(job);
  const Report& report = second.report();
  for (const Child* child : {&first, &second})
    EXPECT_GE(child->report().touched, 0.98 * report.weights) << "each has all of them resident";
  const double own = report.arena + report.kv + kBeyond;
  EXPECT_LE(first.Proportional() + second.Proportional(), report.weights + 2 * own);
  EXPECT_NEAR(first.Proportional(), report.weights / 2, own) << "half of the weights each";

  // The same model read from its file is each process's own.
  const Child third(fmt::format("generate {}", RealModel(kSmolLm)));
  EXPECT_GE(third.Proportional(), report.weights);
}

}  // namespace
}  // namespace tboost
