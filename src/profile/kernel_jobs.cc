#include "src/profile/kernel_jobs.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <numeric>
#include <vector>

#include "src/base/random.h"
#include "src/parallel/range.h"
#include "src/tensor/buffer.h"
#include "src/tensor/panel.h"

namespace tboost {
namespace {

constexpr int64_t kMostSize = 1 << 24;            // of a side of a product or of attention
constexpr int64_t kMostBytes = int64_t{1} << 34;  // of operands
// Up to this many rows tasks are dealt out evenly beforehand, as an executor does.
constexpr int64_t kStaticRows = 16;

// "12x64x128" as three numbers.
Result<std::array<int64_t, 3>> ParseSizes(std::string_view text, std::string_view form) {
  std::array<int64_t, 3> sizes = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0 && (at == end || *at++ != 'x'))
      return InvalidArgumentError("\"{}\": expected {}", text, form);
    const auto [next, error] = std::from_chars(at, end, sizes[i]);
    if (error != std::errc() || sizes[i] < 1 || sizes[i] > kMostSize)
      return InvalidArgumentError("\"{}\": expected {}, numbers from 1 to {}", text, form,
                                  kMostSize);
    at = next;
  }
  if (at != end) return InvalidArgumentError("\"{}\": expected {}", text, form);
  return sizes;
}

// Bytes that are numbers of a usual size in every format, and any codes.
Result<Buffer> RandomPanels(uint64_t bytes) {
  TBOOST_ASSIGN_OR_RETURN(Buffer panels, Buffer::Allocate(bytes));
  constexpr char kExponent = 0x38;  // of an f16 from 0.5, of an f32 of about 4e-5
  const HashRandom random(1, "panels");
  for (size_t i = 0; i < panels.size(); ++i)
    panels.data()[i] = i % 2 ? kExponent : static_cast<char>(random.Bits(i / 64));
  return panels;
}

std::vector<float> RandomFloats(int64_t count, std::string_view stream) {
  const HashRandom random(1, stream);
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = random.Normal(i);
  return values;
}

// Runs all tasks of a kernel on the pool, each worker with scratch memory of its own.
template <class Args>
class Tasks {
 public:
  using Kernel = void (*)(const Args&, int64_t, kernels::Scratch);

  static Result<Tasks> Make(ThreadPool& pool, Kernel kernel, const Args& args, bool divide_evenly) {
    Tasks tasks(pool, kernel, divide_evenly);
    for (int i = 0; i < pool.size(); ++i) {
      TBOOST_ASSIGN_OR_RETURN(Buffer scratch, Buffer::Allocate(kernels::ScratchBytes(args)));
      tasks.scratch_.push_back(std::move(scratch));
    }
    return tasks;
  }

  void Run(const Args& args) const {
    ChunkCounter counter;
    const int64_t tasks = kernels::Tasks(args);
    pool_->Run([&](Worker& worker) {
      const Buffer& memory = scratch_[worker.index()];
      const kernels::Scratch scratch = {memory.data(), memory.size()};
      if (divide_evenly_) {
        const Range range = StaticRange(tasks, worker.index(), worker.count());
        for (int64_t t = range.begin; t < range.end; ++t) kernel_(args, t, scratch);
      } else {
        for (int64_t t = counter.Next(); t < tasks; t = counter.Next()) kernel_(args, t, scratch);
      }
    });
  }

 private:
  Tasks(ThreadPool& pool, Kernel kernel, bool divide_evenly)
      : pool_(&pool), kernel_(kernel), divide_evenly_(divide_evenly) {}
  ThreadPool* pool_;
  Kernel kernel_;
  bool divide_evenly_;
  std::vector<Buffer> scratch_;
};

struct ProductState {
  ProductShape shape;
  kernels::GemmInt8Args args;  // of any product
  std::vector<float> a, bias, c;
  Buffer panels;
  uint64_t panel_bytes = 0;  // of one copy
  size_t copies = 1, next = 0;
};

struct AttentionState {
  kernels::AttentionArgs args;
  std::vector<float> qkv, out;
  std::vector<int32_t> offsets, past, sequence_of;
  SequenceLayout layout;
};

// Runs the product with the next copy of its weights.
template <class Args>
Result<std::function<void()>> RunsOfProduct(ThreadPool& pool,
                                            void (*kernel)(const Args&, int64_t, kernels::Scratch),
                                            int64_t l2_bytes,
                                            const std::shared_ptr<ProductState>& state) {
  Args& args = state->args;
  kernels::ChooseTile(args, pool.size(), l2_bytes);
  TBOOST_ASSIGN_OR_RETURN(Tasks<Args> tasks,
                          Tasks<Args>::Make(pool, kernel, args, args.m <= kStaticRows));
  const auto shared_tasks = std::make_shared<Tasks<Args>>(std::move(tasks));
  std::function<void()> run = [state, shared_tasks] {
    const size_t copy = state->next++ % state->copies;
    state->args.panels = state->panels.data() + copy * state->panel_bytes;
    shared_tasks->Run(state->args);
  };
  return run;
}

}  // namespace

double KernelJob::LeastSeconds(const Limits& limits) const {
  return limits.LeastSeconds(compute, operations, weight_bytes, cycle_bytes, other_bytes);
}

Result<ProductShape> ParseProduct(std::string_view text) {
  constexpr std::string_view kForm = "MxNxK or MxNxK:TYPE";
  const size_t colon = std::min(text.find(':'), text.size());
  TBOOST_ASSIGN_OR_RETURN(const auto sizes, ParseSizes(text.substr(0, colon), kForm));
  ProductShape shape;
  shape.m = sizes[0], shape.n = sizes[1], shape.k = sizes[2];
  if (colon == text.size()) return shape;
  const std::optional<DType> dtype = DTypeFromName(text.substr(colon + 1));
  if (!dtype) return InvalidArgumentError("\"{}\": no type {}", text, text.substr(colon + 1));
  shape.weights = *dtype;
  return shape;
}

