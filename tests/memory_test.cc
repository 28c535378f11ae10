// Peak memory of whole processes: this program starts itself again for each job and reads what the
// system counted.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "src/base/memory_usage.h"
#include "src/formats/test_bytes.h"
#include "tboost/embed.h"
#include "tboost/generate.h"
#include "tests/model_testing.h"
#include "tests/sanitized.h"

namespace tboost {
namespace {

using namespace testing;

constexpr char kSmolLm[] = "SmolLM2-135M-Instruct.Q4_1.gguf";
constexpr char kMiniLm[] = "all-MiniLM-L6-v2";
constexpr double kMebibyte = 1 << 20;

// What a job prints for its parent.
struct Report {
  double peak = 0, weights = 0, kv = 0, predicted = 0;
};

// A job in a process of its own: "JOB MODEL OUTPUT" in the environment of DISABLED_Child.
Report RunChild(const std::string& job) {
  int pipe_ends[2];
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    setenv("TBOOST_MEMORY_JOB", fmt::format("{} {}", pipe_ends[1], job).c_str(), 1);
    execl("/proc/self/exe", "model_test", "--gtest_filter=Memory.DISABLED_Child",
          "--gtest_also_run_disabled_tests", "--gtest_brief=1", nullptr);
    _exit(127);
  }
  close(pipe_ends[1]);
  Report report;
  EXPECT_EQ(read(pipe_ends[0], &report, sizeof(report)), static_cast<ssize_t>(sizeof(report)));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << job;
  return report;
}

Report Compile(const std::string& model, const std::string& output) {
  Must(CompileToFile(model, output, {}));
  Report report;
  report.weights =
      static_cast<double>(Must(Must(OmReader::Open(output)).Section(kWeightsSection)).size());
  return report;
}

Report Load(const std::string& model, const std::string&) {
  const auto runtime = MakeRuntime();
  const auto loaded = Must(Model::Load(*runtime, model));
  return {.weights = static_cast<double>(loaded->memory().weights)};
}

Report Generate(const std::string& model, const std::string&) {
  const auto runtime = MakeRuntime();
  const auto loaded = Must(Model::Load(*runtime, model));
  Generator generator(*loaded);
  const Ids prompt(600, 100);
  const GenerateOptions options{.max_tokens = 20, .ignore_eos = true};
  Must(generator.Generate(prompt, options));
  const MemoryPlan plan = loaded->memory();
  return {.weights = static_cast<double>(plan.weights),
          .kv = static_cast<double>(plan.kv_page * 10),
          .predicted = static_cast<double>(plan.Peak(620))};
}

Report EmbedTexts(const std::string& model, const std::string&) {
  const auto runtime = MakeRuntime();
  const auto loaded = Must(Model::Load(*runtime, model));
  // Ids from everywhere: the plan counts the whole table.
  std::vector<Ids> texts(8, Ids(256));
  for (size_t i = 0; i < 8 * 256; ++i)
    texts[i / 256][i % 256] = static_cast<int32_t>(i * loaded->vocab_size() / (8 * 256));
  Must(EmbedIds(*loaded, texts));
  const MemoryPlan plan = loaded->memory();
  return {.weights = static_cast<double>(plan.weights),
          .predicted = static_cast<double>(plan.Peak(0))};
}

TEST(Memory, DISABLED_Child) {
  const char* text = std::getenv("TBOOST_MEMORY_JOB");
  ASSERT_TRUE(text != nullptr) << "started by hand";
  std::istringstream words(text);
  int out = -1;
  std::string job, model, output;
  words >> out >> job >> model >> output;
  const std::map<std::string, Report (*)(const std::string&, const std::string&)> jobs = {
      {"compile", Compile}, {"load", Load}, {"generate", Generate}, {"embed", EmbedTexts}};
  ASSERT_TRUE(jobs.contains(job)) << job;
  Report report = jobs.at(job)(model, output);
  report.peak = static_cast<double>(ReadMemoryUsage().peak_resident);
  ASSERT_EQ(write(out, &report, sizeof(report)), static_cast<ssize_t>(sizeof(report)));
}

// How many pages of libraries are resident differs between systems.
constexpr double kSystemVaries = 2 * kMebibyte;

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

TEST(Memory, GeneratingFromAnOm) {
  TBOOST_SKIP_IF_SANITIZED();
  TBOOST_REQUIRE_MODEL(kSmolLm);
  const TemporaryFolder folder;
  Must(CompileToFile(RealModel(kSmolLm), folder / "m.om", {}));
  const Report report = RunChild(fmt::format("generate {}", folder / "m.om"));
  EXPECT_LE(report.peak, report.weights + report.kv + 40 * kMebibyte);
  EXPECT_NEAR(report.peak / report.predicted, 1, 0.15);
}

TEST(Memory, EmbeddingFromAnOm) {
  TBOOST_SKIP_IF_SANITIZED();
  TBOOST_REQUIRE_MODEL(kMiniLm);
  const TemporaryFolder folder;
  Must(CompileToFile(RealModel(kMiniLm), folder / "m.om", {}));
  const Report report = RunChild(fmt::format("embed {}", folder / "m.om"));
  EXPECT_NEAR(report.peak / report.predicted, 1, 0.15);
}

}  // namespace
}  // namespace tboost
