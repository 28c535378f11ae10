// Runs a parsed template.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "src/text/template/ast.h"
#include "src/text/template/chat_template.h"

namespace tboost::chat {

inline constexpr uint64_t kStepCost = 32;  // of evaluating or executing one node

// One rendering. Failures are thrown as TemplateError. Builtins get it to charge their work and to
// make namespaces.
class Interpreter {
 public:
  explicit Interpreter(const ChatTemplateOptions& options) : options_(options) {}

  // Sets a variable of the template's outermost scope.
  void SetGlobal(std::string name, Value value);
  std::string Run(const Node& block);

  // Counts work: throws beyond the limit.
  void Charge(uint64_t cost);
  // Charges for searching `needle` in `text`.
  void ChargeSearch(std::string_view text, std::string_view needle) {
    Charge(text.size() + text.size() / 64 * needle.size());
  }
  std::string Printed(const Value& value);                   // as {{ }} prints it, charged
  Value Text(std::string text);                              // a string, charged
  Value List(std::vector<Value> items, bool tuple = false);  // charged
  Value MakeNamespace(std::vector<std::pair<std::string, Value>> members);
  // The elements of anything that can be iterated: list, dict (its keys), string (its characters).
  std::vector<Value> Iterate(const Value& value);
  Value Attribute(const Value& object, const std::string& name);
  Value Item(const Value& object, const Value& index);
  Value Call(const Value& callee, const Arguments& arguments);
  Value Binary(std::string_view op, const Value& left, const Value& right);
  const ChatTemplateOptions& options() const { return options_; }

 private:
  struct Frame {
    Frame* parent;
    std::vector<std::pair<std::string, Value>> variables;
  };
  enum class Flow { kNormal, kBreak, kContinue };
  // Bounds recursion.
  class Level {
   public:
    explicit Level(Interpreter* interpreter) : interpreter_(interpreter) {
      constexpr int kMaxLevel = 600;
      if (interpreter->level_ >= kMaxLevel) throw TemplateError{"calls nest too deeply"};
      ++interpreter->level_;
    }
    ~Level() { --interpreter_->level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Interpreter* interpreter_;
  };

  Value Evaluate(const Node& node);
  Value EvaluateNode(const Node& node);
  Value EvaluateDict(const Node& node);
  Value EvaluateSlice(const Node& node);
  Value EvaluateCompare(const Node& node);
  Value EvaluateCall(const Node& node);
  // A filter or test on `operand`.
  Value Apply(const Node& node, Builtin builtin, const Value& operand);
  Value ApplyFilterChain(const Node* filter, Value value);
  Arguments EvaluateArguments(const Node& node);
  Value CallMacro(const Node& macro, const Arguments& arguments);
  Value Lookup(const std::string& name);
  void Assign(const std::string& name, Value value);
  void AssignTarget(const Node& target, const Value& value);

  Flow Execute(const Node& node);
  Flow ExecuteStatement(const Node& node);
  Flow ExecuteBlock(const Node& node);
  Flow ExecuteIf(const Node& node);
  Flow ExecuteFor(const Node& node);
  Flow ExecuteWith(const Node& node);
  // What `block` prints.
  std::string Capture(const Node& block);
  void Print(std::string_view text);

  const ChatTemplateOptions& options_;
  Frame globals_{nullptr, {}};
  Frame top_{&globals_, {}};
  Frame* frame_ = &top_;
  std::deque<Namespace> namespaces_;
  std::string output_;
  uint64_t cost_ = 0;
  int level_ = 0;
};

}  // namespace tboost::chat
