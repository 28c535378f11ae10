// Filters, as jinja2 has them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "src/base/utf8.h"
#include "src/text/template/interpreter.h"
#include "src/text/template/lexer.h"
#include "src/text/template/text_functions.h"
#include "src/text/tokenizer/unicode.h"

namespace tboost::chat {
namespace {

// The member that "a.b.0" names.
Value Path(Interpreter& interpreter, Value value, const Value& path) {
  if (path.text() == nullptr) return interpreter.Item(value, path);
  for (const std::string& part : SplitText(*path.text(), ".", -1, false)) {
    const bool number =
        !part.empty() && part.size() < 10 && part.find_first_not_of("0123456789") == part.npos;
    value = interpreter.Item(value, number ? Value(int64_t{std::stol(part)}) : Value(part));
  }
  return value;
}

// What sort, min, max and unique compare: the attribute, strings in lower case unless asked
// otherwise.
Value Key(Interpreter& interpreter, const Value& item, const Arguments& arguments, size_t case_at,
          size_t attribute_at) {
  const Value attribute = arguments.Get(attribute_at, "attribute", None());
  Value key = attribute.is_none() ? item : Path(interpreter, item, attribute);
  const bool exact = arguments.Get(case_at, "case_sensitive", false).Truth();
  interpreter.Charge(key.weight());
  return !exact && key.text() != nullptr ? Value(LowerText(*key.text())) : key;
}

struct Keyed {
  Value key, item;
};

std::vector<Keyed> KeyedItems(Interpreter& interpreter, const Value& self,
                              const Arguments& arguments, size_t case_at, size_t attribute_at) {
  std::vector<Keyed> out;
  for (Value& item : interpreter.Iterate(self)) {
    out.push_back({Key(interpreter, item, arguments, case_at, attribute_at), std::move(item)});
  }
  return out;
}

// Sorts and charges for the comparisons.
void SortKeyed(Interpreter& interpreter, bool reverse, std::vector<Keyed>* items) {
  std::stable_sort(items->begin(), items->end(), [&](const Keyed& a, const Keyed& b) {
    interpreter.Charge(1 + std::min(a.key.weight(), b.key.weight()));
    return reverse ? Less(b.key, a.key) : Less(a.key, b.key);
  });
}

Value FromKeyed(Interpreter& interpreter, std::vector<Keyed> items) {
  std::vector<Value> out;
  for (Keyed& item : items) out.push_back(std::move(item.item));
  return interpreter.List(std::move(out));
}

Value Sort(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  std::vector<Keyed> items = KeyedItems(interpreter, self, arguments, 1, 2);
  SortKeyed(interpreter, arguments.Get(0, "reverse", false).Truth(), &items);
  return FromKeyed(interpreter, std::move(items));
}

Value DictSort(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  if (self.dict() == nullptr) throw TemplateError{"dictsort takes a dict"};
  const bool by_value = Print(arguments.Get(1, "by", Value(std::string("key")))) == "value";
  std::vector<Keyed> items;
  for (const auto& [key, value] : self.dict()->items) {
    Arguments how;
    how.named.emplace_back("case_sensitive", arguments.Get(0, "case_sensitive", false));
    items.push_back({Key(interpreter, by_value ? value : key, how, 1, 2),
                     interpreter.List({key, value}, true)});
  }
  SortKeyed(interpreter, arguments.Get(2, "reverse", false).Truth(), &items);
  return FromKeyed(interpreter, std::move(items));
}

Value Unique(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  std::vector<Keyed> kept;
  for (Keyed& item : KeyedItems(interpreter, self, arguments, 0, 1)) {
    interpreter.Charge(kept.size() * (1 + item.key.weight() / 16));
    const bool seen = std::any_of(kept.begin(), kept.end(),
                                  [&](const Keyed& k) { return Equal(k.key, item.key); });
    if (!seen) kept.push_back(std::move(item));
  }
  return FromKeyed(interpreter, std::move(kept));
}

template <bool largest>
Value Extreme(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  std::vector<Keyed> items = KeyedItems(interpreter, self, arguments, 0, 1);
  if (items.empty()) return Value::UndefinedName("item");
  size_t best = 0;
  for (size_t i = 1; i < items.size(); ++i) {
    const bool better =
        largest ? Less(items[best].key, items[i].key) : Less(items[i].key, items[best].key);
    if (better) best = i;
  }
  return items[best].item;
}

Value Sum(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const Value attribute = arguments.Get(0, "attribute", None());
  Value total = arguments.Get(1, "start", int64_t{0});
  for (const Value& item : interpreter.Iterate(self)) {
    total = interpreter.Binary("+", total,
                               attribute.is_none() ? item : Path(interpreter, item, attribute));
  }
  return total;
}

Value Length(Interpreter& interpreter, const Value& self, const Arguments&) {
  if (self.text() != nullptr) {
    interpreter.Charge(self.text()->size());
    return CountCharacters(*self.text());
  }
  if (self.list() != nullptr) return static_cast<int64_t>(self.list()->items.size());
  if (self.dict() != nullptr) return static_cast<int64_t>(self.dict()->items.size());
  if (self.is_undefined()) return int64_t{0};
  throw TemplateError{"a value of type " + std::string(self.TypeName()) + " has no length"};
}

template <std::string (*function)(std::string_view)>
Value MapText(Interpreter& interpreter, const Value& self, const Arguments&) {
  return interpreter.Text(function(interpreter.Printed(self)));
}

// Upper case at the start and behind white space, hyphens and opening brackets.
std::string TitleWords(std::string_view text) {
  std::string out;
  bool start = true;
  for (size_t pos = 0; pos < text.size();) {
    const size_t begin = pos;
    const char32_t c = NextCodePoint(text, &pos);
    const std::string_view character = text.substr(begin, pos - begin);
    out += start ? UpperText(character) : LowerText(character);
    start = IsPythonSpace(c) || std::u32string_view(U"-({[<").find(c) != std::u32string_view::npos;
  }
  return out;
}

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    static constexpr std::string_view kFrom = "&<>\"'";
    static constexpr std::string_view kTo[] = {"&amp;", "&lt;", "&gt;", "&#34;", "&#39;"};
    const size_t at = kFrom.find(c);
    out += at == kFrom.npos ? std::string_view(&c, 1) : kTo[at];
  }
  return out;
}

