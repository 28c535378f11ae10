// Status and Result: how every fallible function of the library reports failure. No exception
// crosses a public or parser boundary and nothing aborts. Immutable once made; safe to pass between
// threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tboost {

// What kind of failure; `tboost` maps each to a documented exit code (docs/cli.md).
enum class StatusCode {
  kOk = 0,
  kInvalidArgument,    // the caller asked for something that makes no sense
  kNotFound,           // a file, tensor, node or name is missing
  kIo,                 // reading or writing failed
  kCorrupt,            // a file breaks its format
  kUnsupported,        // well-formed, but not something this version runs
  kOutOfRange,         // an id, length or size is outside what the model takes
  kResourceExhausted,  // memory or another limit
  kCancelled,          // stopped on request
  kInternal,           // a bug in this library
};

// "invalid argument", "not found"...: for messages.
std::string_view StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  // `message` names the operator, tensor or file, what was expected and what was found.
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }
  // The same failure with "`context`: " before its message; ok stays ok.
  Status WithContext(std::string_view context) const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status OkStatus() { return Status(); }

// A value or the failure that prevented it. `value()`, `*` and `->` need ok().
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit by design

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

#define TBOOST_CONCAT_INNER(a, b) a##b
#define TBOOST_CONCAT(a, b) TBOOST_CONCAT_INNER(a, b)

// Returns the failure of `expr` (a Status) to the caller.
#define TBOOST_RETURN_IF_ERROR(expr)               \
  do {                                             \
    ::tboost::Status tboost_status = (expr);       \
    if (!tboost_status.ok()) return tboost_status; \
  } while (0)

// `lhs = value of expr (a Result)`, or returns its failure to the caller.
#define TBOOST_ASSIGN_OR_RETURN(lhs, expr) \
  TBOOST_ASSIGN_OR_RETURN_IMPL(TBOOST_CONCAT(tboost_result_, __LINE__), lhs, expr)
#define TBOOST_ASSIGN_OR_RETURN_IMPL(result, lhs, expr) \
  auto result = (expr);                                 \
  if (!result.ok()) return result.status();             \
  lhs = std::move(result).value()

}  // namespace tboost
