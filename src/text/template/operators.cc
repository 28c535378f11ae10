// What + - * / // % ** ~ and the comparisons do, as in Python.
#include <cmath>

#include "src/text/template/interpreter.h"

namespace tboost::chat {
namespace {

[[noreturn]] void Unsupported(std::string_view op, const Value& a, const Value& b) {
  for (const Value* value : {&a, &b}) {
    const Undefined* undefined = value->As<Undefined>();
    if (undefined && undefined->name)
      throw TemplateError{"\"" + *undefined->name + "\" is undefined"};
  }
  throw TemplateError{"cannot use " + std::string(op) + " on " + std::string(a.TypeName()) +
                      " and " + std::string(b.TypeName())};
}

int64_t FloorDivide(int64_t a, int64_t b) {
  if (b == -1) return -a;  // a is no minimum: checked by the caller
  const int64_t quotient = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

Value Power(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return Value(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  int64_t result = 1;
  if (base == 0 || base == 1) return Value(exponent == 0 ? int64_t{1} : base);
  if (base == -1) return Value(exponent % 2 == 0 ? int64_t{1} : int64_t{-1});
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result)) throw TemplateError{"integer overflow"};
  }
  return Value(result);
}

Value Integers(std::string_view op, int64_t a, int64_t b) {
  int64_t out = 0;
  bool overflow = false;
  if (op == "+" || op == "-" || op == "*") {
    if (op == "+") overflow = __builtin_add_overflow(a, b, &out);
    if (op == "-") overflow = __builtin_sub_overflow(a, b, &out);
    if (op == "*") overflow = __builtin_mul_overflow(a, b, &out);
    if (overflow) throw TemplateError{"integer overflow"};
    return out;
  }
  if (op == "**") return Power(a, b);
  if (b == 0) throw TemplateError{"division by zero"};
  if (op == "/") return Value(static_cast<double>(a) / static_cast<double>(b));
  if (b == -1 && a == INT64_MIN) throw TemplateError{"integer overflow"};
  if (op == "//") return FloorDivide(a, b);
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Value Reals(std::string_view op, double a, double b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "**") return std::pow(a, b);
  if (b == 0) throw TemplateError{"division by zero"};
  if (op == "/") return a / b;
  const double quotient = std::floor(a / b);
  return op == "//" ? quotient : a - quotient * b;
}

bool IsArithmetic(std::string_view op) {
  return op == "+" || op == "-" || op == "*" || op == "/" || op == "//" || op == "%" || op == "**";
}

Value Repeat(Interpreter& interpreter, const std::string& text, int64_t count) {
  const auto times = static_cast<uint64_t>(std::max<int64_t>(count, 0));
  if (times > 0 && text.size() > interpreter.options().max_cost / times) {
    throw TemplateError{"the template does too much work"};
  }
  interpreter.Charge(text.size() * times);
  std::string out;
  for (uint64_t i = 0; i < times && !text.empty(); ++i) out += text;
  return Value(std::move(out));
}

bool Contains(Interpreter& interpreter, const Value& container, const Value& wanted) {
  if (const std::string* text = container.text()) {
    if (wanted.text() == nullptr) Unsupported("in", wanted, container);
    interpreter.ChargeSearch(*text, *wanted.text());
    return text->find(*wanted.text()) != text->npos;
  }
  for (const Value& item : interpreter.Iterate(container)) {
    interpreter.Charge(std::min(item.weight(), wanted.weight()));
    if (Equal(item, wanted)) return true;
  }
  return false;
}

}  // namespace

Value Interpreter::Binary(std::string_view op, const Value& left, const Value& right) {
  if (op == "~") return Text(Printed(left) + Printed(right));
  if (op == "in") return Contains(*this, right, left);
  if (op == "not in") return !Contains(*this, right, left);
  if (IsArithmetic(op)) {
    if (left.is_number() && right.is_number()) {
      const bool real = left.is_float() || right.is_float();
      return real ? Reals(op, left.real(), right.real())
                  : Integers(op, left.integer(), right.integer());
    }
    if (op == "+" && left.text() && right.text()) return Text(*left.text() + *right.text());
    if (op == "+" && left.list() && right.list() && left.list()->tuple == right.list()->tuple) {
      std::vector<Value> items = left.list()->items;
      items.insert(items.end(), right.list()->items.begin(), right.list()->items.end());
      return List(std::move(items), left.list()->tuple);
    }
    if (op == "*" && left.text() && right.Is<int64_t>())
      return Repeat(*this, *left.text(), right.integer());
    Unsupported(op, left, right);
  }
  Charge(std::min(left.weight(), right.weight()));
  if (op == "==") return Equal(left, right);
  if (op == "!=") return !Equal(left, right);
  if (left.is_undefined() || right.is_undefined()) Unsupported(op, left, right);
  if (op == "<") return Less(left, right);
  if (op == ">") return Less(right, left);
  if (op == "<=") return Less(left, right) || Equal(left, right);
  return Less(right, left) || Equal(left, right);
}

}  // namespace tboost::chat
