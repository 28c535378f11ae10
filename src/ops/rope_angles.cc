#include "src/ops/rope_angles.h"

#include <cmath>
#include <numbers>

#include "src/kernels/rows.h"
#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a,
                          ParseAttributes<RopeAnglesAttributes>(attributes, "rope_angles"));
  ShapeRule rule(RopeAngles(), inputs, present);
  rule.Count("rotary_dim", a.rotary_dim);
  rule.Require(a.rotary_dim % 2 == 0, "rotary_dim is {}, expected an even number", a.rotary_dim);
  for (double value :
       {a.theta, a.factor, a.low_freq_factor, a.high_freq_factor, a.original_context})
    rule.Require(value > 0 && value < 1e30, "an attribute is {}, expected a positive number",
                 value);
  rule.Require(a.scaling != RopeScaling::kLlama3 || a.high_freq_factor > a.low_freq_factor,
               "high_freq_factor is {}, expected more than low_freq_factor {}", a.high_freq_factor,
               a.low_freq_factor);
  rule.Operand(0, "ts").Set('r', a.rotary_dim).Set('p', a.rotary_dim / 2).Operand(1, "p");
  return rule.Outputs({"tr"});
}

// Frequencies are f32 numbers, as the models were trained with, so that the f32 angle of a far
// position is the same number here: theta^(-2i / rotary_dim), each step rounded.
float Frequency(const RopeAnglesAttributes& a, int64_t pair) {
  const float exponent = static_cast<float>(2 * pair) / static_cast<float>(a.rotary_dim);
  const float plain = 1.0f / static_cast<float>(std::pow(a.theta, static_cast<double>(exponent)));
  const float factor = static_cast<float>(a.factor);
  if (a.scaling == RopeScaling::kNone) return plain;
  if (a.scaling == RopeScaling::kLinear) return plain / factor;
  const float wavelength = static_cast<float>(2 * std::numbers::pi) / plain;
  const float context = static_cast<float>(a.original_context);
  if (wavelength < context / static_cast<float>(a.high_freq_factor)) return plain;
  if (wavelength > context / static_cast<float>(a.low_freq_factor)) return plain / factor;
  const float kept = (context / wavelength - static_cast<float>(a.low_freq_factor)) /
                     static_cast<float>(a.high_freq_factor - a.low_freq_factor);
  return (1 - kept) * plain / factor + kept * plain;
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<RopeAnglesAttributes>(*call.attributes);
  const SequenceLayout& layout = *call.inputs[0].layout;
  const RefTensor* factors = call.inputs[1].tensor;
  const int64_t pairs = a.rotary_dim / 2;
  for (int64_t t = 0; t < layout.tokens; ++t)
    for (int64_t i = 0; i < pairs; ++i) {
      const float factor = factors ? static_cast<float>(factors->data[i]) : 1.0f;
      const float angle = static_cast<float>(layout.Position(t)) * (Frequency(a, i) / factor);
      call.outputs[0].row(t)[i] = std::cos(static_cast<double>(angle));
      call.outputs[0].row(t)[pairs + i] = std::sin(static_cast<double>(angle));
    }
  return OkStatus();
}

struct RopeAnglesArgs {
  RopeAnglesAttributes attributes;
  const SequenceLayout* layout;
  const float* factors;  // null: none
  float* out;
  int64_t ldo;
};

// A sine costs as much as moving dozens of elements, so tasks are small.
int64_t RowCost(const RopeAnglesArgs& args) { return 32 * args.attributes.rotary_dim; }
int64_t AngleTasks(const RopeAnglesArgs& args) {
  return kernels::RowTasks(args.layout->tokens, RowCost(args));
}
size_t AngleScratch(const RopeAnglesArgs& args) {
  return static_cast<size_t>(args.attributes.rotary_dim / 2) * sizeof(float);
}
void FillAngles(const RopeAnglesArgs& args, int64_t task, kernels::Scratch scratch) {
  const int64_t pairs = args.attributes.rotary_dim / 2;
  float* frequencies = reinterpret_cast<float*>(scratch.data);
  for (int64_t i = 0; i < pairs; ++i)
    frequencies[i] = Frequency(args.attributes, i) / (args.factors ? args.factors[i] : 1.0f);
  const kernels::RowRange rows = kernels::RowsOfTask(task, args.layout->tokens, RowCost(args));
  for (int64_t t = rows.first; t < rows.end; ++t) {
    float* row = args.out + t * args.ldo;
    for (int64_t i = 0; i < pairs; ++i) {
      const float angle = static_cast<float>(args.layout->Position(t)) * frequencies[i];
      row[i] = std::cos(angle);
      row[pairs + i] = std::sin(angle);
    }
  }
}

Result<KernelCall> Lower(const LowerContext& context) {
  const TensorView& out = context.outputs[0];
  const RopeAnglesArgs args = {CheckedAttributes<RopeAnglesAttributes>(*context.attributes),
                               context.layout, Floats(context.inputs[1]), MutableFloats(out),
                               out.stride()};
  return MakeKernelCall("rope_angles", FillAngles, args, AngleTasks, AngleScratch);
}

std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  for (const auto& [scaling, name] : EnumNames<RopeScaling>::kNames) {
    RopeAnglesAttributes a = {.theta = 500000, .rotary_dim = 64, .scaling = scaling};
    a.factor = scaling == RopeScaling::kNone ? 1 : 8;
    cases.push_back(MakeCase(fmt::format("scaling {}", name), {LayoutType(19, 2), TensorType({32})},
                             MakeAttributes(a)));
    cases.back().present[1] = scaling == RopeScaling::kNone;
    cases.back().lengths = {18, 1};
    cases.back().past = {0, 30000};
  }
  return cases;
}

}  // namespace

const OpRecord& RopeAngles() {
  static const OpRecord record = {
      .name = "rope_angles",
      .doc =
          "cos, then sin, of position * frequency for each pair i; the frequency is "
          "theta^(-2i / rotary_dim), scaled, then divided by the pair's factor.",
      .inputs = {{"layout", ValueType::Kind::kLayout}, {.name = "factors", .optional = true}},
      .outputs = {"angles"},
      .attributes = DescribeAttributes<RopeAnglesAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<20>,
      .lower = Lower,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
