#include <algorithm>

#include "src/graph/graph.h"
#include "src/graph/line_reader.h"
#include "src/graph/op_record.h"
#include "src/graph/recipe_builders.h"
#include "src/graph/text_tables.h"

namespace tboost {
namespace {

constexpr int kMaxRecipeDepth = 64;

Result<ValueType> ParseType(LineReader& in) {
  ValueType type;
  TBOOST_ASSIGN_OR_RETURN(const std::string_view word, in.Word("a type"));
  const auto kind = std::ranges::find(text::kKinds, word, &text::KindName::name);
  if (kind != std::end(text::kKinds)) {
    type.kind = kind->kind;
  } else if (const auto dtype = DTypeFromName(word)) {
    type.dtype = *dtype;
  } else {
    return InvalidArgumentError("unknown type \"{}\"", word);
  }
  TBOOST_RETURN_IF_ERROR(in.Expect("["));
  TBOOST_RETURN_IF_ERROR(in.List("]", [&]() -> Status {
    TBOOST_ASSIGN_OR_RETURN(const std::string_view dim, in.Until(",]", "a dimension"));
    TBOOST_ASSIGN_OR_RETURN(type.shape.emplace_back(), Dim::Parse(dim));
    return OkStatus();
  }));
  if (type.shape.size() > Shape::kMaxRank)
    return InvalidArgumentError("a type of {} dimensions, at most {}", type.shape.size(),
                                Shape::kMaxRank);
  return type;
}

// "f32[3, 4]" of a recipe: constant dimensions, two of them.
Result<Recipe> ParseMatrix(LineReader& in) {
  TBOOST_ASSIGN_OR_RETURN(const ValueType type, ParseType(in));
  if (type.kind != ValueType::Kind::kTensor || type.shape.size() != 2 ||
      !type.shape[0].constant() || !type.shape[1].constant())
    return InvalidArgumentError("expected a matrix of constant size, found {}", ToText(type));
  Recipe out;
  out.dtype = type.dtype;
  out.rows = *type.shape[0].constant();
  out.columns = *type.shape[1].constant();
  return out;
}

Result<std::string> ParseHex(LineReader& in) {
  TBOOST_ASSIGN_OR_RETURN(const std::string_view digits, in.Until(")", "hexadecimal digits"));
  std::string out;
  out.reserve(digits.size() / 2);
  for (size_t i = 0; i < digits.size(); i += 2) {
    const auto byte = LineReader::HexByte(digits.substr(i, 2));
    if (!byte) return InvalidArgumentError("\"{}\" is no hexadecimal byte", digits.substr(i, 2));
    out += *byte;
  }
  return out;
}

Result<RecipePtr> ParseRecipe(LineReader& in, int depth);

// What stands between the parentheses of a recipe over one other, after it.
Result<RecipePtr> ParseTransform(LineReader& in, Recipe::Kind kind, int depth) {
  TBOOST_ASSIGN_OR_RETURN(RecipePtr input, ParseRecipe(in, depth + 1));
  TBOOST_RETURN_IF_ERROR(in.Expect(","));
  if (kind == Recipe::Kind::kRopeHalves) {
    TBOOST_ASSIGN_OR_RETURN(const int64_t head_rows, in.Number<int64_t>("rows of a head"));
    return RopeHalves(std::move(input), head_rows);
  }
  if (kind == Recipe::Kind::kAddScalar) {
    TBOOST_ASSIGN_OR_RETURN(const double scalar, in.Number<double>("a number"));
    return AddScalar(std::move(input), scalar);
  }
  TBOOST_ASSIGN_OR_RETURN(const std::string_view word, in.Word("an element type"));
  const auto dtype = DTypeFromName(word);
  if (!dtype) return InvalidArgumentError("unknown element type \"{}\"", word);
  return Cast(std::move(input), *dtype);
}

// What stands between the parentheses of a recipe.
Result<RecipePtr> ParseRecipeBody(LineReader& in, Recipe::Kind kind, int depth) {
  switch (kind) {
    case Recipe::Kind::kFile: {
      TBOOST_ASSIGN_OR_RETURN(const int file, in.Number<int>("a file number"));
      TBOOST_RETURN_IF_ERROR(in.Expect(","));
      TBOOST_ASSIGN_OR_RETURN(const uint64_t offset, in.Number<uint64_t>("an offset"));
      TBOOST_RETURN_IF_ERROR(in.Expect(","));
      TBOOST_ASSIGN_OR_RETURN(const Recipe matrix, ParseMatrix(in));
      return FileRecipe(file, offset, matrix.dtype, matrix.rows, matrix.columns);
    }
    case Recipe::Kind::kInline: {
      TBOOST_ASSIGN_OR_RETURN(const Recipe matrix, ParseMatrix(in));
      TBOOST_RETURN_IF_ERROR(in.Expect(","));
      TBOOST_ASSIGN_OR_RETURN(std::string data, ParseHex(in));
      return InlineRecipe(matrix.dtype, matrix.rows, matrix.columns, std::move(data));
    }
    case Recipe::Kind::kConcatRows:
    case Recipe::Kind::kInterleaveRows: {
      std::vector<RecipePtr> inputs;
      do {
        TBOOST_ASSIGN_OR_RETURN(inputs.emplace_back(), ParseRecipe(in, depth + 1));
      } while (in.Take(","));
      return kind == Recipe::Kind::kConcatRows ? ConcatRows(std::move(inputs))
                                               : InterleaveRows(std::move(inputs));
    }
    default:
      return ParseTransform(in, kind, depth);
  }
}

Result<RecipePtr> ParseRecipe(LineReader& in, int depth) {
  if (depth > kMaxRecipeDepth)
    return InvalidArgumentError("a recipe is nested deeper than {}", kMaxRecipeDepth);
  TBOOST_ASSIGN_OR_RETURN(const std::string_view word, in.Word("a recipe"));
  const auto kind = std::ranges::find(text::kRecipes, word, &text::RecipeName::name);
  if (kind == std::end(text::kRecipes)) return InvalidArgumentError("unknown recipe \"{}\"", word);
  TBOOST_RETURN_IF_ERROR(in.Expect("("));
  TBOOST_ASSIGN_OR_RETURN(RecipePtr recipe, ParseRecipeBody(in, kind->kind, depth));
  TBOOST_RETURN_IF_ERROR(in.Expect(")"));
  return recipe;
}

template <class T>
Result<AttributeValue> ParseNumbers(LineReader& in, std::string_view end,
                                    std::string_view expected) {
  std::vector<T> list;
  TBOOST_RETURN_IF_ERROR(in.List(end, [&]() -> Status {
    TBOOST_ASSIGN_OR_RETURN(list.emplace_back(), in.Number<T>(expected));
    return OkStatus();
  }));
  return AttributeValue(std::move(list));
}

Result<AttributeValue> ParseAttribute(LineReader& in) {
  if (in.Take("true")) return AttributeValue(true);
  if (in.Take("false")) return AttributeValue(false);
  if (in.Take("[")) return ParseNumbers<int64_t>(in, "]", "an integer");
  if (in.Take("<")) return ParseNumbers<double>(in, ">", "a number");
  LineReader ahead = in;
  if (ahead.Take("\"")) {
    TBOOST_ASSIGN_OR_RETURN(std::string text, in.Quoted());
    return AttributeValue(std::move(text));
  }
  if (ahead.Number<int64_t>("").ok()) {
    TBOOST_ASSIGN_OR_RETURN(const int64_t integer, in.Number<int64_t>("an integer"));
    return AttributeValue(integer);
  }
  TBOOST_ASSIGN_OR_RETURN(const double real, in.Number<double>("a value"));
  return AttributeValue(real);
}

class GraphParser {
 public:
  explicit GraphParser(const OpRegistry& ops) : ops_(ops) {}

