// Helpers to make failures: `CorruptError("{}: header says {} tensors", path, n)`.
#pragma once

#include <fmt/format.h>

#include "tboost/status.h"

namespace tboost {

#define TBOOST_DEFINE_ERROR(Name, code)                                                \
  template <class... Args>                                                             \
  Status Name(fmt::format_string<Args...> format, Args&&... args) {                    \
    return Status(StatusCode::code, fmt::format(format, std::forward<Args>(args)...)); \
  }
TBOOST_DEFINE_ERROR(InvalidArgumentError, kInvalidArgument)
TBOOST_DEFINE_ERROR(NotFoundError, kNotFound)
TBOOST_DEFINE_ERROR(IoError, kIo)
TBOOST_DEFINE_ERROR(CorruptError, kCorrupt)
TBOOST_DEFINE_ERROR(UnsupportedError, kUnsupported)
TBOOST_DEFINE_ERROR(OutOfRangeError, kOutOfRange)
TBOOST_DEFINE_ERROR(ResourceExhaustedError, kResourceExhausted)
TBOOST_DEFINE_ERROR(CancelledError, kCancelled)
TBOOST_DEFINE_ERROR(InternalError, kInternal)
#undef TBOOST_DEFINE_ERROR

// `status` of working out what `file` asks for: an argument that makes no sense or a size out of
// range is corruption of the file, which the message names first.
Status FaultOfFile(const Status& status, std::string_view file);

// A programmer error that no input can reach: aborts in debug builds, otherwise returns an internal
// error from the enclosing function (whose result converts from Status).
#ifdef NDEBUG
#define TBOOST_CHECK(condition)                                                                  \
  do {                                                                                           \
    if (!(condition))                                                                            \
      return ::tboost::InternalError("{}:{}: check failed: {}", __FILE__, __LINE__, #condition); \
  } while (0)
#else
#define TBOOST_CHECK(condition)         \
  do {                                  \
    if (!(condition)) __builtin_trap(); \
  } while (0)
#endif

}  // namespace tboost
