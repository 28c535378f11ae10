#include "src/base/cpu_features.h"
#include "src/runtime/runtime_state.h"

namespace tboost {

Runtime::Runtime(std::unique_ptr<State> state) : state_(std::move(state)) {}
Runtime::~Runtime() = default;

Result<std::unique_ptr<Runtime>> Runtime::Create(const RuntimeOptions& options) {
  if (options.threads < 0 || options.threads > ThreadPool::kMaxThreads)
    return InvalidArgumentError("threads is {}, expected 0 (automatic) to {}", options.threads,
                                ThreadPool::kMaxThreads);
  auto state = std::make_unique<State>();
  TBOOST_ASSIGN_OR_RETURN(const Isa isa, SelectedIsa());
  state->isa = isa;
  state->kernels = &kernels::Kernels(isa);
  state->topology = ReadTopology();
  state->thread_reason =
      options.threads ? fmt::format("{}: asked for", options.threads) : state->topology.reason;
  const int threads = options.threads ? options.threads : state->topology.threads_recommended;
  TBOOST_ASSIGN_OR_RETURN(state->pool, ThreadPool::Create(threads));
  state->prefetch = options.prefetch;
  state->l2_bytes =
      state->topology.l2_bytes ? static_cast<int64_t>(state->topology.l2_bytes) : 512 << 10;
  state->scratch.resize(threads);
  return std::unique_ptr<Runtime>(new Runtime(std::move(state)));
}

int Runtime::threads() const { return state_->pool->size(); }
std::string Runtime::isa() const { return std::string(IsaName(state_->isa)); }
std::string Runtime::thread_reason() const { return state_->thread_reason; }

Status Runtime::State::Reserve(uint64_t arena_bytes, uint64_t scratch_bytes) {
  if (arena.size() < arena_bytes) {
    arena = Buffer();
    ++generation;
    TBOOST_ASSIGN_OR_RETURN(arena, Buffer::Allocate(arena_bytes));
  }
  for (Buffer& buffer : scratch) {
    if (buffer.size() >= scratch_bytes) continue;
    buffer = Buffer();
    TBOOST_ASSIGN_OR_RETURN(buffer, Buffer::Allocate(scratch_bytes));
  }
  return OkStatus();
}

}  // namespace tboost
