#include "src/runtime/executor.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "src/ops/cost.h"
#include "src/runtime/runtime_state.h"

namespace tboost {

// A program with the addresses and sizes of one step shape. The layout's arrays are refilled by
// each run.
struct Binding {
  StepShape shape;
  uint64_t generation = 0;
  uint64_t arena_bytes = 0;
  uint64_t scratch_bytes = 0;
  std::vector<uint64_t> slot_offsets;
  std::vector<KernelCall> calls;
  StepProfile profile;         // its calls match those above; empty unless profiling
  std::vector<int64_t> tasks;  // of the current run
  std::unique_ptr<ChunkCounter[]> counters;

  SequenceLayout layout;
  std::vector<int32_t> offsets, past, pages, sequence_of;
};

namespace {

constexpr size_t kMaxBindings = 32;
// Up to this many tokens work is dealt out evenly beforehand: a task is too short to queue for.
constexpr int64_t kStaticTokens = 16;

// Sets the work of one call of a node. Of a layout the cost sees the shape.
void SetCost(const Graph& graph, const Node& node, std::vector<TensorView> inputs,
             std::span<const TensorView> outputs, const StepShape& shape, CallProfile& profile) {
  if (!node.op->cost) return;
  std::vector<TensorView> constants;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (node.inputs[i] == kNone) continue;
    const Value& value = graph.value(node.inputs[i]);
    if (value.type.kind == ValueType::Kind::kLayout)
      inputs[i].shape = Shape{shape.tokens, shape.sequences};
    if (value.constant) constants.push_back(inputs[i]);
  }
  profile.cost = node.op->cost(inputs, outputs, node.attributes);
  profile.constant_bytes = std::min(BytesOf(constants), profile.cost.bytes);
}

using Clock = std::chrono::steady_clock;
double Seconds(Clock::duration elapsed) { return std::chrono::duration<double>(elapsed).count(); }

// Adds a run of a call that began its tasks at `start`, was `done` with them and has passed the
// barrier.
void Record(Clock::time_point start, Clock::time_point done, CallProfile& profile) {
  const Clock::time_point end = Clock::now();
  profile.seconds += Seconds(end - start);
  profile.waiting += Seconds(end - done);
}

}  // namespace

Executor::Executor(Runtime& runtime, const Program& program, const char* weights,
                   const KvPool* kv_pool)
    : runtime_(runtime.state()), program_(program), weights_(weights), kv_pool_(kv_pool) {}
Executor::~Executor() = default;

TensorView Executor::View(ValueId id, const Binding& binding) const {
  TensorView view;
  if (id == kNone) return view;
  const Value& value = program_.graph.value(id);
  const ProgramValue& place = program_.values[id];
  const SymbolValues symbols = binding.shape.Symbols();
  for (const Dim& dim : value.type.shape) {
    const Result<int64_t> size = dim.Evaluate(symbols);
    view.shape.push_back(size.ok() ? *size : 0);
  }
  view.dtype = value.type.dtype;
  if (value.constant) {
    view.data = const_cast<char*>(weights_ + place.constant_offset);
    return view;
  }
  if (value.type.kind != ValueType::Kind::kTensor || place.buffer < 0) return {};
  view.row_stride = place.row_stride;
  const int64_t element = Info(value.type.dtype).block_bytes;
  view.data = runtime_.arena.data() + binding.slot_offsets[program_.buffers[place.buffer].slot] +
              place.column * element;
  return view;
}

