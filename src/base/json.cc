#include "src/base/json.h"

#include <cmath>
#include <new>
#include <optional>
#include <vector>

#include "src/base/utf8.h"

namespace tboost {
namespace {

// Builds the document event by event and stops at the first breach of the limits.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view name, const JsonLimits& limits) : name_(name), limits_(limits) {}

  bool null() override { return Add(nullptr) != nullptr; }
  bool boolean(bool value) override { return Add(value) != nullptr; }
  bool number_integer(int64_t value) override { return Add(value) != nullptr; }
  bool number_unsigned(uint64_t value) override { return Add(value) != nullptr; }
  bool number_float(double value, const std::string&) override { return Add(value) != nullptr; }
  bool string(std::string& value) override { return Add(std::move(value)) != nullptr; }
  bool binary(Json::binary_t&) override { return Fail("binary value"); }
  bool start_object(size_t) override { return Open(Json::object()); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(std::string& key) override {
    const auto [member, is_new] = open_.back()->get_ref<Json::object_t&>().try_emplace(key);
    if (!is_new && !limits_.allow_duplicate_keys)
      return Fail(fmt::format("the key \"{}\" appears twice in one object", ShortenUtf8(key, 200)));
    member_ = &member->second;
    return true;
  }

  bool parse_error(size_t, const std::string&, const Json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ...": the tag says nothing
    // to a reader.
    std::string_view what = error.what();
    if (const size_t tag = what.find("] "); tag != what.npos) what.remove_prefix(tag + 2);
    return Fail(ReplaceInvalidUtf8(what));
  }

  Status TakeStatus() { return std::move(status_); }
  Json TakeRoot() { return std::move(root_); }

 private:
  template <class T>
  Json* Add(T&& value) {
    Json* place = &root_;
    if (!open_.empty()) {
      Json* parent = open_.back();
      place = parent->is_object() ? member_ : &parent->get_ref<Json::array_t&>().emplace_back();
    }
    *place = std::forward<T>(value);
    return place;
  }

  bool Open(Json container) {
    if (static_cast<int>(open_.size()) >= limits_.max_depth)
      return Fail(fmt::format("nested deeper than {} levels", limits_.max_depth));
    open_.push_back(Add(std::move(container)));
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  bool Fail(std::string_view what) {
    status_ = CorruptError("{}: {}", name_, what);
    return false;
  }

  std::string_view name_;
  const JsonLimits& limits_;
  Json root_;
  std::vector<Json*> open_;  // the containers being read, outermost first
  Json* member_ = nullptr;   // where the value of the last key goes
  Status status_;
};

template <class T>
struct Reader;

template <>
struct Reader<bool> {
  static constexpr std::string_view kKind = "true or false";
  static std::optional<bool> Read(const Json& value) {
    if (!value.is_boolean()) return std::nullopt;
    return value.get<bool>();
  }
};

template <>
struct Reader<int64_t> {
  static constexpr std::string_view kKind = "an integer";
  static std::optional<int64_t> Read(const Json& value) {
    if (value.is_number_unsigned()) {
      const uint64_t n = value.get<uint64_t>();
      if (n > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
      return static_cast<int64_t>(n);
    }
    if (value.is_number_integer()) return value.get<int64_t>();
    if (!value.is_number_float()) return std::nullopt;
    // Files written by hand or by scripts say 512.0 or 1e4: exact up to 2^53.
    const double x = value.get<double>();
    if (x != std::trunc(x) || std::abs(x) > 9007199254740992.0) return std::nullopt;
    return static_cast<int64_t>(x);
  }
};

template <>
struct Reader<double> {
  static constexpr std::string_view kKind = "a number";
  static std::optional<double> Read(const Json& value) {
    if (!value.is_number()) return std::nullopt;
    return value.get<double>();
  }
};

template <>
struct Reader<std::string> {
  static constexpr std::string_view kKind = "a string";
  static std::optional<std::string> Read(const Json& value) {
    if (!value.is_string()) return std::nullopt;
    return value.get_ref<const std::string&>();
  }
};

// The member, or null where it is absent or JSON's null; an error where `object` is none.
Result<const Json*> Find(const Json& object, std::string_view key, std::string_view name) {
  if (!object.is_object())
    return CorruptError("{}: expected an object with \"{}\", got {}", name, key,
                        object.type_name());
  const auto member = object.find(key);
  if (member == object.end() || member->is_null()) return static_cast<const Json*>(nullptr);
  return &*member;
}

template <class T>
Result<T> Convert(const Json& value, std::string_view key, std::string_view name) {
  if (std::optional<T> converted = Reader<T>::Read(value)) return *std::move(converted);
  std::string text = value.is_structured() ? std::string(value.type_name())
                                           : value.dump(-1, ' ', /*ensure_ascii=*/true,
                                                        Json::error_handler_t::replace);
  return CorruptError("{}: \"{}\" must be {}, got {}", name, key, Reader<T>::kKind,
                      ShortenUtf8(text, 80));
}

}  // namespace

Result<Json> ParseJson(std::string_view text, std::string_view name, const JsonLimits& limits) try {
  if (text.size() > limits.max_bytes)
    return ResourceExhaustedError("{}: {} bytes of JSON, the limit is {}", name, text.size(),
                                  limits.max_bytes);
  Builder builder(name, limits);
  if (!Json::sax_parse(text, &builder, Json::input_format_t::json, /*strict=*/true,
                       limits.allow_comments))
    return builder.TakeStatus();
  return builder.TakeRoot();
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("{}: not enough memory to read the JSON", name);
}

template <class T>
Result<T> JsonGet(const Json& object, std::string_view key, T fallback, std::string_view name) {
  TBOOST_ASSIGN_OR_RETURN(const Json* value, Find(object, key, name));
  if (value == nullptr) return fallback;
  return Convert<T>(*value, key, name);
}

template <class T>
Result<T> JsonRequire(const Json& object, std::string_view key, std::string_view name) {
  TBOOST_ASSIGN_OR_RETURN(const Json* value, Find(object, key, name));
  if (value == nullptr) return CorruptError("{}: \"{}\" is missing", name, key);
  return Convert<T>(*value, key, name);
}

template Result<bool> JsonGet(const Json&, std::string_view, bool, std::string_view);
template Result<int64_t> JsonGet(const Json&, std::string_view, int64_t, std::string_view);
template Result<double> JsonGet(const Json&, std::string_view, double, std::string_view);
template Result<std::string> JsonGet(const Json&, std::string_view, std::string, std::string_view);
template Result<bool> JsonRequire(const Json&, std::string_view, std::string_view);
template Result<int64_t> JsonRequire(const Json&, std::string_view, std::string_view);
template Result<double> JsonRequire(const Json&, std::string_view, std::string_view);
template Result<std::string> JsonRequire(const Json&, std::string_view, std::string_view);

}  // namespace tboost
