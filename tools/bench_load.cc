// The case "load" of `tboost bench`: processes of this program, timed from their start.
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "tools/bench_cases.h"
#include "tools/exit_codes.h"

extern char** environ;

namespace tboost {
namespace {

constexpr int kReadyFd = 3;
constexpr int kLoads = 11;

struct LoadTime {
  double ms = 0;
  double peak_rss_mb = 0;
};

// Starts the program with a pipe as kReadyFd and waits for the byte it writes there.
Result<LoadTime> LoadOnce(const ModelFlags& flags) {
  int ends[2];
  if (pipe(ends) != 0) return ResourceExhaustedError("cannot make a pipe");
  const std::string words[] = {"tboost",
                               "bench",
                               flags.path,
                               "--ready-fd",
                               fmt::format("{}", kReadyFd),
                               "--threads",
                               fmt::format("{}", flags.threads),
                               "--dtype",
                               flags.dtype,
                               "--max-context",
                               fmt::format("{}", flags.max_context),
                               "--kv-dtype",
                               flags.kv_dtype};
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], kReadyFd);
  pid_t child = 0;
  const auto start = std::chrono::steady_clock::now();
  const int error =
      posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char byte = 0;
  const bool ready = error == 0 && read(ends[0], &byte, 1) == 1;
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  close(ends[0]);
  if (error != 0) return ResourceExhaustedError("cannot start a process");
  int status = 0;
  struct rusage usage = {};
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  if (!ready)
    return InternalError("{}: the process that loads it ended with {}", flags.path, status);
  return LoadTime{elapsed.count(), static_cast<double>(usage.ru_maxrss) * 1024 / 1e6};
}

}  // namespace

Result<Measurement> MeasureLoad(const ModelFlags& flags, const Repeats& repeats) {
  Measurement load{"load", "med_ms", {}};
  const int count = repeats.count > 0 ? repeats.count : kLoads;
  for (int i = -repeats.warmup; i < count; ++i) {
    TBOOST_ASSIGN_OR_RETURN(const LoadTime time, LoadOnce(flags));
    if (i < 0) continue;
    load.values.push_back(time.ms);
    load.peak_rss_mb = std::max(load.peak_rss_mb, time.peak_rss_mb);
  }
  return load;
}

Status ReportReady(int fd) {
  if (write(fd, "r", 1) != 1) return IoError("cannot write to descriptor {}", fd);
  return OkStatus();
}

}  // namespace tboost
