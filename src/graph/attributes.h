// Attributes of a node: a sorted list of named plain values, and typed views of it.
//
// An operator declares a plain struct with defaults and lists its fields once:
//   struct LinearAttributes {
//     Activation activation = Activation::kNone;
//     template <class V>
//     void VisitFields(V& v) { v("activation", activation, "applied to the sum"); }
//   };
// Parsing, text form, hash, equality, validation and documentation derive from that list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/status.h"

namespace tboost {

// Enumerations are stored by name.
using AttributeValue =
    std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>>;

// Sorted by name, no duplicates. Fields at their default are left out, so equal meaning is equal
// lists.
class Attributes {
 public:
  const AttributeValue* Find(std::string_view name) const;
  void Set(std::string_view name, AttributeValue value);
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool operator==(const Attributes&) const = default;

 private:
  std::vector<std::pair<std::string, AttributeValue>> entries_;
};

// One field of an attribute struct, as documentation, help and bindings show it.
struct AttributeSpec {
  std::string name;
  AttributeValue default_value;
  std::string doc;
  std::vector<std::string> choices;  // of an enumeration
};

// Names of an enumeration's values: specialise with `static constexpr std::pair<E,
// std::string_view> kNames[]`.
template <class E>
struct EnumNames;

namespace internal {

template <class T>
AttributeValue ToAttribute(const T& field) {
  if constexpr (std::is_enum_v<T>) {
    for (const auto& [value, name] : EnumNames<T>::kNames)
      if (value == field) return std::string(name);
    return std::string();
  } else if constexpr (std::is_same_v<T, bool>) {
    return field;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<int64_t>(field);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(field);
  } else {
    return field;
  }
}

template <class T>
bool FromAttribute(const AttributeValue& value, T& field) {
  if constexpr (std::is_enum_v<T>) {
    const std::string* text = std::get_if<std::string>(&value);
    if (!text) return false;
    for (const auto& [candidate, name] : EnumNames<T>::kNames)
      if (name == *text) return field = candidate, true;
    return false;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (const bool* b = std::get_if<bool>(&value)) return field = *b, true;
    return false;
  } else if constexpr (std::is_integral_v<T>) {
    const int64_t* i = std::get_if<int64_t>(&value);
    if (!i || static_cast<int64_t>(static_cast<T>(*i)) != *i) return false;
    return field = static_cast<T>(*i), true;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (const double* d = std::get_if<double>(&value)) return field = static_cast<T>(*d), true;
    if (const int64_t* i = std::get_if<int64_t>(&value)) return field = static_cast<T>(*i), true;
    return false;
  } else {
    if (const T* v = std::get_if<T>(&value)) return field = *v, true;
    return false;
  }
}

}  // namespace internal

// The typed view of `attributes`; unknown names, wrong types and unknown enumeration values are
// errors.
template <class T>
Result<T> ParseAttributes(const Attributes& attributes, std::string_view op) {
  T out;
  size_t known = 0;
  Status status;
  auto visit = [&](std::string_view name, auto& field, std::string_view) {
    const AttributeValue* value = attributes.Find(name);
    if (!value) return;
    ++known;
    if (!internal::FromAttribute(*value, field) && status.ok())
      status = InvalidArgumentError("[{}] attribute {} has a wrong type or value", op, name);
  };
  out.VisitFields(visit);
  TBOOST_RETURN_IF_ERROR(status);
  if (known != static_cast<size_t>(attributes.end() - attributes.begin())) {
    T fields;
    for (const auto& [name, value] : attributes) {
      bool found = false;
      auto look = [&, &n = name](std::string_view field, auto&, std::string_view) {
        found |= field == n;
      };
      fields.VisitFields(look);
      if (!found) return InvalidArgumentError("[{}] has no attribute {}", op, name);
    }
  }
  return out;
}

// The list form of a struct: fields that differ from their default.
template <class T>
Attributes MakeAttributes(T value) {
  Attributes out, defaults;
  T fresh;
  auto base = [&](std::string_view name, auto& field, std::string_view) {
    defaults.Set(name, internal::ToAttribute(field));
  };
  fresh.VisitFields(base);
  auto visit = [&](std::string_view name, auto& field, std::string_view) {
    AttributeValue v = internal::ToAttribute(field);
    if (*defaults.Find(name) != v) out.Set(name, std::move(v));
  };
  value.VisitFields(visit);
  return out;
}

// The fields of a struct, for documentation.
template <class T>
std::vector<AttributeSpec> DescribeAttributes() {
  std::vector<AttributeSpec> out;
  T fresh;
  auto visit = [&](std::string_view name, auto& field, std::string_view doc) {
    AttributeSpec spec{std::string(name), internal::ToAttribute(field), std::string(doc), {}};
    using F = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_enum_v<F>)
      for (const auto& entry : EnumNames<F>::kNames) spec.choices.emplace_back(entry.second);
    out.push_back(std::move(spec));
  };
  fresh.VisitFields(visit);
  return out;
}

}  // namespace tboost
