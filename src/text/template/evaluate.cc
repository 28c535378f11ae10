// Expressions.
#include <algorithm>
#include <cmath>

#include "src/base/checked.h"
#include "src/base/utf8.h"
#include "src/text/template/interpreter.h"
#include "src/text/tokenizer/unicode.h"

namespace tboost::chat {
namespace {

std::vector<std::string_view> Characters(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t pos = 0; pos < text.size();) {
    const size_t begin = pos;
    NextCodePoint(text, &pos);
    out.push_back(text.substr(begin, pos - begin));
  }
  return out;
}

[[noreturn]] void FailUndefined(const Undefined& undefined) {
  throw TemplateError{undefined.name ? "\"" + *undefined.name + "\" is undefined"
                                     : "value is undefined"};
}

// Where a slice bound lies in a sequence of `size`, as Python reads it.
int64_t SliceBound(const Value& value, int64_t fallback, int64_t low, int64_t high, int64_t size) {
  if (value.is_none() || value.is_undefined()) return fallback;
  int64_t bound = value.integer();
  if (bound < 0) bound += size;
  return std::clamp(bound, low, high);
}

// The positions a slice takes.
std::vector<size_t> SliceIndices(const Value& start, const Value& stop, const Value& step,
                                 size_t count) {
  const auto size = static_cast<int64_t>(count);
  const int64_t by = step.is_none() || step.is_undefined() ? 1 : step.integer();
  if (by == 0) throw TemplateError{"slice step cannot be zero"};
  std::vector<size_t> out;
  if (by > 0) {
    const int64_t end = SliceBound(stop, size, 0, size, size);
    for (int64_t i = SliceBound(start, 0, 0, size, size); i < end; i += std::min(by, size)) {
      out.push_back(static_cast<size_t>(i));
    }
  } else {
    const int64_t end = SliceBound(stop, -1, -1, size - 1, size);
    for (int64_t i = SliceBound(start, size - 1, -1, size - 1, size); i > end;
         i += std::max(by, -size)) {
      out.push_back(static_cast<size_t>(i));
    }
  }
  return out;
}

Value LoopAttribute(const LoopData& loop, const std::string& name) {
  const auto& items = loop.items->items;
  const auto size = static_cast<int64_t>(items.size());
  const auto index = loop.index;
  if (name == "index") return index + 1;
  if (name == "index0") return index;
  if (name == "revindex") return size - index;
  if (name == "revindex0") return size - index - 1;
  if (name == "first") return index == 0;
  if (name == "last") return index + 1 == size;
  if (name == "length") return size;
  if (name == "previtem" && index > 0) return items[static_cast<size_t>(index - 1)];
  if (name == "nextitem" && index + 1 < size) return items[static_cast<size_t>(index + 1)];
  return Value::UndefinedName(name);
}

}  // namespace

std::vector<Value> Interpreter::Iterate(const Value& value) {
  std::vector<Value> out;
  if (const ListData* list = value.list()) {
    out = list->items;
  } else if (const DictData* dict = value.dict()) {
    for (const auto& [key, unused] : dict->items) out.push_back(key);
  } else if (const std::string* text = value.text()) {
    Charge(text->size() * sizeof(Value));
    for (const std::string_view c : Characters(*text)) out.push_back(std::string(c));
  } else if (!value.is_undefined()) {
    throw TemplateError{"a value of type " + std::string(value.TypeName()) + " cannot be iterated"};
  }
  Charge(out.size() * sizeof(Value));
  return out;
}

Value Interpreter::Attribute(const Value& object, const std::string& name) {
  if (const Undefined* undefined = object.As<Undefined>()) FailUndefined(*undefined);
  if (const Value::Loop* loop = object.As<Value::Loop>()) {
    Value found = LoopAttribute(**loop, name);
    if (!found.is_undefined()) return found;
  }
  if (const Builtin method = FindMethod(object, name)) {
    return Value(Value::Function(
        std::make_shared<const Callable>(Callable{.builtin = method, .self = object})));
  }
  if (Namespace* const* space = object.As<Namespace*>()) {
    for (const auto& [member, value] : (*space)->members) {
      if (member == name) return value;
    }
  }
  if (const DictData* dict = object.dict()) {
    Charge(dict->items.size());
    if (const Value* found = dict->FindText(name)) return *found;
  }
  return Value::UndefinedName(name);
}

Value Interpreter::Item(const Value& object, const Value& index) {
  if (const Undefined* undefined = object.As<Undefined>()) FailUndefined(*undefined);
  if (const DictData* dict = object.dict()) {
    Charge(dict->items.size());
    if (const Value* found = dict->Find(index)) return *found;
  }
  if (index.Is<int64_t>() && (object.list() != nullptr || object.text() != nullptr)) {
    const std::vector<std::string_view> chars =
        object.text() != nullptr ? Characters(*object.text()) : std::vector<std::string_view>();
    Charge(chars.size());
    const size_t count = object.list() != nullptr ? object.list()->items.size() : chars.size();
    int64_t at = index.integer();
    if (at < 0) at += static_cast<int64_t>(count);
    if (at < 0 || at >= static_cast<int64_t>(count)) return Value::UndefinedName("item");
    const auto position = static_cast<size_t>(at);
    return object.list() != nullptr ? object.list()->items[position]
                                    : Value(std::string(chars[position]));
  }
  return index.text() != nullptr ? Attribute(object, *index.text()) : Value::UndefinedName("item");
}

