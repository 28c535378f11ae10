#include "src/base/memory_usage.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "src/base/system_text.h"

namespace tboost {
namespace {

// The value of a "Key:   123 kB" line in bytes.
uint64_t KibLine(std::string_view text, std::string_view key) {
  std::string_view value = LineValue(text, key, ':');
  return static_cast<uint64_t>(ParseDecimal(TakeUntil(value, ' ')).value_or(0)) * 1024;
}

}  // namespace

MemoryUsage ReadMemoryUsage() {
  const std::string text = ReadSystemText("/proc/self/status");
  return {KibLine(text, "VmRSS"), KibLine(text, "VmHWM")};
}

bool ResetPeakMemory() {
  const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = write(fd, "5", 1) == 1;
  close(fd);
  return done;
}

void ReturnFreeMemory() { malloc_trim(0); }

}  // namespace tboost
