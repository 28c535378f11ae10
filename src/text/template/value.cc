#include "src/text/template/value.h"

#include <algorithm>

#include "src/text/template/ast.h"

namespace tboost::chat {
namespace {

constexpr int kMaxDepth = 64;
constexpr uint64_t kMaxWeight = uint64_t{1} << 28;
constexpr size_t kLookupCost = 64;

int CheckedDepth(int depth) {
  if (depth > kMaxDepth) throw TemplateError{"lists and dicts nest too deeply"};
  return depth;
}

uint64_t CheckedWeight(uint64_t weight) {
  if (weight > kMaxWeight) throw TemplateError{"lists and dicts hold too much"};
  return weight;
}

}  // namespace

Value Value::MakeList(std::vector<Value> items, bool tuple) {
  int depth = 0;
  uint64_t weight = 1;
  for (const Value& item : items) {
    depth = std::max(depth, item.depth());
    weight = CheckedWeight(weight + item.weight());
  }
  ListData data{std::move(items), tuple, CheckedDepth(depth + 1), weight};
  return Value(List(std::make_shared<const ListData>(std::move(data))));
}

Value Value::MakeDict(std::vector<std::pair<Value, Value>> items) {
  int depth = 0;
  uint64_t weight = 1 + items.size() * std::min(items.size(), kLookupCost);
  for (const auto& [key, value] : items) {
    depth = std::max({depth, key.depth(), value.depth()});
    weight = CheckedWeight(weight + key.weight() + value.weight());
  }
  DictData data{std::move(items), CheckedDepth(depth + 1), weight};
  return Value(Dict(std::make_shared<const DictData>(std::move(data))));
}

Value Value::UndefinedName(std::string name) {
  return Value(Undefined{std::make_shared<const std::string>(std::move(name))});
}

const std::string* Value::text() const {
  const Text* text = As<Text>();
  return text == nullptr ? nullptr : text->get();
}
const ListData* Value::list() const {
  const List* list = As<List>();
  return list == nullptr ? nullptr : list->get();
}
const DictData* Value::dict() const {
  const Dict* dict = As<Dict>();
  return dict == nullptr ? nullptr : dict->get();
}

int64_t Value::integer() const {
  if (const bool* flag = As<bool>()) return *flag ? 1 : 0;
  const int64_t* number = As<int64_t>();
  return number == nullptr ? 0 : *number;
}
double Value::real() const {
  const double* number = As<double>();
  return number == nullptr ? static_cast<double>(integer()) : *number;
}

bool Value::Truth() const {
  if (is_number()) return real() != 0;
  if (text() != nullptr) return !text()->empty();
  if (list() != nullptr) return !list()->items.empty();
  if (dict() != nullptr) return !dict()->items.empty();
  return !is_undefined() && !is_none();
}

std::string_view Value::TypeName() const {
  if (list() != nullptr && list()->tuple) return "tuple";
  static constexpr std::string_view kNames[] = {"Undefined",   "NoneType", "bool",     "int",
                                                "float",       "str",      "list",     "dict",
                                                "LoopContext", "function", "Namespace"};
  return kNames[data_.index()];
}

int Value::depth() const {
  if (list() != nullptr) return list()->depth;
  if (dict() != nullptr) return dict()->depth;
  if (const Loop* loop = As<Loop>()) return (*loop)->items->depth + 1;
  if (const Function* function = As<Function>()) return (*function)->self.depth() + 1;
  return 0;
}

uint64_t Value::weight() const {
  if (text() != nullptr) return text()->size() + 1;
  if (list() != nullptr) return list()->weight;
  if (dict() != nullptr) return dict()->weight;
  return 1;
}

const Value* DictData::Find(const Value& key) const {
  for (const auto& [name, value] : items) {
    if (Equal(name, key)) return &value;
  }
  return nullptr;
}

const Value* DictData::FindText(std::string_view key) const {
  for (const auto& [name, value] : items) {
    if (name.text() != nullptr && *name.text() == key) return &value;
  }
  return nullptr;
}

bool Equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_float() || b.is_float() ? a.real() == b.real() : a.integer() == b.integer();
  }
  if (a.text() != nullptr && b.text() != nullptr) return *a.text() == *b.text();
  if (a.list() != nullptr && b.list() != nullptr) {
    return a.list()->tuple == b.list()->tuple &&
           std::equal(a.list()->items.begin(), a.list()->items.end(), b.list()->items.begin(),
                      b.list()->items.end(), Equal);
  }
  if (a.dict() != nullptr && b.dict() != nullptr) {
    if (a.dict()->items.size() != b.dict()->items.size()) return false;
    return std::all_of(a.dict()->items.begin(), a.dict()->items.end(), [&](const auto& item) {
      const Value* other = b.dict()->Find(item.first);
      return other != nullptr && Equal(item.second, *other);
    });
  }
  if (a.Is<Namespace*>() && b.Is<Namespace*>()) return *a.As<Namespace*>() == *b.As<Namespace*>();
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

bool Less(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_float() || b.is_float() ? a.real() < b.real() : a.integer() < b.integer();
  }
  if (a.text() != nullptr && b.text() != nullptr) return *a.text() < *b.text();
  if (a.list() != nullptr && b.list() != nullptr && a.list()->tuple == b.list()->tuple) {
    return std::lexicographical_compare(a.list()->items.begin(), a.list()->items.end(),
                                        b.list()->items.begin(), b.list()->items.end(), Less);
  }
  throw TemplateError{"no order between " + std::string(a.TypeName()) + " and " +
                      std::string(b.TypeName())};
}

}  // namespace tboost::chat
