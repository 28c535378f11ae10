// Patterns over the graph, written as the expression they look for:
//   ValueId x, w, bias;
//   const Pattern product = Op("linear", {Any(&x), Constant(&w), Maybe(&bias)}).SingleUse();
//   const MatchResult match = Match(graph, node, Op("activation", {product}));
// Where a pattern fails, the result says at which operand and why.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/graph/graph.h"

namespace tboost {

// What one value must be. A value type; captures are set while matching and mean something only
// where the whole pattern matched.
class Pattern {
 public:
  using Predicate = std::function<bool(const Graph&, ValueId)>;

  // The value must have no other use: no second reader, not a graph output.
  Pattern SingleUse() &&;
  // Two operands may stand in either order.
  Pattern Commutative() &&;
  // `what` completes "operand 0 ..." in the report where `predicate` is false: "has another width".
  Pattern Where(std::string what, Predicate predicate) &&;
  Pattern Capture(NodeId* producer) &&;

 private:
  enum class Kind : uint8_t { kAny, kMaybe, kConstant, kOp };
  friend class Matcher;
  friend Pattern Any(ValueId* capture);
  friend Pattern Maybe(ValueId* capture);
  friend Pattern Constant(ValueId* capture);
  friend Pattern Op(std::string_view names, std::vector<Pattern> operands);
  Pattern(Kind kind, ValueId* value) : kind_(kind), value_(value) {}

  Kind kind_;
  ValueId* value_ = nullptr;
  NodeId* node_ = nullptr;
  std::string_view ops_;
  std::vector<Pattern> operands_;
  bool single_use_ = false, commutative_ = false;
  std::vector<std::pair<std::string, Predicate>> predicates_;
};

Pattern Any(ValueId* capture = nullptr);       // any value
Pattern Maybe(ValueId* capture = nullptr);     // any value, or an absent operand (kNone)
Pattern Constant(ValueId* capture = nullptr);  // a constant
// The first output of an operator, "linear", or of one of several, "linear|fused_linear". Operands
// beyond the patterns must be absent; patterns beyond the operands are not looked at.
Pattern Op(std::string_view names, std::vector<Pattern> operands);

struct MatchResult {
  bool matched = false;
  bool candidate = false;  // it has at least two of the pattern's operators: worth a report
  std::string mismatch;    // the first one: "add: operand 1 is used by 2 nodes"
  explicit operator bool() const { return matched; }
};

// Whether the first output of `node` is what `pattern` says.
MatchResult Match(const Graph& graph, NodeId node, const Pattern& pattern);

}  // namespace tboost