Value Interpreter::EvaluateSlice(const Node& node) {
  const Value object = Evaluate(*node.kids[0]);
  Value bounds[3];
  for (size_t i = 0; i < 3; ++i)
    bounds[i] = node.kids[i + 1] ? Evaluate(*node.kids[i + 1]) : Value(None());
  if (const ListData* list = object.list()) {
    std::vector<Value> out;
    for (const size_t i : SliceIndices(bounds[0], bounds[1], bounds[2], list->items.size())) {
      out.push_back(list->items[i]);
    }
    return List(std::move(out), list->tuple);
  }
  if (const std::string* text = object.text()) {
    Charge(text->size());
    const std::vector<std::string_view> chars = Characters(*text);
    std::string out;
    for (const size_t i : SliceIndices(bounds[0], bounds[1], bounds[2], chars.size()))
      out += chars[i];
    return Text(std::move(out));
  }
  if (const Undefined* undefined = object.As<Undefined>()) FailUndefined(*undefined);
  throw TemplateError{"a value of type " + std::string(object.TypeName()) + " cannot be sliced"};
}

Value Interpreter::Evaluate(const Node& node) {
  const Level level(this);
  Charge(kStepCost);
  try {
    return EvaluateNode(node);
  } catch (TemplateError& error) {
    if (error.line == 0) error.line = node.line;
    throw;
  }
}

Value Interpreter::EvaluateNode(const Node& node) {
  const auto kid = [&](size_t i) -> const Node& { return *node.kids[i]; };
  switch (node.kind) {
    case NodeKind::kConstant:
      return node.value;
    case NodeKind::kName:
      return Lookup(node.name);
    case NodeKind::kList:
    case NodeKind::kTuple: {
      std::vector<Value> items;
      for (const NodePtr& item : node.kids) items.push_back(Evaluate(*item));
      return List(std::move(items), node.kind == NodeKind::kTuple);
    }
    case NodeKind::kDict:
      return EvaluateDict(node);
    case NodeKind::kAttribute:
      return Attribute(Evaluate(kid(0)), node.name);
    case NodeKind::kItem: {
      const Value object = Evaluate(kid(0));
      return Item(object, Evaluate(kid(1)));
    }
    case NodeKind::kSlice:
      return EvaluateSlice(node);
    case NodeKind::kCall:
      return EvaluateCall(node);
    case NodeKind::kFilter:
      return Apply(node, FindFilter(node.name), Evaluate(kid(0)));
    case NodeKind::kTest:
      return Apply(node, FindTest(node.name), Evaluate(kid(0)));
    case NodeKind::kUnary: {
      const Value value = Evaluate(kid(0));
      if (node.name == "not") return !value.Truth();
      if (value.is_float()) return node.name == "-" ? -value.real() : value.real();
      if (!value.is_number()) throw TemplateError{"bad operand of " + node.name};
      return Binary(node.name, Value(int64_t{0}), value);
    }
    case NodeKind::kBinary: {
      const Value left = Evaluate(kid(0));
      return Binary(node.name, left, Evaluate(kid(1)));
    }
    case NodeKind::kCompare:
      return EvaluateCompare(node);
    case NodeKind::kAnd:
    case NodeKind::kOr: {
      Value left = Evaluate(kid(0));
      return left.Truth() == (node.kind == NodeKind::kOr) ? left : Evaluate(kid(1));
    }
    case NodeKind::kConditional:
      if (Evaluate(kid(0)).Truth()) return Evaluate(kid(1));
      return node.kids[2] ? Evaluate(kid(2)) : Value();
    default:
      throw TemplateError{"not an expression"};
  }
}

Value Interpreter::EvaluateDict(const Node& node) {
  std::vector<std::pair<Value, Value>> items;
  for (size_t i = 0; i + 1 < node.kids.size(); i += 2) {
    Value key = Evaluate(*node.kids[i]);
    Value value = Evaluate(*node.kids[i + 1]);
    Charge(sizeof(Value) + items.size());
    const auto same = std::find_if(items.begin(), items.end(),
                                   [&](const auto& item) { return Equal(item.first, key); });
    if (same != items.end()) {
      same->second = std::move(value);
    } else {
      items.emplace_back(std::move(key), std::move(value));
    }
  }
  return Value::MakeDict(std::move(items));
}

Value Interpreter::EvaluateCompare(const Node& node) {
  Value left = Evaluate(*node.kids[0]);
  for (size_t i = 1; i < node.kids.size(); ++i) {
    Value right = Evaluate(*node.kids[i]->kids[1]);
    if (!Binary(node.kids[i]->name, left, right).Truth()) return false;
    left = std::move(right);
  }
  return true;
}

Arguments Interpreter::EvaluateArguments(const Node& node) {
  Arguments arguments;
  for (size_t i = 1; i < node.kids.size(); ++i) {
    const Node& argument = *node.kids[i];
    Value value = Evaluate(*argument.kids[0]);
    if (argument.name.empty()) {
      arguments.positional.push_back(std::move(value));
    } else {
      arguments.named.emplace_back(argument.name, std::move(value));
    }
  }
  return arguments;
}

Value Interpreter::EvaluateCall(const Node& node) {
  const Value callee = Evaluate(*node.kids[0]);
  return Call(callee, EvaluateArguments(node));
}

Value Interpreter::Apply(const Node& node, Builtin builtin, const Value& operand) {
  return builtin(*this, operand, EvaluateArguments(node));
}

Value Interpreter::ApplyFilterChain(const Node* filter, Value value) {
  if (filter == nullptr) return value;
  value = ApplyFilterChain(filter->kids[0].get(), std::move(value));
  return Apply(*filter, FindFilter(filter->name), value);
}

}  // namespace tboost::chat