Result<AttentionShape> ParseAttention(std::string_view text) {
  TBOOST_ASSIGN_OR_RETURN(const auto sizes, ParseSizes(text, "HEADSxDIMxTOKENS"));
  AttentionShape shape;
  shape.heads = sizes[0], shape.head_dim = sizes[1], shape.tokens = sizes[2];
  return shape;
}

Result<KernelJob> MakeProductJob(ThreadPool& pool, const kernels::KernelTable& table,
                                 int64_t l2_bytes, const ProductShape& shape) {
  const auto [m, n, k] = std::tuple(shape.m, shape.n, shape.k);
  const std::optional<uint64_t> bytes = PackedBytes(shape.weights, n, k);
  if (!bytes)
    return InvalidArgumentError("there is no product of {} weights with rows of {}",
                                DTypeName(shape.weights), k);
  if (m > kMostBytes / (n + k) / 4 || static_cast<int64_t>(*bytes) > kMostBytes)
    return ResourceExhaustedError("a product of {} x {} x {} needs more than {} bytes", m, n, k,
                                  kMostBytes);
  const auto state = std::make_shared<ProductState>();
  state->shape = shape;
  state->panel_bytes = *bytes;
  state->copies = 1 + static_cast<uint64_t>(std::max<int64_t>(0, shape.cycle_bytes)) / *bytes;
  TBOOST_ASSIGN_OR_RETURN(state->panels, RandomPanels(state->copies * *bytes));
  state->a = RandomFloats(m * k, "a");
  state->bias = RandomFloats(n, "bias");
  state->c.resize(static_cast<size_t>(m * n));
  kernels::GemmArgs& args = state->args;
  args.m = m, args.n = n, args.k = k;
  args.a = state->a.data(), args.lda = k;
  args.c = state->c.data(), args.ldc = n;
  args.weight_dtype = shape.weights;
  if (shape.gelu) {
    args.bias = state->bias.data();
    args.activation = kernels::Activation::kGeluErf;
  }
  const bool int8 = Info(shape.weights).row_bytes > 0;
  KernelJob job;
  if (int8) job.compute = DType::kI8;
  TBOOST_ASSIGN_OR_RETURN(
      job.run, int8 ? RunsOfProduct<kernels::GemmInt8Args>(pool, table.gemm_int8, l2_bytes, state)
                    : RunsOfProduct<kernels::GemmArgs>(pool, table.gemm, l2_bytes, state));
  job.name =
      fmt::format("{}x{}x{}:{}{}", m, n, k, DTypeName(shape.weights), shape.gelu ? "+gelu" : "");
  job.detail = fmt::format("tile {}x{}, {}", args.tile_m, args.tile_n, table.name);
  job.operations = 2.0 * static_cast<double>(m) * static_cast<double>(n * k);
  job.weight_bytes = static_cast<double>(*bytes);
  job.cycle_bytes = static_cast<double>(state->panels.size());
  job.other_bytes = static_cast<double>(m * (n + k)) * sizeof(float);
  return job;
}

Result<KernelJob> MakeAttentionJob(ThreadPool& pool, const kernels::KernelTable& table,
                                   const AttentionShape& shape) {
  const int64_t tokens = shape.tokens, width = shape.heads * shape.head_dim;
  if (tokens > kMostBytes / width / 16)
    return ResourceExhaustedError("attention over {} tokens needs more than {} bytes", tokens,
                                  kMostBytes);
  const auto state = std::make_shared<AttentionState>();
  state->qkv = RandomFloats(tokens * 3 * width, "qkv");
  state->out.resize(static_cast<size_t>(tokens * width));
  state->offsets = {0, static_cast<int32_t>(tokens)};
  state->past = {0};
  state->sequence_of.resize(static_cast<size_t>(tokens));
  state->layout = {1,       tokens, state->offsets.data(),    state->past.data(),
                   nullptr, 0,      state->sequence_of.data()};
  kernels::AttentionArgs& args = state->args;
  args.q = state->qkv.data();
  args.k = args.q + width;
  args.v = args.k + width;
  args.ldq = args.ldk = args.ldv = 3 * width;  // side by side, as a fused product leaves them
  args.out = state->out.data();
  args.ldo = width;
  args.heads = args.kv_heads = static_cast<int>(shape.heads);
  args.head_dim = static_cast<int>(shape.head_dim);
  args.scale = 1 / std::sqrt(static_cast<float>(shape.head_dim));
  args.causal = shape.causal;
  args.layout = &state->layout;
  TBOOST_ASSIGN_OR_RETURN(
      Tasks<kernels::AttentionArgs> tasks,
      Tasks<kernels::AttentionArgs>::Make(pool, table.attention, args, tokens <= kStaticRows));
  KernelJob job;
  job.name =
      fmt::format("{}x{}x{}{}", shape.heads, shape.head_dim, tokens, shape.causal ? " causal" : "");
  job.detail = table.name;
  const auto length = static_cast<double>(tokens);
  job.operations = 4 * length * length * static_cast<double>(width) * (shape.causal ? 0.5 : 1);
  job.other_bytes = 4 * length * static_cast<double>(width) * sizeof(float);
  const auto shared_tasks = std::make_shared<Tasks<kernels::AttentionArgs>>(std::move(tasks));
  job.run = [state, shared_tasks] { shared_tasks->Run(state->args); };
  return job;
}

}  // namespace tboost
