#include "src/runtime/binding.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "src/base/checked.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"

namespace tboost {
namespace {

// Up to this many tokens work is dealt out evenly beforehand.
constexpr int64_t kStaticTokens = 16;
// A call that is `light` runs everywhere up to this many elements of its result; and up to so many
// workers: each has calls and memory of its own.
constexpr int64_t kLightElements = 1 << 14;
constexpr int kMostCopies = 16;
// Another worker is worth waking where a call leaves it this much to do, at these rates of a core.
constexpr double kShareSeconds = 1e-6;
constexpr double kFlopRate = 50e9, kByteRate = 10e9;

// Builds one binding, walking the nodes once for each worker whose calls differ.
class Binder {
 public:
  Binder(Runtime::State& runtime, const Program& program, const char* weights,
         const KvPool* kv_pool, const TileChoice& tiles, Binding& binding)
      : runtime_(runtime),
        program_(program),
        graph_(program.graph),
        weights_(weights),
        kv_pool_(kv_pool),
        tiles_(tiles),
        binding_(binding),
        own_(graph_.values().size(), false) {}

  Status Run() {
    TBOOST_RETURN_IF_ERROR(PlaceSlots());
    TraceCaches();
    ListCalls();
    ChooseWorkers();
    ChooseOwnValues();
    FindMeetings();
    const uint64_t own_bytes = own_bytes_ * static_cast<uint64_t>(binding_.workers);
    TBOOST_RETURN_IF_ERROR(runtime_.Reserve(arena_bytes_ + own_bytes, 0));
    binding_.generation = runtime_.generation;
    for (int worker = 0; worker < (own_bytes_ ? binding_.workers : 1); ++worker)
      TBOOST_RETURN_IF_ERROR(LowerCalls(worker));
    SizeStepData();
    return OkStatus();
  }

 private:
  Status PlaceSlots() {
    TBOOST_ASSIGN_OR_RETURN(slot_bytes_, program_.SlotBytes(binding_.shape));
    for (const uint64_t bytes : slot_bytes_) {
      slot_offsets_.push_back(arena_bytes_);
      arena_bytes_ += bytes;
    }
    return OkStatus();
  }

  // A cache passes through the operator that writes it.
  void TraceCaches() {
    for (size_t i = 0; i < program_.caches.size(); ++i)
      cache_layer_[program_.caches[i]] = static_cast<int>(i);
    for (const Node& node : graph_.nodes())
      for (const ValueId output : node.outputs)
        if (graph_.value(output).type.kind == ValueType::Kind::kKvCache)
          for (const ValueId input : node.inputs)
            if (cache_layer_.contains(input)) cache_layer_[output] = cache_layer_[input];
  }

  bool IsView(const Node& node) const {
    return node.op->alias_columns && program_.values[node.inputs[0]].buffer >= 0;
  }

  // The nodes that are work, and how much.
  void ListCalls() {
    binding_.profile.shape = binding_.shape;
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
      const Node& node = graph_.node(id);
      if (IsView(node)) continue;
      binding_.calls.push_back({.node = id});
      CallProfile& profile = binding_.profile.calls.emplace_back();
      profile.name = node.name;
      profile.op = node.op->name;
      if (node.op->cost) SetCost(node, profile);
    }
  }

  // Of a layout the cost sees the shape.
  void SetCost(const Node& node, CallProfile& profile) const {
    std::vector<TensorView> inputs, outputs, constants;
    for (const ValueId input : node.inputs) {
      inputs.push_back(View(input, 0));
      if (input == kNone) continue;
      const Value& value = graph_.value(input);
      if (value.type.kind == ValueType::Kind::kLayout)
        inputs.back().shape = Shape{binding_.shape.tokens, binding_.shape.sequences};
      if (value.constant) constants.push_back(inputs.back());
    }
    for (const ValueId output : node.outputs) outputs.push_back(View(output, 0));
    profile.cost = node.op->cost(inputs, outputs, node.attributes);
    profile.constant_bytes = std::min(BytesOf(constants), profile.cost.bytes);
  }