std::string Same(std::string_view text) { return std::string(text); }

Value Trim(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const Value chars = arguments.Get(0, "chars", None());
  return interpreter.Text(StripText(interpreter.Printed(self),
                                    chars.text() ? std::optional(*chars.text()) : std::nullopt,
                                    true, true));
}

Value Replace(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  return ReplaceText(interpreter, interpreter.Printed(self),
                     interpreter.Printed(arguments.Get(0, "old")),
                     interpreter.Printed(arguments.Get(1, "new")),
                     arguments.Get(2, "count", int64_t{-1}).integer());
}

Value Join(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const std::string separator = interpreter.Printed(arguments.Get(0, "d", Value(std::string())));
  const Value attribute = arguments.Get(1, "attribute", None());
  std::string out;
  bool first = true;
  for (const Value& item : interpreter.Iterate(self)) {
    interpreter.Charge(separator.size());
    if (!std::exchange(first, false)) out += separator;
    out += interpreter.Printed(attribute.is_none() ? item : Path(interpreter, item, attribute));
  }
  return interpreter.Text(std::move(out));
}

Value Default(Interpreter&, const Value& self, const Arguments& arguments) {
  const bool boolean = arguments.Get(1, "boolean", false).Truth();
  const bool missing = self.is_undefined() || (boolean && !self.Truth());
  return missing ? arguments.Get(0, "default_value", Value(std::string())) : self;
}

template <bool last>
Value End(Interpreter& interpreter, const Value& self, const Arguments&) {
  const std::vector<Value> items = interpreter.Iterate(self);
  if (items.empty()) return Value::UndefinedName("item");
  return last ? items.back() : items.front();
}

Value ToList(Interpreter& interpreter, const Value& self, const Arguments&) {
  return interpreter.List(interpreter.Iterate(self));
}

