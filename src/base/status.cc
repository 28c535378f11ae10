#include "src/base/status.h"

namespace tboost {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalidArgument:
      return "invalid argument";
    case StatusCode::kNotFound:
      return "not found";
    case StatusCode::kIo:
      return "input/output error";
    case StatusCode::kCorrupt:
      return "corrupt file";
    case StatusCode::kUnsupported:
      return "unsupported";
    case StatusCode::kOutOfRange:
      return "out of range";
    case StatusCode::kResourceExhausted:
      return "resource exhausted";
    case StatusCode::kCancelled:
      return "cancelled";
    case StatusCode::kInternal:
      return "internal error";
  }
  return "unknown";
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  return Status(code_, fmt::format("{}: {}", context, message_));
}

Status FaultOfFile(const Status& status, std::string_view file) {
  const bool corrupt =
      status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kOutOfRange;
  return (corrupt ? Status(StatusCode::kCorrupt, status.message()) : status).WithContext(file);
}

}  // namespace tboost