Result<std::unique_ptr<Binding>> Executor::MakeBinding(const StepShape& shape) {
  auto binding = std::make_unique<Binding>();
  binding->shape = binding->profile.shape = shape;
  TBOOST_ASSIGN_OR_RETURN(const std::vector<uint64_t> slot_bytes, program_.SlotBytes(shape));
  for (uint64_t bytes : slot_bytes) {
    binding->slot_offsets.push_back(binding->arena_bytes);
    binding->arena_bytes += bytes;
  }
  TBOOST_RETURN_IF_ERROR(runtime_.Reserve(binding->arena_bytes, 0));
  binding->generation = runtime_.generation;
  binding->offsets.resize(shape.sequences + 1);
  binding->past.resize(shape.sequences);
  binding->sequence_of.resize(shape.tokens);

  const Graph& graph = program_.graph;
  std::map<ValueId, int> cache_layer;
  for (size_t i = 0; i < program_.caches.size(); ++i)
    cache_layer[program_.caches[i]] = static_cast<int>(i);
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    std::vector<TensorView> inputs, outputs;
    LowerContext context;
    for (ValueId input : node.inputs) {
      inputs.push_back(View(input, *binding));
      if (cache_layer.contains(input)) context.cache = kv_pool_->View(cache_layer[input]);
    }
    for (ValueId output : node.outputs) {
      outputs.push_back(View(output, *binding));
      // A cache passes through the operator that writes it.
      if (graph.value(output).type.kind == ValueType::Kind::kKvCache)
        for (ValueId input : node.inputs)
          if (cache_layer.contains(input)) cache_layer[output] = cache_layer[input];
    }
    if (node.op->alias_columns && program_.values[node.inputs[0]].buffer >= 0) continue;
    if (!node.op->lower)
      return UnsupportedError("[{}] {}: there is no kernel for this operator", node.op->name,
                              node.name);
    context.inputs = inputs;
    context.outputs = outputs;
    context.attributes = &node.attributes;
    context.layout = &binding->layout;
    context.kernels = runtime_.kernels;
    context.threads = runtime_.pool->size();
    context.l2_bytes = runtime_.l2_bytes;
    Result<KernelCall> call = node.op->lower(context);
    if (!call.ok()) return call.status().WithContext(node.name);
    if (profile_enabled_) {
      CallProfile& profile = binding->profile.calls.emplace_back();
      profile.name = node.name;
      profile.op = node.op->name;
      profile.kernel = call->kernel;
      profile.detail = call->detail;
      profile.compute = call->compute;
      SetCost(graph, node, inputs, outputs, shape, profile);
    }
    binding->calls.push_back(*std::move(call));
  }
  binding->tasks.resize(binding->calls.size());
  binding->counters = std::make_unique<ChunkCounter[]>(binding->calls.size());
  return binding;
}

Result<Binding*> Executor::Bind(const StepShape& shape) {
  for (auto it = bindings_.begin(); it != bindings_.end(); ++it) {
    if ((*it)->shape != shape) continue;
    if ((*it)->generation != runtime_.generation) {
      bindings_.erase(it);
      break;
    }
    bindings_.splice(bindings_.begin(), bindings_, it);
    return bindings_.front().get();
  }
  TBOOST_ASSIGN_OR_RETURN(std::unique_ptr<Binding> binding, MakeBinding(shape));
  bindings_.push_front(std::move(binding));
  if (bindings_.size() > kMaxBindings) bindings_.pop_back();
  return bindings_.front().get();
}

Status Executor::FillInputs(const StepInputs& inputs, const StepShape& shape, Binding& binding) {
  SequenceLayout& layout = binding.layout;
  layout.sequences = static_cast<int>(shape.sequences);
  layout.tokens = shape.tokens;
  layout.max_pages = 0;
  for (const SequenceStep& sequence : inputs.sequences)
    if (sequence.kv)
      layout.max_pages = std::max<int64_t>(layout.max_pages, sequence.kv->pages.size());
  binding.pages.assign(layout.max_pages * shape.sequences, 0);
  int32_t token = 0;
  for (size_t s = 0; s < inputs.sequences.size(); ++s) {
    const SequenceStep& sequence = inputs.sequences[s];
    binding.offsets[s] = token;
    binding.past[s] = sequence.kv ? static_cast<int32_t>(sequence.kv->length) : 0;
    if (sequence.kv)
      std::copy(sequence.kv->pages.begin(), sequence.kv->pages.end(),
                binding.pages.begin() + s * layout.max_pages);
    for (size_t i = 0; i < sequence.ids.size(); ++i)
      binding.sequence_of[token++] = static_cast<int32_t>(s);
  }
  binding.offsets[shape.sequences] = token;
  layout.offsets = binding.offsets.data();
  layout.past = binding.past.data();
  layout.pages = layout.max_pages ? binding.pages.data() : nullptr;
  layout.sequence_of = binding.sequence_of.data();

  for (ValueId id : program_.graph.inputs()) {
    const Value& value = program_.graph.value(id);
    if (value.type.kind != ValueType::Kind::kTensor) continue;
    int32_t* data = View(id, binding).as<int32_t>();
    if (value.name == "input_ids") {
      for (const SequenceStep& sequence : inputs.sequences)
        data = std::copy(sequence.ids.begin(), sequence.ids.end(), data);
    } else if (value.name == "token_type_ids") {
      if (inputs.token_type_ids.empty()) std::fill_n(data, shape.tokens, 0);
      std::copy(inputs.token_type_ids.begin(), inputs.token_type_ids.end(), data);
    } else if (value.name == "output_rows") {
      std::copy(inputs.output_rows.begin(), inputs.output_rows.end(), data);
    } else {
      return UnsupportedError("the model has an input {} that no caller fills", value.name);
    }
  }
  return OkStatus();
}

