#include "tools/signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "src/base/file.h"

namespace tboost {
namespace {

// A signal handler reaches nothing but static storage.
CancelToken token;
std::atomic<int> last_signal{0};

[[noreturn]] void Leave(int signal) {
  RemoveTemporaryFiles();
  _exit(128 + signal);
}

void OnInterrupt(int signal) {
  if (last_signal.exchange(signal) != 0) Leave(signal);
  token.Cancel();
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: a blocked read of standard input must end.
  sigaction(signal, &action, nullptr);
}

}  // namespace

void InstallSignalHandlers() {
  Handle(SIGINT, OnInterrupt);
  Handle(SIGTERM, OnInterrupt);
  // Whoever read our output has left: there is nobody to tell.
  Handle(SIGPIPE, Leave);
}

CancelToken& Interrupted() { return token; }

bool ForgetInterrupt() {
  int expected = SIGINT;
  if (!last_signal.compare_exchange_strong(expected, 0)) return expected == 0;
  token.Reset();
  return true;
}

int InterruptExitCode() {
  const int signal = last_signal.load();
  return signal == 0 ? 0 : 128 + signal;
}

}  // namespace tboost
