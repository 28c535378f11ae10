#include "src/graph/attributes.h"

#include <algorithm>

namespace tboost {
namespace {

// The first entry whose name is not below `name`.
template <class Entries>
auto Position(Entries& entries, std::string_view name) {
  return std::ranges::lower_bound(
      entries, name, std::less<>(),
      [](const auto& entry) -> std::string_view { return entry.first; });
}

}  // namespace

const AttributeValue* Attributes::Find(std::string_view name) const {
  const auto at = Position(entries_, name);
  return at != entries_.end() && at->first == name ? &at->second : nullptr;
}

void Attributes::Set(std::string_view name, AttributeValue value) {
  const auto at = Position(entries_, name);
  if (at != entries_.end() && at->first == name)
    at->second = std::move(value);
  else
    entries_.emplace(at, std::string(name), std::move(value));
}

}  // namespace tboost
