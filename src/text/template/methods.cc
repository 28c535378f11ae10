// Methods of strings and dicts, and of loop.
#include <algorithm>

#include "src/base/utf8.h"
#include "src/text/template/interpreter.h"
#include "src/text/template/lexer.h"
#include "src/text/template/text_functions.h"

namespace tboost::chat {
namespace {

std::string TextArgument(const Arguments& arguments, size_t index, std::string_view name) {
  const Value value = arguments.Get(index, name);
  if (value.text() != nullptr) return *value.text();
  throw TemplateError{"argument \"" + std::string(name) + "\" must be a string, not " +
                      std::string(value.TypeName())};
}

template <bool left, bool right>
Value Strip(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const Value chars = arguments.Get(0, "chars", None());
  return interpreter.Text(StripText(
      *self.text(), chars.text() ? std::optional(*chars.text()) : std::nullopt, left, right));
}

template <std::string (*function)(std::string_view)>
Value Map(Interpreter& interpreter, const Value& self, const Arguments&) {
  return interpreter.Text(function(*self.text()));
}

// startswith and endswith: one string, or a tuple of which any will do.
template <bool start>
Value Affix(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const Value wanted = arguments.Get(0, "prefix");
  const auto matches = [&](const Value& affix) {
    if (affix.text() == nullptr) throw TemplateError{"startswith and endswith take strings"};
    return start ? self.text()->starts_with(*affix.text()) : self.text()->ends_with(*affix.text());
  };
  if (wanted.list() == nullptr) return matches(wanted);
  interpreter.Charge(wanted.list()->items.size());
  return std::any_of(wanted.list()->items.begin(), wanted.list()->items.end(), matches);
}

template <bool from_right>
Value Split(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const Value separator = arguments.Get(0, "sep", None());
  const int64_t limit = arguments.Get(1, "maxsplit", int64_t{-1}).integer();
  if (separator.text() != nullptr && separator.text()->empty())
    throw TemplateError{"empty separator"};
  std::vector<std::string> parts;
  if (separator.text() != nullptr) {
    interpreter.ChargeSearch(*self.text(), *separator.text());
    parts = SplitText(*self.text(), *separator.text(), limit, from_right);
  } else {
    parts = SplitSpaces(*self.text(), limit);
  }
  std::vector<Value> items;
  for (std::string& part : parts) items.push_back(interpreter.Text(std::move(part)));
  return interpreter.List(std::move(items));
}

Value SplitLines(Interpreter& interpreter, const Value& self, const Arguments&) {
  std::vector<std::string> parts = SplitText(*self.text(), "\n", -1, false);
  if (parts.back().empty()) parts.pop_back();
  std::vector<Value> items;
  for (std::string& part : parts) items.push_back(interpreter.Text(std::move(part)));
  return interpreter.List(std::move(items));
}

Value Replace(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  return ReplaceText(interpreter, *self.text(), TextArgument(arguments, 0, "old"),
                     TextArgument(arguments, 1, "new"),
                     arguments.Get(2, "count", int64_t{-1}).integer());
}

template <bool last>
Value Find(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const std::string wanted = TextArgument(arguments, 0, "sub");
  interpreter.ChargeSearch(*self.text(), wanted);
  const size_t at = last ? self.text()->rfind(wanted) : self.text()->find(wanted);
  return at == std::string::npos ? int64_t{-1} : CountCharacters(self.text()->substr(0, at));
}

Value Count(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const std::string wanted = TextArgument(arguments, 0, "sub");
  interpreter.ChargeSearch(*self.text(), wanted);
  if (wanted.empty()) return CountCharacters(*self.text()) + 1;
  return static_cast<int64_t>(SplitText(*self.text(), wanted, -1, false).size()) - 1;
}

Value Join(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  std::string out;
  bool first = true;
  for (const Value& item : interpreter.Iterate(arguments.Get(0, "iterable"))) {
    if (item.text() == nullptr) throw TemplateError{"join takes strings"};
    interpreter.Charge(item.text()->size() + self.text()->size());
    if (!std::exchange(first, false)) out += *self.text();
    out += *item.text();
  }
  return Value(std::move(out));
}

Value IsDigits(Interpreter& interpreter, const Value& self, const Arguments&) {
  interpreter.Charge(self.text()->size());
  return !self.text()->empty() && self.text()->find_first_not_of("0123456789") == std::string::npos;
}

enum class Part { kKeys, kValues, kItems };
template <Part part>
Value DictParts(Interpreter& interpreter, const Value& self, const Arguments&) {
  std::vector<Value> out;
  for (const auto& [key, value] : self.dict()->items) {
    if (part == Part::kKeys) out.push_back(key);
    if (part == Part::kValues) out.push_back(value);
    if (part == Part::kItems) out.push_back(interpreter.List({key, value}, true));
  }
  return interpreter.List(std::move(out));
}

Value DictGet(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  interpreter.Charge(self.dict()->items.size());
  const Value* found = self.dict()->Find(arguments.Get(0, "key"));
  return found != nullptr ? *found : arguments.Get(1, "default", None());
}

Value LoopCycle(Interpreter&, const Value& self, const Arguments& arguments) {
  if (arguments.positional.empty()) throw TemplateError{"cycle takes at least one value"};
  const auto index = static_cast<size_t>((*self.As<Value::Loop>())->index);
  return arguments.positional[index % arguments.positional.size()];
}

constexpr NamedBuiltin kTextMethods[] = {
    {"capitalize", Map<Capitalize>},
    {"count", Count},
    {"endswith", Affix<false>},
    {"find", Find<false>},
    {"isdigit", IsDigits},
    {"join", Join},
    {"lower", Map<LowerText>},
    {"lstrip", Strip<true, false>},
    {"replace", Replace},
    {"rfind", Find<true>},
    {"rsplit", Split<true>},
    {"rstrip", Strip<false, true>},
    {"split", Split<false>},
    {"splitlines", SplitLines},
    {"startswith", Affix<true>},
    {"strip", Strip<true, true>},
    {"title", Map<Title>},
    {"upper", Map<UpperText>},
};
constexpr NamedBuiltin kDictMethods[] = {
    {"get", DictGet},
    {"items", DictParts<Part::kItems>},
    {"keys", DictParts<Part::kKeys>},
    {"values", DictParts<Part::kValues>},
};
constexpr NamedBuiltin kLoopMethods[] = {{"cycle", LoopCycle}};

}  // namespace

Builtin FindMethod(const Value& object, std::string_view name) {
  const auto find = [&](const auto& table) -> Builtin {
    for (const NamedBuiltin& entry : table) {
      if (entry.name == name) return entry.function;
    }
    return nullptr;
  };
  if (object.text() != nullptr) return find(kTextMethods);
  if (object.dict() != nullptr) return find(kDictMethods);
  return object.Is<Value::Loop>() ? find(kLoopMethods) : nullptr;
}

}  // namespace tboost::chat