Value Items(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  if (self.is_undefined()) return interpreter.List({});
  if (self.dict() == nullptr) throw TemplateError{"items takes a dict"};
  return FindMethod(self, "items")(interpreter, self, arguments);
}

Value ToJsonFilter(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  constexpr int64_t kMaxIndent = 64;
  const Value indent = arguments.Get(0, "indent", arguments.Get(1, "indent", None()));
  const int64_t width = indent.is_none() ? -1 : indent.integer();
  if (width > kMaxIndent) throw TemplateError{"tojson: indent is above 64"};
  interpreter.Charge(self.weight() * (width < 0 ? 1 : 1 + static_cast<uint64_t>(width)));
  return interpreter.Text(ToJson(self, width, arguments.Get(3, "sort_keys", false).Truth()));
}

// The rest of the arguments, for a filter or test named by the one at `index`.
Arguments Rest(const Arguments& arguments, size_t index) {
  Arguments rest;
  for (size_t i = index + 1; i < arguments.positional.size(); ++i) {
    rest.positional.push_back(arguments.positional[i]);
  }
  return rest;
}

Value Map(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  std::vector<Value> out;
  const Value attribute = arguments.Get(SIZE_MAX, "attribute", None());
  const Value name = arguments.Get(0, "filter", None());
  const Builtin filter = name.text() != nullptr ? FindFilter(*name.text()) : nullptr;
  if (attribute.is_none() && filter == nullptr)
    throw TemplateError{"map takes an attribute or a filter"};
  const Arguments rest = Rest(arguments, 0);
  for (const Value& item : interpreter.Iterate(self)) {
    interpreter.Charge(kStepCost);
    Value mapped =
        attribute.is_none() ? filter(interpreter, item, rest) : Path(interpreter, item, attribute);
    if (mapped.is_undefined()) mapped = arguments.Get(SIZE_MAX, "default", mapped);
    out.push_back(std::move(mapped));
  }
  return interpreter.List(std::move(out));
}

// select, reject, selectattr, rejectattr: the items for which a test says `keep`.
template <bool keep, bool by_attribute>
Value Select(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const size_t at = by_attribute ? 1 : 0;
  if (by_attribute && arguments.positional.empty()) throw TemplateError{"no attribute given"};
  Builtin test = nullptr;
  if (at < arguments.positional.size()) {
    const std::string name = Print(arguments.positional[at]);
    test = FindTest(name);
    if (test == nullptr) throw TemplateError{"no test named \"" + name + "\""};
  }
  const Arguments rest = Rest(arguments, at);
  std::vector<Value> out;
  for (const Value& item : interpreter.Iterate(self)) {
    interpreter.Charge(kStepCost);
    const Value tested = by_attribute ? Path(interpreter, item, arguments.positional[0]) : item;
    const Value result = test != nullptr ? test(interpreter, tested, rest) : tested;
    if (result.Truth() == keep) out.push_back(item);
  }
  return interpreter.List(std::move(out));
}

Value ToInt(Interpreter&, const Value& self, const Arguments& arguments) {
  constexpr double kLimit = 9.2e18;
  if (self.Is<int64_t>() || self.Is<bool>()) return self.integer();
  double number = self.is_float() ? self.real() : NAN;
  if (self.text() != nullptr) {
    const std::string text(StripLeft(StripRight(*self.text())));
    char* end = nullptr;
    errno = 0;
    const int64_t whole = std::strtoll(text.c_str(), &end, 10);
    if (!text.empty() && *end == '\0' && errno == 0) return whole;
    number = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0') number = NAN;
  }
  if (!(std::fabs(number) < kLimit)) return arguments.Get(0, "default", int64_t{0});
  return static_cast<int64_t>(number);
}

Value ToFloat(Interpreter&, const Value& self, const Arguments& arguments) {
  if (self.is_number()) return self.real();
  if (self.text() != nullptr) {
    const std::string text(StripLeft(StripRight(*self.text())));
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0') return number;
  }
  return arguments.Get(0, "default", 0.0);
}

