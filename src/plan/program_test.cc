#include "src/plan/program.h"

#include <map>

#include "src/formats/test_bytes.h"
#include "src/graph/recipe_builders.h"
#include "src/import/import_model.h"
#include "src/ops/activation.h"
#include "src/ops/columns.h"
#include "src/ops/ops.h"
#include "src/passes/pipeline.h"
#include "src/plan/om_model.h"
#include "tests/model_testing.h"

namespace tboost {
namespace {

using namespace testing;

// Whether `value` lives in a buffer: a tensor that is no constant.
bool InBuffer(const Graph& graph, ValueId value) {
  return value != kNone && graph.value(value).type.kind == ValueType::Kind::kTensor &&
         !graph.value(value).constant;
}

// Plays the program step by step: which values a slot holds. A value must be read from
// where it was written with nothing else written there in between.
class Simulation {
 public:
  explicit Simulation(const Program& program) : program_(program), graph_(program.graph) {}

  void Run() {
    for (ValueId input : graph_.inputs())
      if (InBuffer(graph_, input)) Write(input);
    for (const Node& node : graph_.nodes()) {
      for (ValueId input : node.inputs)
        if (InBuffer(graph_, input)) ExpectHeld(input, node.name);
      const bool view = node.op->alias_columns && program_.values[node.inputs[0]].buffer >= 0;
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        const ValueId output = node.outputs[i];
        if (!InBuffer(graph_, output)) continue;
        if (program_.values[output].buffer < 0) {
          EXPECT_TRUE(i > 0 && graph_.UseCount(output) == 0) << node.name << " has no place";
        } else if (view && i == 0) {
          holders_[Slot(output)].push_back(output);
        } else {
          ExpectNoOperandIn(node, output, i == 0 ? node.op->in_place_input : -1);
          Write(output);
        }
      }
    }
    for (const auto& [name, value] : graph_.outputs())
      if (InBuffer(graph_, value)) ExpectHeld(value, "the output " + name);
  }

 private:
  int Slot(ValueId value) const { return program_.buffers[program_.values[value].buffer].slot; }
  // Whether the two share bytes: views of one buffer may hold different columns of it.
  bool Overlap(ValueId a, ValueId b) const {
    const ProgramValue &x = program_.values[a], &y = program_.values[b];
    if (Slot(a) != Slot(b)) return false;
    return x.buffer != y.buffer ||
           (x.column < y.column + Width(b) && y.column < x.column + Width(a));
  }
  int64_t Width(ValueId value) const {
    return graph_.value(value).type.shape.back().constant().value_or(1);
  }
  void Write(ValueId value) {
    std::vector<ValueId>& held = holders_[Slot(value)];
    std::erase_if(held, [&](ValueId other) { return Overlap(value, other); });
    held.push_back(value);
  }
  void ExpectHeld(ValueId value, const std::string& reader) const {
    const auto slot = holders_.find(Slot(value));
    EXPECT_TRUE(slot != holders_.end() && std::ranges::count(slot->second, value))
        << graph_.value(value).name << " was overwritten before " << reader << " reads it";
  }
  // Only the operand that an operator works on in place may lie where it writes.
  void ExpectNoOperandIn(const Node& node, ValueId output, int in_place) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!InBuffer(graph_, node.inputs[i]) || static_cast<int>(i) == in_place) continue;
      EXPECT_FALSE(Overlap(node.inputs[i], output)) << node.name << " writes over an operand";
    }
  }

  const Program& program_;
  const Graph& graph_;
  std::map<int, std::vector<ValueId>> holders_;  // by slot: the values whose bits are there
};

uint64_t SumOfBuffers(const Program& program, const StepShape& shape) {
  uint64_t total = 0;
  for (const ProgramBuffer& buffer : program.buffers)
    total += Must(ValueBytes(program.graph.value(buffer.shape_of).type, shape.Symbols()));
  return total;
}

// A small model as far as its program: imported, optimised, weights written.
Program PlanTinyModel(const std::string& path, int level) {
  ImportedModel model = Must(ImportModel(path, {}));
  Must(model.graph.Compact());
  OptimizeOptions options;
  options.level = level;
  Must(Optimize(model.graph, options));
  MemoryImage image;
  OmWriter writer = Must(OmWriter::ToMemory(&image));
  Must(WriteWeights(writer, model.graph, model.weights().files(), nullptr));
  return Must(PlanProgram(std::move(model.graph), uint64_t{1} << 30));
}

TEST(Program, SmallModelsNeverOverwriteWhatIsStillRead) {
  const TemporaryFolder folder;
  for (std::string_view name : kTinyModels) {
    const std::string path = folder / name;
    WriteTinyModel(name, path);
    for (int level : {0, 3}) {
      SCOPED_TRACE(fmt::format("{} at level {}", name, level));
      const Program program = PlanTinyModel(path, level);
      Simulation(program).Run();
      const StepShape shape{300, 3, 1};
      EXPECT_LT(Must(program.ArenaBytes(shape)), SumOfBuffers(program, shape) / 2)
          << "slots are shared";
    }
  }
}

