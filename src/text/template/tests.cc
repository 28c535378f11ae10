// What follows `is`, as jinja2 has it.
#include <algorithm>

#include "src/text/template/interpreter.h"
#include "src/text/template/text_functions.h"

namespace tboost::chat {
namespace {

template <bool (*test)(const Value&)>
Value Is(Interpreter&, const Value& self, const Arguments&) {
  return test(self);
}

bool Defined(const Value& v) { return !v.is_undefined(); }
bool IsUndefined(const Value& v) { return v.is_undefined(); }
bool IsNone(const Value& v) { return v.is_none(); }
bool IsString(const Value& v) { return v.text() != nullptr; }
bool IsMapping(const Value& v) { return v.dict() != nullptr; }
bool IsBoolean(const Value& v) { return v.Is<bool>(); }
bool IsTrue(const Value& v) { return v.Is<bool>() && v.integer() == 1; }
bool IsFalse(const Value& v) { return v.Is<bool>() && v.integer() == 0; }
bool IsInteger(const Value& v) { return v.Is<int64_t>(); }
bool IsFloat(const Value& v) { return v.is_float(); }
bool IsNumber(const Value& v) { return v.is_number(); }
bool IsCallable(const Value& v) { return v.Is<Value::Function>(); }
// An undefined value has a length and elements: none.
bool IsSequence(const Value& v) { return v.text() || v.list() || v.dict() || v.is_undefined(); }

template <int64_t remainder>
Value Parity(Interpreter&, const Value& self, const Arguments&) {
  if (!self.is_number() || self.is_float()) throw TemplateError{"odd and even take an integer"};
  return (self.integer() % 2 != 0) == (remainder != 0);
}

Value DivisibleBy(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  return interpreter.Binary("%", self, arguments.Get(0, "num")).real() == 0;
}

Value SameAs(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const Value other = arguments.Get(0, "other");
  return self.TypeName() == other.TypeName() && interpreter.Binary("==", self, other).Truth();
}

template <char first, char second>
Value Compare(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  constexpr char kOperator[] = {first, second, '\0'};
  return interpreter.Binary(kOperator, self, arguments.Get(0, "other"));
}

template <std::string (*convert)(std::string_view)>
Value IsCase(Interpreter& interpreter, const Value& self, const Arguments&) {
  const std::string text = interpreter.Printed(self);
  return convert(text) == text && UpperText(text) != LowerText(text);
}

constexpr NamedBuiltin kTests[] = {
    {"!=", Compare<'!', '='>},
    {"<", Compare<'<', '\0'>},
    {"<=", Compare<'<', '='>},
    {"==", Compare<'=', '='>},
    {">", Compare<'>', '\0'>},
    {">=", Compare<'>', '='>},
    {"boolean", Is<IsBoolean>},
    {"callable", Is<IsCallable>},
    {"defined", Is<Defined>},
    {"divisibleby", DivisibleBy},
    {"eq", Compare<'=', '='>},
    {"equalto", Compare<'=', '='>},
    {"even", Parity<0>},
    {"false", Is<IsFalse>},
    {"float", Is<IsFloat>},
    {"ge", Compare<'>', '='>},
    {"greaterthan", Compare<'>', '\0'>},
    {"gt", Compare<'>', '\0'>},
    {"in", Compare<'i', 'n'>},
    {"integer", Is<IsInteger>},
    {"iterable", Is<IsSequence>},
    {"le", Compare<'<', '='>},
    {"lessthan", Compare<'<', '\0'>},
    {"lower", IsCase<LowerText>},
    {"lt", Compare<'<', '\0'>},
    {"mapping", Is<IsMapping>},
    {"ne", Compare<'!', '='>},
    {"none", Is<IsNone>},
    {"number", Is<IsNumber>},
    {"odd", Parity<1>},
    {"sameas", SameAs},
    {"sequence", Is<IsSequence>},
    {"string", Is<IsString>},
    {"true", Is<IsTrue>},
    {"undefined", Is<IsUndefined>},
    {"upper", IsCase<UpperText>},
};

}  // namespace

Builtin FindTest(std::string_view name) {
  for (const NamedBuiltin& entry : kTests) {
    if (entry.name == name) return entry.function;
  }
  return nullptr;
}

}  // namespace tboost::chat