  void ChooseWorkers() {
    double seconds = 0;
    for (const CallProfile& call : binding_.profile.calls)
      seconds += std::max(call.cost.flops / kFlopRate, call.cost.bytes / kByteRate);
    const double shares =
        seconds / (kShareSeconds * static_cast<double>(std::max<size_t>(1, binding_.calls.size())));
    const int threads = runtime_.pool->size();
    const bool all = runtime_.every_thread || shares >= threads;
    binding_.workers = all ? threads : std::max(1, static_cast<int>(shares));
    binding_.divide_evenly = binding_.shape.tokens <= kStaticTokens;
  }

  // The calls that run everywhere, and where what they write lies.
  void ChooseOwnValues() {
    if (!binding_.divide_evenly || binding_.workers == 1 || binding_.workers > kMostCopies) return;
    own_offsets_.resize(slot_bytes_.size());
    auto call = binding_.calls.begin();
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
      const Node& node = graph_.node(id);
      if (IsView(node)) {
        if (own_[node.inputs[0]]) MakeOwn(node.outputs[0]);
        continue;
      }
      call->everywhere =
          node.op->light && View(node.outputs[0], 0).shape.elements() <= kLightElements &&
          std::ranges::none_of(node.outputs, [&](ValueId v) { return graph_.IsOutput(v); });
      for (const ValueId output : node.outputs)
        if (call->everywhere) MakeOwn(output);
      ++call;
    }
  }

  void MakeOwn(ValueId value) {
    const int buffer = program_.values[value].buffer;
    if (buffer < 0) return;
    own_[value] = true;
    const int slot = program_.buffers[buffer].slot;
    if (!own_slots_.insert(slot).second) return;
    own_offsets_[slot] = own_bytes_;
    own_bytes_ += slot_bytes_[slot];
  }

  // What a call touches and others may touch too: slots of the arena and layers of the cache.
  struct Place {
    enum class Kind { kSlot, kCache } kind;
    int index;
    auto operator<=>(const Place&) const = default;
  };
  std::optional<Place> PlaceOf(ValueId value) const {
    if (value == kNone || own_[value]) return std::nullopt;
    if (const auto cache = cache_layer_.find(value); cache != cache_layer_.end())
      return Place{Place::Kind::kCache, cache->second};
    const int buffer = program_.values[value].buffer;
    if (buffer < 0) return std::nullopt;
    return Place{Place::Kind::kSlot, program_.buffers[buffer].slot};
  }

  // Workers meet before a call that touches what another has written, or writes what another has
  // read, since they last met.
  void FindMeetings() {
    std::set<Place> read, written;
    for (BoundCall& call : binding_.calls) {
      const Node& node = graph_.node(call.node);
      std::set<Place> reads, writes;
      for (const ValueId input : node.inputs)
        if (const auto place = PlaceOf(input)) reads.insert(*place);
      for (const ValueId output : node.outputs)
        if (const auto place = PlaceOf(output)) writes.insert(*place);
      const auto within = [](const std::set<Place>& places) {
        return [&places](const Place& place) { return places.contains(place); };
      };
      call.meet = std::ranges::any_of(reads, within(written)) ||
                  std::ranges::any_of(writes, within(written)) ||
                  std::ranges::any_of(writes, within(read));
      if (call.meet) {
        read.clear();
        written.clear();
      }
      read.merge(reads);
      written.merge(writes);
    }
  }

  TensorView View(ValueId id, int worker) const {
    TensorView view;
    if (id == kNone) return view;
    const Value& value = graph_.value(id);
    const ProgramValue& place = program_.values[id];
    for (const Dim& dim : value.type.shape) {
      const Result<int64_t> size = dim.Evaluate(symbols_);
      view.shape.push_back(size.ok() ? *size : 0);
    }
    view.dtype = value.type.dtype;
    if (value.constant) {
      view.data = const_cast<char*>(weights_ + place.constant_offset);
      return view;
    }
    if (value.type.kind != ValueType::Kind::kTensor || place.buffer < 0) return {};
    view.row_stride = place.row_stride;
    const int slot = program_.buffers[place.buffer].slot;
    const uint64_t offset =
        own_[id] ? arena_bytes_ + own_bytes_ * worker + own_offsets_[slot] : slot_offsets_[slot];
    // Costs are of views before there is an arena.
    if (char* const arena = runtime_.arena.data())
      view.data = arena + offset + place.column * Info(value.type.dtype).block_bytes;
    return view;
  }