// A graph of random elementwise operators: reused operands, several outputs, in-place candidates.
Graph RandomGraph(uint64_t seed) {
  const HashRandom random(seed, "graph");
  uint64_t draw = 0;
  Graph graph;
  const ValueType rows{ValueType::Kind::kTensor, DType::kF32, {Dim::Symbol("tokens"), Dim(24)}};
  std::vector<ValueId> values = {graph.AddInput("a", rows), graph.AddInput("b", rows)};
  const auto pick = [&] {
    // Mostly recent ones, so that lives end.
    const auto back =
        random.Below(draw++, 3) ? random.Below(draw++, 3) : random.Below(draw++, values.size());
    return values[values.size() - 1 - std::min<size_t>(back, values.size() - 1)];
  };
  for (int i = 0; i < 40; ++i) {
    const ValueId x = pick();
    Result<ValueId> y = InternalError("");
    switch (random.Below(draw++, 4)) {
      case 0:
        y = graph.Add(ops::Add(), "add", {x, pick()});
        break;
      case 1:
        y = graph.Add(ops::Mul(), "mul", {x, pick()});
        break;
      case 2:
        y = graph.Add(ops::Activation(), "activation", {x},
                      MakeAttributes(ops::ActivationAttributes{}));
        break;
      default:
        y = graph.Add(ops::Softmax(), "softmax", {x});
    }
    values.push_back(Must(std::move(y)));
  }
  for (int i = 0; i < 3; ++i) {
    const ValueId output = pick();
    if (!graph.IsOutput(output)) graph.MarkOutput(fmt::format("y{}", i), output);
  }
  Must(graph.Compact());
  Must(Verify(graph));
  return graph;
}

TEST(Program, RandomGraphsNeverOverwriteWhatIsStillRead) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Program program = Must(PlanProgram(RandomGraph(seed), 0));
    Simulation(program).Run();
    ASSERT_FALSE(HasFailure());
  }
}

// x and y are columns of one wide value; z = x + y.
TEST(Program, AViewIsNotWrittenOverAnother) {
  const ValueType wide{ValueType::Kind::kTensor, DType::kF32, {Dim::Symbol("tokens"), Dim(48)}};
  for (int64_t x_begin : {0, 8, 24}) {
    for (int64_t y_begin : {0, 8, 24}) {
      SCOPED_TRACE(fmt::format("columns from {} and from {}", x_begin, y_begin));
      Graph graph;
      const ValueId sum = Must(
          graph.Add(ops::Add(), "sum", {graph.AddInput("a", wide), graph.AddInput("b", wide)}));
      const auto columns = [&](int64_t begin) {
        return Must(graph.Add(ops::Columns(), "columns", {sum},
                              MakeAttributes(ops::ColumnsAttributes{begin, 24})));
      };
      const ValueId x = columns(x_begin), y = columns(y_begin);
      const ValueId z = Must(graph.Add(ops::Add(), "z", {x, y}));
      graph.MarkOutput("z", z);
      const Program program = Must(PlanProgram(std::move(graph), 0));
      Simulation(program).Run();
      const bool in_place = program.values[z].buffer == program.values[x].buffer;
      EXPECT_EQ(in_place, std::abs(x_begin - y_begin) >= 24);
    }
  }
}

TEST(Program, ArenaGrowsWithTheStep) {
  const Program program = Must(PlanProgram(RandomGraph(1), 0));
  const uint64_t one = Must(program.ArenaBytes({1, 1, 1}));
  EXPECT_EQ(one, static_cast<uint64_t>(program.slots) * 128) << "96 bytes, aligned to 64";
  EXPECT_EQ(Must(program.ArenaBytes({100, 1, 1})), static_cast<uint64_t>(program.slots) * 9600);
  EXPECT_THAT(program.ArenaBytes({int64_t{1} << 62, 1, 1}),
              FailsWith(StatusCode::kOutOfRange, "too large"));
}

// y = x w with a constant of this recipe.
Result<Program> PlanWithConstant(Result<RecipePtr> recipe, uint64_t weights_bytes) {
  Graph graph;
  const ValueId x = graph.AddInput(
      "x", {ValueType::Kind::kTensor, DType::kF32, {Dim::Symbol("tokens"), Dim(32)}});
  const ValueId w = graph.AddConstant(
      "w", {ValueType::Kind::kTensor, DType::kF32, {Dim(16), Dim(32)}}, Must(std::move(recipe)));
  graph.MarkOutput("y", Must(graph.Add(ops::Linear(), "y", {x, w, kNone})));
  return PlanProgram(std::move(graph), weights_bytes);
}

TEST(Program, ConstantsLieInTheWeights) {
  constexpr uint64_t kBytes = 16 * 32 * 4;
  const auto at = [](uint64_t offset) { return FileRecipe(0, offset, DType::kF32, 16, 32); };
  EXPECT_TRUE(PlanWithConstant(at(64), 64 + kBytes).ok());
  EXPECT_THAT(PlanWithConstant(at(64), 63 + kBytes),
              FailsWith(StatusCode::kCorrupt, "does not fit"));
  EXPECT_THAT(PlanWithConstant(at(8), 1 << 20), FailsWith(StatusCode::kCorrupt, "constant w"));
  EXPECT_THAT(PlanWithConstant(FileRecipe(1, 0, DType::kF32, 16, 32), 1 << 20),
              FailsWith(StatusCode::kCorrupt, "does not lie in the weights"));
  EXPECT_THAT(PlanWithConstant(InlineRecipe(16, 32, std::vector<float>(512)), 1 << 20),
              FailsWith(StatusCode::kCorrupt, "does not lie in the weights"));
}

}  // namespace
}  // namespace tboost
