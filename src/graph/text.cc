#include <algorithm>

#include "src/graph/graph.h"
#include "src/graph/op_record.h"
#include "src/graph/text_tables.h"

namespace tboost {
namespace {

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out.append({'\\', c});
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", c);
    else
      out += c;
  }
  return out + '"';
}

std::string Name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, text::IsNamePart) ? std::string(name)
                                                                      : Quoted(name);
}

// The shortest form that reads back as the same double, and as no integer.
std::string Real(double value) {
  std::string out = fmt::format("{}", value);
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

// `items` through `format`, with commas between.
template <class Items, class Format>
std::string Join(const Items& items, Format format) {
  std::string out;
  for (const auto& item : items) {
    if (!out.empty()) out += ", ";
    out += format(item);
  }
  return out;
}

std::string ToText(const AttributeValue& value) {
  struct Visitor {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(int64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const { return Real(d); }
    std::string operator()(const std::string& s) const { return Quoted(s); }
    std::string operator()(const std::vector<int64_t>& list) const {
      return '[' + Join(list, [](int64_t i) { return std::to_string(i); }) + ']';
    }
    std::string operator()(const std::vector<double>& list) const {
      return '<' + Join(list, Real) + '>';
    }
  };
  return std::visit(Visitor(), value);
}

std::string NodeLine(const Graph& graph, const Node& node) {
  const auto reference = [&graph](ValueId id) {
    return id == kNone ? "_" : '%' + Name(graph.value(id).name);
  };
  const auto type = [&graph](ValueId id) { return tboost::ToText(graph.value(id).type); };
  const auto attribute = [](const auto& entry) {
    return Name(entry.first) + '=' + ToText(entry.second);
  };
  std::string out =
      fmt::format("{} : {} = {}({})", Join(node.outputs, reference), Join(node.outputs, type),
                  node.op->name, Join(node.inputs, reference));
  if (!node.attributes.empty()) out += " {" + Join(node.attributes, attribute) + '}';
  if (!node.provenance.empty()) out += " @" + Quoted(node.provenance);
  return out;
}

}  // namespace

std::string ToText(const ValueType& type) {
  const auto kind = std::ranges::find(text::kKinds, type.kind, &text::KindName::kind);
  const std::string_view name =
      type.kind == ValueType::Kind::kTensor ? DTypeName(type.dtype) : kind->name;
  return fmt::format("{}[{}]", name, Join(type.shape, [](const Dim& d) { return d.ToString(); }));
}

std::string ToText(const Recipe& recipe) {
  const auto kind = std::ranges::find(text::kRecipes, recipe.kind, &text::RecipeName::kind);
  const std::string type =
      fmt::format("{}[{}, {}]", DTypeName(recipe.dtype), recipe.rows, recipe.columns);
  std::string out = fmt::format("{}({}", kind->name,
                                Join(recipe.inputs, [](const RecipePtr& r) { return ToText(*r); }));
  switch (recipe.kind) {
    case Recipe::Kind::kFile:
      out += fmt::format("{}, {}, {}", recipe.file, recipe.offset, type);
      break;
    case Recipe::Kind::kInline:
      out += type + ", ";
      for (const char c : recipe.data) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
      break;
    case Recipe::Kind::kRopeHalves:
      out += fmt::format(", {}", recipe.param);
      break;
    case Recipe::Kind::kCast:
      out += fmt::format(", {}", DTypeName(recipe.dtype));
      break;
    case Recipe::Kind::kAddScalar:
      out += ", " + Real(recipe.scalar);
      break;
    case Recipe::Kind::kConcatRows:
    case Recipe::Kind::kInterleaveRows:
      break;
  }
  return out + ')';
}

std::string ToText(const Graph& graph) {
  std::string out;
  const auto declare = [&](std::string_view what, const Value& value) {
    out += fmt::format("{} %{} : {}", what, Name(value.name), ToText(value.type));
  };
  for (const ValueId id : graph.inputs()) {
    declare("input", graph.value(id));
    out += '\n';
  }
  for (const Value& value : graph.values()) {
    if (!value.constant) continue;
    declare("const", value);
    out += " = " + ToText(*value.constant) + '\n';
  }
  for (const Node& node : graph.nodes())
    if (node.op) out += NodeLine(graph, node) + '\n';
  for (const auto& [name, value] : graph.outputs())
    out += fmt::format("output {} = %{}\n", Name(name), Name(graph.value(value).name));
  return out;
}

}  // namespace tboost
