#include "src/text/template/interpreter.h"

#include <algorithm>

#include "src/base/utf8.h"

namespace tboost::chat {
namespace {

// Sets a variable for as long as it lives.
template <class T>
class Restore {
 public:
  Restore(T* variable, T value)
      : variable_(variable), old_(std::exchange(*variable, std::move(value))) {}
  ~Restore() { *variable_ = std::move(old_); }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T* variable_;
  T old_;
};

}  // namespace

Value Arguments::Get(size_t index, std::string_view name, Value fallback) const {
  if (index < positional.size()) return positional[index];
  for (const auto& [key, value] : named) {
    if (key == name) return value;
  }
  return fallback;
}

bool Arguments::Has(size_t index, std::string_view name) const {
  return index < positional.size() ||
         std::any_of(named.begin(), named.end(),
                     [&](const auto& entry) { return entry.first == name; });
}

void Interpreter::SetGlobal(std::string name, Value value) {
  globals_.variables.emplace_back(std::move(name), std::move(value));
}

std::string Interpreter::Run(const Node& block) {
  Execute(block);
  return std::move(output_);
}

void Interpreter::Charge(uint64_t cost) {
  if (cost > options_.max_cost - cost_) throw TemplateError{"the template does too much work"};
  cost_ += cost;
}

std::string Interpreter::Printed(const Value& value) {
  Charge(value.weight());
  return chat::Print(value);
}

Value Interpreter::Text(std::string text) {
  Charge(text.size());
  return Value(std::move(text));
}

Value Interpreter::List(std::vector<Value> items, bool tuple) {
  Charge(items.size() * sizeof(Value));
  return Value::MakeList(std::move(items), tuple);
}

Value Interpreter::MakeNamespace(std::vector<std::pair<std::string, Value>> members) {
  Charge(kStepCost + members.size());
  namespaces_.push_back({std::move(members)});
  return Value(&namespaces_.back());
}

void Interpreter::Print(std::string_view text) {
  Charge(text.size());
  output_ += text;
}

std::string Interpreter::Capture(const Node& block) {
  std::string outer = std::exchange(output_, {});
  Execute(block);
  return std::exchange(output_, std::move(outer));
}

Value Interpreter::Lookup(const std::string& name) {
  for (const Frame* frame = frame_; frame != nullptr; frame = frame->parent) {
    for (const auto& [known, value] : frame->variables) {
      if (known == name) return value;
    }
    Charge(frame->variables.size());
  }
  if (const Builtin function = FindFunction(name)) {
    return Value(Value::Function(std::make_shared<const Callable>(Callable{.builtin = function})));
  }
  return Value::UndefinedName(name);
}

void Interpreter::Assign(const std::string& name, Value value) {
  for (auto& [known, old] : frame_->variables) {
    if (known != name) continue;
    old = std::move(value);
    return;
  }
  frame_->variables.emplace_back(name, std::move(value));
}

void Interpreter::AssignTarget(const Node& target, const Value& value) {
  if (target.kind == NodeKind::kName) return Assign(target.name, value);
  if (target.kind == NodeKind::kAttribute) {
    const Value object = Evaluate(*target.kids[0]);
    Namespace* const* space = object.As<Namespace*>();
    if (space == nullptr) throw TemplateError{"only a namespace's attributes can be set"};
    for (auto& [name, member] : (*space)->members) {
      if (name != target.name) continue;
      member = value;
      return;
    }
    (*space)->members.emplace_back(target.name, value);
    return;
  }
  const std::vector<Value> items = Iterate(value);
  if (items.size() != target.kids.size()) {
    throw TemplateError{"cannot unpack " + std::to_string(items.size()) + " values into " +
                        std::to_string(target.kids.size())};
  }
  for (size_t i = 0; i < items.size(); ++i) AssignTarget(*target.kids[i], items[i]);
}

Interpreter::Flow Interpreter::Execute(const Node& node) {
  const Level level(this);
  try {
    Charge(kStepCost);
    return ExecuteStatement(node);
  } catch (TemplateError& error) {
    if (error.line == 0) error.line = node.line;
    throw;
  }
}

Interpreter::Flow Interpreter::ExecuteStatement(const Node& node) {
  switch (node.kind) {
    case NodeKind::kText:
      Print(node.name);
      break;
    case NodeKind::kOutput:
      Print(Printed(Evaluate(*node.kids[0])));
      break;
    case NodeKind::kBlock:
      return ExecuteBlock(node);
    case NodeKind::kIf:
      return ExecuteIf(node);
    case NodeKind::kFor:
      return ExecuteFor(node);
    case NodeKind::kWith:
      return ExecuteWith(node);
    case NodeKind::kSet:
      AssignTarget(*node.kids[0], Evaluate(*node.kids[1]));
      break;
    case NodeKind::kSetBlock:
      AssignTarget(*node.kids[0],
                   ApplyFilterChain(node.kids[2].get(), Text(Capture(*node.kids[1]))));
      break;
    case NodeKind::kFilterBlock:
      Print(Printed(ApplyFilterChain(node.kids[1].get(), Text(Capture(*node.kids[0])))));
      break;
    case NodeKind::kMacro:
      Assign(node.name,
             Value(Value::Function(std::make_shared<const Callable>(Callable{.macro = &node}))));
      break;
    case NodeKind::kBreak:
      return Flow::kBreak;
    case NodeKind::kContinue:
      return Flow::kContinue;
    default:
      throw TemplateError{"not a statement"};
  }
  return Flow::kNormal;
}

Interpreter::Flow Interpreter::ExecuteBlock(const Node& node) {
  for (const NodePtr& statement : node.kids) {
    const Flow flow = Execute(*statement);
    if (flow != Flow::kNormal) return flow;
  }
  return Flow::kNormal;
}

Interpreter::Flow Interpreter::ExecuteIf(const Node& node) {
  size_t i = 0;
  for (; i + 1 < node.kids.size(); i += 2) {
    if (Evaluate(*node.kids[i]).Truth()) return Execute(*node.kids[i + 1]);
  }
  return i < node.kids.size() ? Execute(*node.kids[i]) : Flow::kNormal;
}

Interpreter::Flow Interpreter::ExecuteFor(const Node& node) {
  std::vector<Value> items = Iterate(Evaluate(*node.kids[1]));
  Frame scope{frame_, {}};
  const Restore<Frame*> restore(&frame_, &scope);
  if (node.kids[2]) {
    std::vector<Value> kept;
    for (Value& item : items) {
      AssignTarget(*node.kids[0], item);
      if (Evaluate(*node.kids[2]).Truth()) kept.push_back(std::move(item));
    }
    items = std::move(kept);
  }
  if (items.empty()) {
    scope.variables.clear();
    return node.kids[4] ? Execute(*node.kids[4]) : Flow::kNormal;
  }
  const Value list = List(std::move(items));
  for (size_t i = 0; i < list.list()->items.size(); ++i) {
    scope.variables.clear();
    LoopData loop{*list.As<Value::List>(), static_cast<int64_t>(i)};
    Assign("loop", Value(Value::Loop(std::make_shared<const LoopData>(std::move(loop)))));
    AssignTarget(*node.kids[0], list.list()->items[i]);
    if (Execute(*node.kids[3]) == Flow::kBreak) break;
  }
  return Flow::kNormal;
}

Interpreter::Flow Interpreter::ExecuteWith(const Node& node) {
  Frame scope{frame_, {}};
  for (size_t i = 1; i < node.kids.size(); ++i) {  // values see the outer scope
    scope.variables.emplace_back(node.kids[i]->kids[0]->name, Evaluate(*node.kids[i]->kids[1]));
  }
  const Restore<Frame*> restore(&frame_, &scope);
  return Execute(*node.kids[0]);
}

Value Interpreter::Call(const Value& callee, const Arguments& arguments) {
  const Value::Function* function = callee.As<Value::Function>();
  if (function == nullptr) {
    if (const Undefined* undefined = callee.As<Undefined>(); undefined && undefined->name) {
      throw TemplateError{"\"" + *undefined->name + "\" is undefined"};
    }
    throw TemplateError{"a value of type " + std::string(callee.TypeName()) + " cannot be called"};
  }
  if ((*function)->macro != nullptr) return CallMacro(*(*function)->macro, arguments);
  return (*function)->builtin(*this, (*function)->self, arguments);
}

Value Interpreter::CallMacro(const Node& macro, const Arguments& arguments) {
  if (arguments.positional.size() + 1 > macro.kids.size()) {
    throw TemplateError{"macro " + macro.name + " takes at most " +
                        std::to_string(macro.kids.size() - 1) + " arguments"};
  }
  Frame scope{&top_, {}};
  const Restore<Frame*> restore(&frame_, &scope);
  for (size_t i = 1; i < macro.kids.size(); ++i) {
    const Node& parameter = *macro.kids[i];
    Value value = Value::UndefinedName(parameter.name);
    if (arguments.Has(i - 1, parameter.name)) {
      value = arguments.Get(i - 1, parameter.name);
    } else if (parameter.kids[0]) {
      value = Evaluate(*parameter.kids[0]);
    }
    Assign(parameter.name, std::move(value));
  }
  for (const auto& argument : arguments.named) {
    const std::string& name = argument.first;
    const bool known =
        std::any_of(macro.kids.begin() + 1, macro.kids.end(),
                    [&](const NodePtr& parameter) { return parameter->name == name; });
    if (!known) throw TemplateError{"macro " + macro.name + " has no argument \"" + name + "\""};
  }
  return Text(Capture(*macro.kids[0]));
}

}  // namespace tboost::chat
