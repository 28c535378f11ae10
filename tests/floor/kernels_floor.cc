// Every kernel on fixed work of the sizes that models have.
#include <set>

#include "src/base/cpu_features.h"
#include "src/kernels/kernels.h"
#include "src/ops/activation.h"
#include "src/ops/add_norm.h"
#include "src/ops/attention.h"
#include "src/ops/cases.h"
#include "src/ops/fused_linear.h"
#include "src/ops/ops_testing.h"
#include "src/ops/rope_kv.h"
#include "src/tensor/panel.h"
#include "tests/floor/counted.h"

namespace tboost {
namespace {

using kernels::Activation;
using kernels::NormKind;
using testing::Counted;

struct KernelCase {
  const OpRecord* op;
  OpCase test;       // its name is the entry's
  int64_t best = 0;  // of each row of the result only so many; 0: all
};

// `operands`: b(ias), n(orm), r(esidual).
KernelCase Product(std::string_view what, int64_t m, DType dtype, ops::FusedLinearAttributes a = {},
                   std::string_view operands = "") {
  constexpr int64_t n = 384, k = 768;
  const auto has = [&](char letter) { return operands.find(letter) != operands.npos; };
  OpCase test = MakeCase(fmt::format("{} {} m{}", what, DTypeName(dtype), m),
                         {TensorType({m, k}), TensorType({n, k}, dtype), TensorType({n}),
                          TensorType({k}), TensorType({k}), TensorType({m, a.gated ? n / 2 : n})},
                         MakeAttributes(a));
  test.present = {true, true, has('b'), has('n'), has('n') && a.norm == NormKind::kLayer, has('r')};
  return {&ops::FusedLinear(), std::move(test)};
}

void AddProducts(std::vector<KernelCase>& cases) {
  for (const DTypeInfo& info : AllDTypes())
    if (PanelBytes(info.dtype, 768))
      for (int64_t m : {1, 8, 64}) cases.push_back(Product("linear", m, info.dtype));
  cases.push_back(Product("linear best 40", 1, DType::kQ8_0));
  cases.back().best = 40;
  for (int64_t m : {1, 64}) {
    cases.push_back(Product("linear gelu", m, DType::kF32, {Activation::kGeluErf}, "b"));
    cases.push_back(Product("linear norm residual", m, DType::kF32,
                            {Activation::kNone, false, NormKind::kLayer, 1e-5}, "bnr"));
    cases.push_back(Product("linear rms gated", m, DType::kQ4_1,
                            {Activation::kSilu, true, NormKind::kRms, 1e-5}, "n"));
  }
}

void AddAttention(std::vector<KernelCase>& cases) {
  for (const bool causal : {false, true}) {
    const int64_t tokens = 192, heads = 4, width = heads * 64;
    const ValueType rows = TensorType({tokens, width});
    OpCase test = MakeCase(
        causal ? "attention causal" : "attention full", {rows, rows, rows, LayoutType(tokens, 1)},
        MakeAttributes(ops::AttentionAttributes{heads, heads, 64, 0.125, causal}));
    test.lengths = {static_cast<int32_t>(tokens)};
    test.past = {0};
    cases.push_back({&ops::Attention(), std::move(test)});
  }
  const auto add_paged = [&](std::string_view what, int32_t tokens, int32_t past,
                             ops::AttentionAttributes a) {
    OpCase test = MakeCase(fmt::format("paged attention {}", what),
                           {TensorType({tokens, a.heads * a.head_dim}),
                            CacheType(a.kv_heads, a.head_dim), LayoutType(tokens, 1)},
                           MakeAttributes(a));
    test.lengths = {tokens};
    test.past = {past};
    cases.push_back({&ops::PagedAttention(), std::move(test)});
  };
  add_paged("9/3 x 64 prefill", 64, 64, {9, 3, 64, 0.125, true});
  add_paged("9/3 x 64 decode", 1, 500, {9, 3, 64, 0.125, true});
  add_paged("4/1 x 256 window decode", 1, 900, {4, 1, 256, 0.0625, true, 512});
}

void AddRope(std::vector<KernelCase>& cases) {
  for (const int64_t tokens : {1, 64}) {
    const ops::RopeKvAttributes a = {9, 3, 64, 1e-6};
    const ValueType kv = TensorType({tokens, a.kv_heads * a.head_dim});
    const ValueType gamma = TensorType({a.head_dim});
    OpCase test = MakeCase(
        fmt::format("rope_kv m{}", tokens),
        {TensorType({tokens, a.heads * a.head_dim}), kv, kv, TensorType({tokens, a.head_dim}),
         LayoutType(tokens, 1), CacheType(a.kv_heads, a.head_dim), gamma, gamma},
        MakeAttributes(a));
    test.lengths = {static_cast<int32_t>(tokens)};
    test.past = {10};
    cases.push_back({&ops::RopeKv(), std::move(test)});
  }
}

void AddRows(std::vector<KernelCase>& cases) {
  constexpr int64_t m = 64, k = 768;
  const ValueType rows = TensorType({m, k}), row = TensorType({k});
  for (const NormKind norm : {NormKind::kLayer, NormKind::kRms}) {
    const bool layer = norm == NormKind::kLayer;
    cases.push_back({&ops::AddNorm(),
                     MakeCase(layer ? "add_norm layer" : "add_norm rms", {rows, rows, row, row},
                              MakeAttributes(ops::AddNormAttributes{norm}))});
    cases.back().test.present[3] = layer;
  }
  for (const DType dtype : {DType::kF32, DType::kQ4_1, DType::kQ6_K}) {
    OpCase test = MakeCase(fmt::format("embedding {}", DTypeName(dtype)),
                           {TensorType({100, k}, dtype), TensorType({m}, DType::kI32)});
    test.index_limit = 100;
    cases.push_back({&ops::Embedding(), std::move(test)});
  }
  for (const auto& [kind, name] : EnumNames<Activation>::kNames)
    if (kind != Activation::kNone)
      cases.push_back(
          {&ops::Activation(), MakeCase(fmt::format("activation {}", name), {rows},
                                        MakeAttributes(ops::ActivationAttributes{kind}))});
  cases.push_back({&ops::Add(), MakeCase("add", {rows, rows})});
  cases.push_back({&ops::Softmax(), MakeCase("softmax", {rows})});
}

std::vector<KernelCase> KernelCases() {
  std::vector<KernelCase> cases;
  AddProducts(cases);
  AddAttention(cases);
  AddRope(cases);
  AddRows(cases);
  return cases;
}

// Counts the tasks of a case; returns the kernel they are of, "gemm+best" where of two.
std::string_view Count(const KernelCase& counted, const kernels::KernelTable& table) {
  const CaseData data = DrawCase(*counted.op, counted.test, 1);
  std::vector<TensorView> inputs(data.tensors.size()), outputs(data.outputs.size());
  std::vector<Buffer> memory;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (data.IsTensor(i))
      inputs[i] = {data.stored[i].data(), counted.test.inputs[i].dtype, data.tensors[i].shape};
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (data.outputs[i].kind != ValueType::Kind::kTensor) continue;
    const Shape shape = KnownShape(data.outputs[i]);
    memory.push_back(AllocateBuffer(shape.elements() * sizeof(float)));
    outputs[i] = {memory.back().data(), data.outputs[i].dtype, shape};
  }
  KvCacheView cache;
  if (!data.cache.keys.empty()) {
    cache = {nullptr, 0, data.cache.kv_heads, data.cache.head_dim, DType::kF32};
    cache.page_stride = cache.PageBytes();
    const auto bytes = static_cast<size_t>(data.layout->page_count * cache.page_stride);
    memory.push_back(AllocateBuffer(bytes));
    cache.base = reinterpret_cast<std::byte*>(memory.back().data());
    std::fill_n(reinterpret_cast<float*>(cache.base), bytes / sizeof(float), 0.5f);
  }
  std::vector<Candidate> candidates(counted.best * StepRows(data));
  const BestRows best = {.parts = 1, .count = counted.best, .out = candidates.data()};
  const LowerContext context = {.inputs = inputs,
                                .outputs = outputs,
                                .attributes = &data.test.attributes,
                                .layout = data.layout ? &data.layout->view : nullptr,
                                .cache = cache,
                                .kernels = &table,
                                .l2_bytes = testing::kFloorL2Bytes,
                                .best = counted.best ? &best : nullptr};
  const Result<KernelCall> call = counted.op->lower(context);
  EXPECT_TRUE(call.ok()) << call.status().message();
  if (!call.ok()) return {};
  const void* args = call->args.data();
  const size_t bytes = call->scratch(args);
  const Buffer scratch = AllocateBuffer(bytes);
  Counted(fmt::format("{} {}", table.name, counted.test.name), [&] {
    for (int64_t task = 0, tasks = call->tasks(args); task < tasks; ++task)
      call->invoke(call->fn, args, task, {scratch.data(), bytes});
  });
  return call->kernel;
}

TEST(InstructionFloor, Kernels) {
  const Result<Isa> isa = SelectedIsa();
  ASSERT_TRUE(isa.ok()) << isa.status().message();
  std::set<std::string_view> counted;
  for (const KernelCase& kernel_case : KernelCases()) {
    SCOPED_TRACE(kernel_case.test.name);
    const std::string_view kernel = Count(kernel_case, kernels::Kernels(*isa));
    const size_t plus = kernel.find('+');
    counted.insert(kernel.substr(0, plus));
    if (plus != kernel.npos) counted.insert(kernel.substr(plus + 1));
  }
  counted.insert("peak");  // measures the machine; no operator calls it
#define TBOOST_KERNEL(name, Args) EXPECT_TRUE(counted.contains(#name)) << #name " has no case";
#include "src/kernels/kernels.inc"
#undef TBOOST_KERNEL
}

}  // namespace
}  // namespace tboost
