// A parsed template.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/text/template/value.h"

namespace tboost::chat {

class Interpreter;

enum class NodeKind {
  // Expressions. `kids` in the order given; `name` as said.
  kConstant,  // value
  kName,      // name
  kList,
  kTuple,      // items
  kDict,       // key, value, key, value...
  kAttribute,  // object; name
  kItem,       // object, index
  kSlice,      // object, start, stop, step: null kids where left out
  kCall,       // callee, arguments
  kFilter,     // operand (null in a filter block or set block), arguments; name
  kTest,       // operand, arguments; name
  kArgument,   // value; name, empty where positional
  kUnary,      // operand; name: - + not
  kBinary,     // left, right; name: the operator
  kCompare,    // first, then kBinary with a null left per further operand
  kAnd,
  kOr,           // left, right
  kConditional,  // condition, then, else (null: undefined)
  // Statements.
  kText,         // name: the text
  kOutput,       // expression
  kBlock,        // statements
  kIf,           // condition, block, condition, block..., [else block]
  kFor,          // target, iterable, filter or null, body, else or null
  kSet,          // target, expression
  kSetBlock,     // target, block, filter or null
  kMacro,        // body, then per parameter kArgument with its default or null; name
  kWith,         // body, then per variable kSet
  kFilterBlock,  // block, filter
  kBreak,
  kContinue,
};

struct Node {
  NodeKind kind;
  int line = 0;
  std::string name = {};
  Value value = {};
  std::vector<std::unique_ptr<Node>> kids = {};
  int depth = 1;
};
using NodePtr = std::unique_ptr<Node>;

// What a call brings.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
  // The argument at `index`, or that called `name`; `fallback` where neither is given.
  Value Get(size_t index, std::string_view name, Value fallback = {}) const;
  bool Has(size_t index, std::string_view name) const;
};

// A filter, test, function or method: `self` is what it applies to.
using Builtin = Value (*)(Interpreter& interpreter, const Value& self, const Arguments& arguments);

struct Callable {
  const Node* macro = nullptr;
  Builtin builtin = nullptr;
  Value self = {};
};

struct NamedBuiltin {
  std::string_view name;
  Builtin function;
};
// Null where the table has no such name.
Builtin FindFilter(std::string_view name);
Builtin FindTest(std::string_view name);
Builtin FindFunction(std::string_view name);
// A method of `object`'s type.
Builtin FindMethod(const Value& object, std::string_view name);

// The statements of a template, as one kBlock. Throws TemplateError.
NodePtr ParseTemplate(std::string_view source);

}  // namespace tboost::chat