Value Abs(Interpreter& interpreter, const Value& self, const Arguments&) {
  if (!self.is_number()) throw TemplateError{"abs takes a number"};
  if (self.is_float()) return std::fabs(self.real());
  return self.integer() < 0 ? interpreter.Binary("-", int64_t{0}, self) : Value(self.integer());
}

Value Round(Interpreter&, const Value& self, const Arguments& arguments) {
  constexpr int64_t kMaxPrecision = 300;
  const int64_t precision = arguments.Get(0, "precision", int64_t{0}).integer();
  const std::string method = Print(arguments.Get(1, "method", Value(std::string("common"))));
  if (!self.is_number()) throw TemplateError{"round takes a number"};
  if (precision < -kMaxPrecision || precision > kMaxPrecision) {
    throw TemplateError{"round: precision is beyond 300"};
  }
  const double scale = std::pow(10.0, static_cast<double>(precision));
  if (method == "ceil") return std::ceil(self.real() * scale) / scale;
  if (method == "floor") return std::floor(self.real() * scale) / scale;
  if (precision < 0) return std::nearbyint(self.real() * scale) / scale;
  return std::strtod(fmt::format("{:.{}f}", self.real(), precision).c_str(), nullptr);
}

Value Reverse(Interpreter& interpreter, const Value& self, const Arguments&) {
  std::vector<Value> items = interpreter.Iterate(self);
  std::reverse(items.begin(), items.end());
  if (self.text() == nullptr) return interpreter.List(std::move(items));
  std::string out;
  for (const Value& item : items) out += *item.text();
  return interpreter.Text(std::move(out));
}

Value Indent(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  constexpr int64_t kMaxWidth = 1024;
  const Value width = arguments.Get(0, "width", int64_t{4});
  const bool first = arguments.Get(1, "first", false).Truth();
  const bool blank = arguments.Get(2, "blank", false).Truth();
  if (width.integer() > kMaxWidth) throw TemplateError{"indent: width is above 1024"};
  const std::string prefix =
      width.text() != nullptr
          ? *width.text()
          : std::string(static_cast<size_t>(std::max<int64_t>(width.integer(), 0)), ' ');
  std::string out;
  const std::vector<std::string> lines = SplitText(interpreter.Printed(self), "\n", -1, false);
  for (size_t i = 0; i < lines.size(); ++i) {
    interpreter.Charge(prefix.size() + lines[i].size() + sizeof(std::string));
    if (i > 0) out += '\n';
    if (i == 0 ? first : blank || !lines[i].empty()) out += prefix;
    out += lines[i];
  }
  return interpreter.Text(std::move(out));
}

constexpr NamedBuiltin kFilters[] = {
    {"abs", Abs},
    {"capitalize", MapText<Capitalize>},
    {"count", Length},
    {"d", Default},
    {"default", Default},
    {"dictsort", DictSort},
    {"e", MapText<EscapeHtml>},
    {"escape", MapText<EscapeHtml>},
    {"first", End<false>},
    {"float", ToFloat},
    {"indent", Indent},
    {"int", ToInt},
    {"items", Items},
    {"join", Join},
    {"last", End<true>},
    {"length", Length},
    {"list", ToList},
    {"lower", MapText<LowerText>},
    {"map", Map},
    {"max", Extreme<true>},
    {"min", Extreme<false>},
    {"reject", Select<false, false>},
    {"rejectattr", Select<false, true>},
    {"replace", Replace},
    {"reverse", Reverse},
    {"round", Round},
    {"safe", MapText<Same>},
    {"select", Select<true, false>},
    {"selectattr", Select<true, true>},
    {"sort", Sort},
    {"string", MapText<Same>},
    {"sum", Sum},
    {"title", MapText<TitleWords>},
    {"tojson", ToJsonFilter},
    {"trim", Trim},
    {"unique", Unique},
    {"upper", MapText<UpperText>},
};

}  // namespace

Builtin FindFilter(std::string_view name) {
  for (const NamedBuiltin& entry : kFilters) {
    if (entry.name == name) return entry.function;
  }
  return nullptr;
}

}  // namespace tboost::chat
