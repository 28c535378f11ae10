// Functions that every template may call.
#include <ctime>

#include "src/text/template/interpreter.h"

namespace tboost::chat {
namespace {

Value RaiseException(Interpreter& interpreter, const Value&, const Arguments& arguments) {
  throw TemplateError{interpreter.Printed(arguments.Get(0, "message"))};
}

Value Range(Interpreter& interpreter, const Value&, const Arguments& arguments) {
  const size_t count = arguments.positional.size();
  if (count < 1 || count > 3) throw TemplateError{"range takes one to three integers"};
  for (const Value& value : arguments.positional) {
    if (!value.is_number() || value.is_float()) throw TemplateError{"range takes integers"};
  }
  const int64_t start = count > 1 ? arguments.positional[0].integer() : 0;
  const int64_t stop = arguments.positional[count > 1 ? 1 : 0].integer();
  const int64_t step = count > 2 ? arguments.positional[2].integer() : 1;
  if (step == 0) throw TemplateError{"range: the step is zero"};
  std::vector<Value> items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    interpreter.Charge(sizeof(Value));
    items.push_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return interpreter.List(std::move(items));
}

// The members of a dict argument, and the named arguments after them.
std::vector<std::pair<std::string, Value>> Members(const Arguments& arguments) {
  std::vector<std::pair<std::string, Value>> members;
  if (!arguments.positional.empty() && arguments.positional[0].dict() != nullptr) {
    for (const auto& [key, value] : arguments.positional[0].dict()->items) {
      members.emplace_back(Print(key), value);
    }
  }
  members.insert(members.end(), arguments.named.begin(), arguments.named.end());
  return members;
}

Value MakeNamespace(Interpreter& interpreter, const Value&, const Arguments& arguments) {
  return interpreter.MakeNamespace(Members(arguments));
}

Value MakeDict(Interpreter& interpreter, const Value&, const Arguments& arguments) {
  std::vector<std::pair<Value, Value>> items;
  for (auto& [key, value] : Members(arguments)) items.emplace_back(interpreter.Text(key), value);
  return Value::MakeDict(std::move(items));
}

Value StrftimeNow(Interpreter& interpreter, const Value&, const Arguments& arguments) {
  constexpr size_t kMaxFormat = 256;
  const std::string format = interpreter.Printed(arguments.Get(0, "format"));
  if (format.size() > kMaxFormat) throw TemplateError{"strftime_now: the format is too long"};
  const std::time_t now = interpreter.options().now.value_or(std::time(nullptr));
  std::tm local{};
  localtime_r(&now, &local);
  char buffer[64 * kMaxFormat];
  const size_t size =
      format.empty() ? 0 : std::strftime(buffer, sizeof(buffer), format.c_str(), &local);
  return interpreter.Text(std::string(buffer, size));
}

constexpr NamedBuiltin kFunctions[] = {
    {"dict", MakeDict}, {"namespace", MakeNamespace},  {"raise_exception", RaiseException},
    {"range", Range},   {"strftime_now", StrftimeNow},
};

}  // namespace

Builtin FindFunction(std::string_view name) {
  for (const NamedBuiltin& entry : kFunctions) {
    if (entry.name == name) return entry.function;
  }
  return nullptr;
}

}  // namespace tboost::chat