void Executor::Execute(Binding& binding, const CancelToken* cancel) {
  for (size_t i = 0; i < binding.calls.size(); ++i) {
    binding.tasks[i] = binding.calls[i].tasks(binding.calls[i].args.data());
    binding.counters[i].next.store(0, std::memory_order_relaxed);
  }
  const bool divide_evenly = binding.shape.tokens <= kStaticTokens;
  const auto stopped = [cancel] { return cancel && cancel->cancelled(); };
  const Clock::time_point begin = profile_enabled_ ? Clock::now() : Clock::time_point();
  runtime_.pool->Run([&](Worker& worker) {
    const Buffer& memory = runtime_.scratch[worker.index()];
    const kernels::Scratch scratch{memory.data(), memory.size()};
    const bool measured = profile_enabled_ && worker.index() == 0;
    Clock::time_point start, done;
    for (size_t i = 0; i < binding.calls.size(); ++i) {
      if (measured) start = Clock::now();
      const KernelCall& call = binding.calls[i];
      const int64_t tasks = binding.tasks[i];
      const auto run = [&](int64_t task) { call.invoke(call.fn, call.args.data(), task, scratch); };
      if (divide_evenly) {
        const Range range = StaticRange(tasks, worker.index(), worker.count());
        for (int64_t t = range.begin; t < range.end && !stopped(); ++t) run(t);
      } else {
        ChunkCounter& counter = binding.counters[i];
        for (int64_t t = counter.Next(); t < tasks && !stopped(); t = counter.Next()) run(t);
      }
      if (measured) done = Clock::now();
      worker.Barrier();
      if (measured) Record(start, done, binding.profile.calls[i]);
    }
  });
  if (profile_enabled_) {
    ++binding.profile.runs;
    binding.profile.barriers += static_cast<int64_t>(binding.calls.size());
    binding.profile.seconds += Seconds(Clock::now() - begin);
  }
}

Status Executor::Run(const StepInputs& inputs, FunctionRef<Status(const Outputs&)> read) {
  StepShape shape;
  shape.sequences = static_cast<int64_t>(inputs.sequences.size());
  shape.outputs = static_cast<int64_t>(inputs.output_rows.size());
  for (const SequenceStep& sequence : inputs.sequences) {
    if (sequence.ids.empty()) return InvalidArgumentError("a sequence of a step has no tokens");
    shape.tokens += static_cast<int64_t>(sequence.ids.size());
  }
  if (shape.sequences == 0) return InvalidArgumentError("a step has no sequences");
  if (!inputs.token_type_ids.empty() &&
      static_cast<int64_t>(inputs.token_type_ids.size()) != shape.tokens)
    return InvalidArgumentError("{} token types for {} tokens", inputs.token_type_ids.size(),
                                shape.tokens);
  const std::lock_guard lock(runtime_.lease);
  TBOOST_ASSIGN_OR_RETURN(Binding * binding, Bind(shape));
  TBOOST_RETURN_IF_ERROR(FillInputs(inputs, shape, *binding));
  uint64_t scratch_bytes = 0;
  for (const KernelCall& call : binding->calls)
    scratch_bytes = std::max<uint64_t>(scratch_bytes, call.scratch(call.args.data()));
  TBOOST_RETURN_IF_ERROR(runtime_.Reserve(0, scratch_bytes));
  Execute(*binding, inputs.cancel);
  if (inputs.cancel && inputs.cancel->cancelled()) return CancelledError("stopped on request");
  for (const SequenceStep& sequence : inputs.sequences)
    if (sequence.kv) sequence.kv->length += static_cast<int64_t>(sequence.ids.size());
  Outputs outputs;
  outputs.executor_ = this;
  outputs.binding_ = binding;
  return read(outputs);
}

TensorView Executor::Outputs::Get(std::string_view name) const {
  for (const auto& [output, value] : executor_->program_.graph.outputs())
    if (output == name) return executor_->View(value, *binding_);
  return {};
}

void Executor::EnableProfile() {
  const std::lock_guard lock(runtime_.lease);
  profile_enabled_ = true;
  bindings_.clear();  // those made before know no costs
}

std::vector<StepProfile> Executor::Profile() const {
  const std::lock_guard lock(runtime_.lease);
  std::vector<StepProfile> out;
  for (const auto& binding : bindings_)
    if (binding->profile.runs > 0) out.push_back(binding->profile);
  return out;
}

}  // namespace tboost