  Status Line(std::string_view line) {
    LineReader in(line);
    if (in.done()) return OkStatus();
    Status status = in.Take("input ")    ? Declare(in, false)
                    : in.Take("const ")  ? Declare(in, true)
                    : in.Take("output ") ? Output(in)
                                         : NodeLine(in);
    if (status.ok() && !in.done()) status = in.Unexpected("the end of the line");
    return status;
  }

  Graph Take() { return std::move(graph_); }

 private:
  Result<std::string> NewName(LineReader& in) {
    TBOOST_RETURN_IF_ERROR(in.Expect("%"));
    TBOOST_ASSIGN_OR_RETURN(std::string name, in.Name());
    if (graph_.FindValue(name) != kNone) return InvalidArgumentError("%{} is defined twice", name);
    return name;
  }

  Result<ValueId> Reference(LineReader& in) {
    TBOOST_RETURN_IF_ERROR(in.Expect("%"));
    TBOOST_ASSIGN_OR_RETURN(const std::string name, in.Name());
    const ValueId id = graph_.FindValue(name);
    if (id == kNone) return InvalidArgumentError("%{} is not defined", name);
    return id;
  }

  Status Declare(LineReader& in, bool constant) {
    TBOOST_ASSIGN_OR_RETURN(std::string name, NewName(in));
    TBOOST_RETURN_IF_ERROR(in.Expect(":"));
    TBOOST_ASSIGN_OR_RETURN(ValueType type, ParseType(in));
    if (!constant) {
      graph_.AddInput(std::move(name), std::move(type));
      return OkStatus();
    }
    TBOOST_RETURN_IF_ERROR(in.Expect("="));
    TBOOST_ASSIGN_OR_RETURN(RecipePtr recipe, ParseRecipe(in, 0));
    graph_.AddConstant(std::move(name), std::move(type), std::move(recipe));
    return OkStatus();
  }

