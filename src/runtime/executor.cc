#include "src/runtime/executor.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "src/runtime/binding.h"

namespace tboost {
namespace {

constexpr size_t kMaxBindings = 32;
constexpr int64_t kPrefetchBytes = 16 << 10;

using Clock = std::chrono::steady_clock;
double Seconds(Clock::duration elapsed) { return std::chrono::duration<double>(elapsed).count(); }

// Adds a run of a call that began its tasks at `start`, was `done` with them and has passed the
// barrier, now.
Clock::time_point Record(Clock::time_point start, Clock::time_point done, CallProfile& profile) {
  const Clock::time_point end = Clock::now();
  profile.seconds += Seconds(end - start);
  profile.waiting += Seconds(end - done);
  return end;
}

// Asks for the first of the weights that the worker will read in a call.
// Always inlined: GCC drops calls of a function that does nothing but prefetch.
[[gnu::always_inline]] inline void Prefetch(const Binding& binding, size_t index, int worker) {
  const KernelCall& call = binding.Kernel(0, index);
  if (!call.stream || binding.tasks[index] == 0) return;
  const int64_t first =
      binding.divide_evenly ? binding.ShareOf(index, worker).begin : worker % binding.tasks[index];
  const int64_t begin = call.stream_bytes / binding.tasks[index] * first;
  const int64_t end = std::min(call.stream_bytes, begin + kPrefetchBytes);
  for (int64_t i = begin; i < end; i += 64) __builtin_prefetch(call.stream + i, 0, 2);
}

}  // namespace

Executor::Executor(Runtime& runtime, const Program& program, const char* weights,
                   const KvPool* kv_pool, const TileChoice& tiles)
    : runtime_(runtime.state()),
      program_(program),
      weights_(weights),
      kv_pool_(kv_pool),
      tiles_(tiles) {}
Executor::~Executor() = default;

Result<Binding*> Executor::Bind(const StepShape& shape) {
  StepProfile measured;
  for (auto it = bindings_.begin(); it != bindings_.end(); ++it) {
    if ((*it)->shape != shape) continue;
    if ((*it)->generation != runtime_.generation) {
      measured = std::move((*it)->profile);
      bindings_.erase(it);
      break;
    }
    bindings_.splice(bindings_.begin(), bindings_, it);
    return bindings_.front().get();
  }
  TBOOST_ASSIGN_OR_RETURN(std::unique_ptr<Binding> binding,
                          MakeBinding(runtime_, program_, weights_, kv_pool_, tiles_, shape));
  // Addresses have moved; what the step took before still counts.
  if (measured.runs > 0) binding->profile = std::move(measured);
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
  binding.pages.resize(layout.max_pages * shape.sequences);
  std::ranges::fill(binding.pages, 0);
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

  for (size_t i = 0; i < binding.inputs.size(); ++i) {
    const Value& value = program_.graph.value(program_.graph.inputs()[i]);
    if (value.type.kind != ValueType::Kind::kTensor) continue;
    int32_t* data = binding.inputs[i].as<int32_t>();
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
    const KernelCall& call = binding.Kernel(0, i);
    binding.tasks[i] = call.tasks(call.args.data());
    binding.counters[i].next.store(0, std::memory_order_relaxed);
  }
  const Clock::time_point begin = profile_enabled_ ? Clock::now() : Clock::time_point();
  runtime_.pool->Run(binding.workers, [&](Worker& worker) {
    const bool measured = profile_enabled_ && worker.index() == 0;
    Clock::time_point start = begin, done;
    for (size_t i = 0; i < binding.calls.size(); ++i) {
      RunShare(binding, i, worker, cancel);
      if (measured) done = Clock::now();
      if (i + 1 < binding.calls.size() && binding.calls[i + 1].meet) {
        if (runtime_.prefetch) Prefetch(binding, i + 1, worker.index());
        worker.Barrier();
      }
      if (measured) start = Record(start, done, binding.profile.calls[i]);
    }
  });
  if (profile_enabled_) {
    ++binding.profile.runs;
    binding.profile.barriers += binding.Barriers();
    binding.profile.seconds += Seconds(Clock::now() - begin);
  }
}

void Executor::RunShare(Binding& binding, size_t index, const Worker& worker,
                        const CancelToken* cancel) const {
  const Buffer& memory = runtime_.scratch[worker.index()];
  const kernels::Scratch scratch{memory.data(), memory.size()};
  const KernelCall& call = binding.Kernel(worker.index(), index);
  const int64_t tasks = binding.tasks[index];
  const auto stopped = [cancel] { return cancel && cancel->cancelled(); };
  const auto run = [&](int64_t task) { call.invoke(call.fn, call.args.data(), task, scratch); };
  if (binding.divide_evenly) {
    const Range range = binding.ShareOf(index, worker.index());
    for (int64_t t = range.begin; t < range.end && !stopped(); ++t) run(t);
  } else {
    ChunkCounter& counter = binding.counters[index];
    for (int64_t t = counter.Next(); t < tasks && !stopped(); t = counter.Next()) run(t);
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
  shape.best = inputs.best;
  if (inputs.best && !CanRank()) return UnsupportedError("no product gives this model's logits");
  if (shape.sequences == 0) return InvalidArgumentError("a step has no sequences");
  if (!inputs.token_type_ids.empty() &&
      static_cast<int64_t>(inputs.token_type_ids.size()) != shape.tokens)
    return InvalidArgumentError("{} token types for {} tokens", inputs.token_type_ids.size(),
                                shape.tokens);
  const std::lock_guard lock(runtime_.lease);
  TBOOST_ASSIGN_OR_RETURN(Binding * binding, Bind(shape));
  TBOOST_RETURN_IF_ERROR(FillInputs(inputs, shape, *binding));
  uint64_t scratch_bytes = 0;
  for (const KernelCall& call : binding->kernels[0])
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
  const auto& outputs = executor_->program_.graph.outputs();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].first == name) return binding_->outputs[i];
  return {};
}

std::span<const Candidate> Executor::Outputs::Best(int64_t row) const {
  const StepShape& shape = binding_->shape;
  if (row < 0 || row >= shape.outputs) return {};
  const size_t each = binding_->best.size() / static_cast<size_t>(shape.outputs);
  return std::span(binding_->best).subspan(static_cast<size_t>(row) * each, each);
}

bool Executor::CanRank() const { return RankedNode(program_) != kNone; }

void Executor::EnableProfile() {
  const std::lock_guard lock(runtime_.lease);
  profile_enabled_ = true;
  for (const auto& binding : bindings_) {
    StepProfile& step = binding->profile;
    step.runs = step.barriers = 0;
    step.seconds = 0;
    for (CallProfile& call : step.calls) call.seconds = call.waiting = 0;
  }
}

int64_t Executor::Barriers() const {
  const std::lock_guard lock(runtime_.lease);
  return bindings_.empty() ? 0 : bindings_.front()->Barriers();
}

int Executor::Workers() const {
  const std::lock_guard lock(runtime_.lease);
  return bindings_.empty() ? 0 : bindings_.front()->workers;
}

std::vector<StepProfile> Executor::Profile() const {
  const std::lock_guard lock(runtime_.lease);
  std::vector<StepProfile> out;
  for (const auto& binding : bindings_)
    if (binding->profile.runs > 0) out.push_back(binding->profile);
  return out;
}

}  // namespace tboost