  Status LowerCalls(int worker) {
    std::vector<KernelCall>& kernels = binding_.kernels.emplace_back();
    // Several parts for each worker: one may be kept from its share for a while.
    const StepShape& shape = binding_.shape;
    BestRows best = {.parts = 4 * binding_.workers, .count = shape.best};
    binding_.best.resize(shape.outputs * best.parts * best.count);
    best.out = binding_.best.data();
    const NodeId ranked = shape.best ? RankedNode(program_) : kNone;
    for (const BoundCall& call : binding_.calls) {
      const Node& node = graph_.node(call.node);
      if (!node.op->lower)
        return UnsupportedError("[{}] {}: there is no kernel for this operator", node.op->name,
                                node.name);
      std::vector<TensorView> inputs, outputs;
      LowerContext context;
      for (const ValueId input : node.inputs) {
        inputs.push_back(View(input, worker));
        if (const auto cache = cache_layer_.find(input); cache != cache_layer_.end())
          context.cache = kv_pool_->View(cache->second);
      }
      for (const ValueId output : node.outputs) outputs.push_back(View(output, worker));
      context.inputs = inputs;
      context.outputs = outputs;
      context.attributes = &node.attributes;
      context.layout = &binding_.layout;
      context.kernels = runtime_.kernels;
      context.threads = binding_.workers;
      context.l2_bytes = runtime_.l2_bytes;
      context.tiles = tiles_;
      if (call.node == ranked) context.best = &best;
      Result<KernelCall> kernel = node.op->lower(context);
      if (!kernel.ok()) return kernel.status().WithContext(node.name);
      CallProfile& profile = binding_.profile.calls[kernels.size()];
      profile.kernel = kernel->kernel;
      profile.detail = kernel->detail;
      profile.compute = kernel->compute;
      profile.tile = kernel->tile;
      kernels.push_back(*std::move(kernel));
    }
    return OkStatus();
  }

  void SizeStepData() {
    const StepShape& shape = binding_.shape;
    binding_.offsets.resize(shape.sequences + 1);
    binding_.past.resize(shape.sequences);
    binding_.sequence_of.resize(shape.tokens);
    binding_.tasks.resize(binding_.calls.size());
    binding_.counters = std::make_unique<ChunkCounter[]>(binding_.calls.size());
    for (const ValueId input : graph_.inputs()) binding_.inputs.push_back(View(input, 0));
    for (const auto& [name, value] : graph_.outputs()) binding_.outputs.push_back(View(value, 0));
  }

  Runtime::State& runtime_;
  const Program& program_;
  const Graph& graph_;
  const char* weights_;
  const KvPool* kv_pool_;
  const TileChoice& tiles_;
  Binding& binding_;
  const SymbolValues symbols_ = binding_.shape.Symbols();
  std::vector<uint64_t> slot_bytes_, slot_offsets_;
  uint64_t arena_bytes_ = 0;  // of all slots; behind them lie the workers' own shares
  std::map<ValueId, int> cache_layer_;
  std::vector<bool> own_;  // by value: every worker has one
  std::set<int> own_slots_;
  std::vector<uint64_t> own_offsets_;  // by slot, within a worker's share
  uint64_t own_bytes_ = 0;             // of a share
};

}  // namespace

NodeId RankedNode(const Program& program) {
  for (const auto& [name, value] : program.graph.outputs()) {
    const NodeId producer = program.graph.value(value).producer;
    if (name != "logits" || producer == kNone) continue;
    const Node& node = program.graph.node(producer);
    if (node.op->ranks && IsComposable(program.graph.value(node.inputs[1]).type.dtype))
      return producer;
  }
  return kNone;
}

int64_t Binding::Barriers() const {
  if (workers == 1) return 0;
  return 1 + std::ranges::count_if(calls, [](const BoundCall& call) { return call.meet; });
}

Result<std::unique_ptr<Binding>> MakeBinding(Runtime::State& runtime, const Program& program,
                                             const char* weights, const KvPool* kv_pool,
                                             const TileChoice& tiles, const StepShape& shape) {
  auto binding = std::make_unique<Binding>();
  binding->shape = shape;
  TBOOST_RETURN_IF_ERROR(Binder(runtime, program, weights, kv_pool, tiles, *binding).Run());
  return binding;
}

}  // namespace tboost