  Status Output(LineReader& in) {
    TBOOST_ASSIGN_OR_RETURN(std::string name, in.Name());
    TBOOST_RETURN_IF_ERROR(in.Expect("="));
    TBOOST_ASSIGN_OR_RETURN(const ValueId value, Reference(in));
    graph_.MarkOutput(std::move(name), value);
    return OkStatus();
  }

  Status NodeLine(LineReader& in) {
    std::vector<std::string> names;
    std::vector<ValueType> types;
    do {
      TBOOST_ASSIGN_OR_RETURN(names.emplace_back(), NewName(in));
    } while (in.Take(","));
    TBOOST_RETURN_IF_ERROR(in.Expect(":"));
    do {
      TBOOST_ASSIGN_OR_RETURN(types.emplace_back(), ParseType(in));
    } while (in.Take(","));
    TBOOST_RETURN_IF_ERROR(in.Expect("="));
    TBOOST_ASSIGN_OR_RETURN(const std::string_view word, in.Word("an operator"));
    const OpRecord* op = ops_.Find(word);
    if (!op) return UnsupportedError("unknown operator \"{}\"", word);

    std::vector<ValueId> inputs;
    TBOOST_RETURN_IF_ERROR(in.Expect("("));
    TBOOST_RETURN_IF_ERROR(in.List(")", [&]() -> Status {
      inputs.push_back(kNone);
      if (in.Take("_")) return OkStatus();
      TBOOST_ASSIGN_OR_RETURN(inputs.back(), Reference(in));
      return OkStatus();
    }));
    TBOOST_ASSIGN_OR_RETURN(Attributes attributes, AttributeList(in));
    std::string provenance;
    if (in.Take("@")) {
      TBOOST_ASSIGN_OR_RETURN(provenance, in.Quoted());
    }
    graph_.SetProvenance(std::move(provenance));
    return AddNode(*op, names, types, std::move(inputs), std::move(attributes));
  }

  Result<Attributes> AttributeList(LineReader& in) {
    Attributes out;
    if (!in.Take("{")) return out;
    TBOOST_RETURN_IF_ERROR(in.List("}", [&]() -> Status {
      TBOOST_ASSIGN_OR_RETURN(const std::string name, in.Name());
      TBOOST_RETURN_IF_ERROR(in.Expect("="));
      TBOOST_ASSIGN_OR_RETURN(AttributeValue value, ParseAttribute(in));
      if (out.Find(name)) return InvalidArgumentError("attribute {} is given twice", name);
      out.Set(name, std::move(value));
      return OkStatus();
    }));
    return out;
  }

  // Adds the node and checks it against the names and types written.
  Status AddNode(const OpRecord& op, const std::vector<std::string>& names,
                 const std::vector<ValueType>& types, std::vector<ValueId> inputs,
                 Attributes attributes) {
    TBOOST_ASSIGN_OR_RETURN(const NodeId id,
                            graph_.AddNode(op, names[0], std::move(inputs), std::move(attributes)));
    const std::vector<ValueId> outputs = graph_.node(id).outputs;
    if (outputs.size() != names.size() || outputs.size() != types.size())
      return InvalidArgumentError("[{}] {} has {} outputs, found {} names and {} types", op.name,
                                  names[0], outputs.size(), names.size(), types.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      TBOOST_RETURN_IF_ERROR(graph_.Rename(outputs[i], names[i]));
      const ValueType& type = graph_.value(outputs[i]).type;
      if (type != types[i])
        return InvalidArgumentError("[{}] {} is {}, found {}", op.name, names[i], ToText(type),
                                    ToText(types[i]));
    }
    return OkStatus();
  }

  const OpRegistry& ops_;
  Graph graph_;
};

}  // namespace

Result<Graph> ParseGraph(std::string_view text, const OpRegistry& ops) {
  GraphParser parser(ops);
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const Status status = parser.Line(text.substr(0, end));
    if (!status.ok()) return status.WithContext(fmt::format("graph text, line {}", line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  Graph graph = parser.Take();
  graph.SetProvenance("");
  TBOOST_RETURN_IF_ERROR(Verify(graph).WithContext("graph text"));
  return graph;
}

}  // namespace tboost
