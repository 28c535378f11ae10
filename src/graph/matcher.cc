#include "src/graph/matcher.h"

#include <algorithm>
#include <utility>

#include "src/base/status.h"
#include "src/graph/op_record.h"

namespace tboost {

namespace {

// Whether `name` is one of "a|b|c".
bool IsOneOf(std::string_view names, std::string_view name) {
  while (true) {
    const size_t end = std::min(names.find('|'), names.size());
    if (names.substr(0, end) == name) return true;
    if (end == names.size()) return false;
    names.remove_prefix(end + 1);
  }
}

}  // namespace

Pattern Any(ValueId* capture) { return Pattern(Pattern::Kind::kAny, capture); }
Pattern Maybe(ValueId* capture) { return Pattern(Pattern::Kind::kMaybe, capture); }
Pattern Constant(ValueId* capture) { return Pattern(Pattern::Kind::kConstant, capture); }

Pattern Op(std::string_view names, std::vector<Pattern> operands) {
  Pattern out(Pattern::Kind::kOp, nullptr);
  out.ops_ = names;
  out.operands_ = std::move(operands);
  return out;
}

Pattern Pattern::SingleUse() && {
  single_use_ = true;
  return std::move(*this);
}
Pattern Pattern::Commutative() && {
  commutative_ = true;
  return std::move(*this);
}
Pattern Pattern::Where(std::string what, Predicate predicate) && {
  predicates_.emplace_back(std::move(what), std::move(predicate));
  return std::move(*this);
}
Pattern Pattern::Capture(NodeId* producer) && {
  node_ = producer;
  return std::move(*this);
}

// One attempt: counts what matched, so that of several orders the one that went furthest is
// reported.
class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph) {}

  // An empty string, or what is wrong with `value` as what `where` ("add: operand 1") names.
  std::string Visit(ValueId value, const Pattern& pattern, const std::string& where) {
    if (std::string problem = Check(value, pattern); !problem.empty()) return where + problem;
    if (pattern.value_) *pattern.value_ = value;
    if (pattern.kind_ != Pattern::Kind::kOp) return {};
    const Node& node = graph_.node(graph_.value(value).producer);
    if (pattern.node_) *pattern.node_ = graph_.value(value).producer;
    const int start = operators_;
    std::string problem = Operands(node, pattern, false);
    if (problem.empty() || !pattern.commutative_) return problem;
    const int first = std::exchange(operators_, start);
    std::string swapped = Operands(node, pattern, true);
    if (swapped.empty()) return {};
    const bool further = operators_ > first;
    operators_ = std::max(operators_, first);
    return further ? swapped : problem;
  }

  int operators() const { return operators_; }

 private:
  std::string Operands(const Node& node, const Pattern& pattern, bool swap) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const std::string where = fmt::format("{}: operand {} ", node.op->name, i);
      const size_t of = swap && i < 2 ? 1 - i : i;
      if (of < pattern.operands_.size()) {
        std::string problem = Visit(node.inputs[i], pattern.operands_[of], where);
        if (!problem.empty()) return problem;
      } else if (node.inputs[i] != kNone) {
        return where + "is present";
      }
    }
    return {};
  }

  // What is wrong with the value alone.
  std::string Check(ValueId id, const Pattern& pattern) {
    using Kind = Pattern::Kind;
    if (id == kNone) return pattern.kind_ == Kind::kMaybe ? "" : "is absent";
    const Value& value = graph_.value(id);
    if (pattern.kind_ == Kind::kConstant && !value.constant) return "is not a constant";
    if (pattern.kind_ == Kind::kOp) {
      if (value.producer == kNone)
        return fmt::format("is {}, expected {}", value.constant ? "a constant" : "a graph input",
                           pattern.ops_);
      const std::string_view op = graph_.node(value.producer).op->name;
      if (!IsOneOf(pattern.ops_, op)) return fmt::format("is {}, expected {}", op, pattern.ops_);
      if (value.output_index != 0) return fmt::format("is output {} of {}", value.output_index, op);
      ++operators_;
    }
    if (pattern.single_use_ && graph_.IsOutput(id)) return "is a graph output";
    if (pattern.single_use_ && graph_.Users(id).size() > 1)
      return fmt::format("is used by {} nodes", graph_.Users(id).size());
    for (const auto& [what, holds] : pattern.predicates_)
      if (!holds(graph_, id)) return what;
    return {};
  }

  const Graph& graph_;
  int operators_ = 0;  // of the pattern, found so far
};

MatchResult Match(const Graph& graph, NodeId node, const Pattern& pattern) {
  Matcher matcher(graph);
  MatchResult out;
  out.mismatch = matcher.Visit(graph.node(node).outputs[0], pattern, "");
  out.matched = out.mismatch.empty();
  out.candidate = matcher.operators() >= 2;
  return out;
}

}  // namespace tboost
