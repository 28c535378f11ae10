#include "tboost/model.h"

#include <algorithm>
#include <new>

#include "src/base/checked.h"
#include "src/compile/compile.h"
#include "src/generate/model_state.h"
#include "src/ops/ops.h"
#include "src/plan/step_contract.h"
#include "src/runtime/runtime_state.h"
#include "src/text/template/chat_template.h"

namespace tboost {
namespace {

// Rows of a step that keep a product efficient; further threads want more of them.
constexpr int64_t kStepTokens = 512;
constexpr int64_t kStepTokensPerThread = 128;

// What a process needs before any model: code, libraries, allocator; measured with `tboost info`.
constexpr uint64_t kProcessBytes = uint64_t{14} << 20;

Result<OmReader> OpenModel(const std::string& path, const LoadOptions& options) {
  if (IsOmFile(path)) return OmReader::Open(path);
  CompileOptions compile;
  TBOOST_ASSIGN_OR_RETURN(compile.dtype, ParseDTypeOption(options.dtype));
  compile.max_context = options.max_context;
  compile.progress = options.progress;
  return CompileToMemory(path, compile);
}

// What Generator and Embed read of the settings must be there and an object.
Status CheckSettings(const Json& manifest, bool generates, std::string_view name) {
  const auto has_object = [](const Json& json, const char* key) {
    return json.contains(key) && json.at(key).is_object();
  };
  if (!has_object(manifest, "settings")) return CorruptError("{}: manifest has no settings", name);
  const char* part = generates ? "generation" : "embedding";
  if (!has_object(manifest.at("settings"), part))
    return CorruptError("{}: the manifest's settings have no {}", name, part);
  return OkStatus();
}

// The manifest is a hostile file's until its fields are checked.
Status ReadManifest(Model::State& state, const LoadOptions& options, std::string_view name) {
  const Json& manifest = state.om->manifest;
  TBOOST_ASSIGN_OR_RETURN(state.generates, JsonRequire<bool>(manifest, "generates", name));
  TBOOST_ASSIGN_OR_RETURN(state.vocab_size, JsonRequire<int64_t>(manifest, "vocab_size", name));
  TBOOST_ASSIGN_OR_RETURN(state.hidden_size, JsonRequire<int64_t>(manifest, "hidden_size", name));
  TBOOST_ASSIGN_OR_RETURN(state.context_length,
                          JsonRequire<int64_t>(manifest, "context_length", name));
  TBOOST_RETURN_IF_ERROR(JsonRequire<std::string>(manifest, "architecture", name).status());
  constexpr int64_t kMost = int64_t{1} << 24;
  const std::pair<std::string_view, int64_t> sizes[] = {{"vocab_size", state.vocab_size},
                                                        {"hidden_size", state.hidden_size},
                                                        {"context_length", state.context_length}};
  for (const auto& [field, value] : sizes)
    if (value < 1 || value > kMost)
      return CorruptError("{}: manifest: {} is {}, expected 1 to {}", name, field, value, kMost);
  if (options.max_context < 0)
    return InvalidArgumentError("max_context is {}, expected 0 or more", options.max_context);
  if (options.max_sequences < 1 || options.max_sequences > kMost)
    return InvalidArgumentError("max_sequences is {}, expected 1 to {}", options.max_sequences,
                                kMost);
  if (options.max_context > state.context_length)
    return OutOfRangeError("{}: max_context {} is beyond the model's {}", name, options.max_context,
                           state.context_length);
  if (options.max_context > 0) state.context_length = options.max_context;
  const StepContract contract = {state.vocab_size, state.context_length, state.generates};
  TBOOST_RETURN_IF_ERROR(CheckStepContract(state.om->program.graph, contract).WithContext(name));
  return CheckSettings(manifest, state.generates, name);
}

Result<DType> KvDType(std::string_view name) {
  if (name == "f32") return DType::kF32;
  if (name == "bf16") return DType::kBF16;
  if (name == "int8") return DType::kI8;
  return InvalidArgumentError("kv_dtype \"{}\", expected f32, bf16 or int8", name);
}

Status MakeKvPool(Model::State& state, const LoadOptions& options) {
  TBOOST_ASSIGN_OR_RETURN(const DType dtype, KvDType(options.kv_dtype));
  std::vector<KvLayer> layers;
  const Graph& graph = state.om->program.graph;
  for (ValueId cache : state.om->program.caches) {
    const ValueType& type = graph.value(cache).type;
    const auto heads = type.shape[0].constant(), head_dim = type.shape[1].constant();
    if (!heads || !head_dim || *heads < 1 || *heads > 4096 || *head_dim < 1 || *head_dim > 4096)
      return CorruptError("{}: a cache of {} heads of {}", graph.value(cache).name,
                          type.shape[0].ToString(), type.shape[1].ToString());
    layers.push_back({static_cast<int>(*heads), static_cast<int>(*head_dim)});
  }
  const int64_t tokens = RoundUp(state.context_length, kPageTokens) * options.max_sequences;
  TBOOST_ASSIGN_OR_RETURN(KvPool pool, KvPool::Create(std::move(layers), tokens, dtype));
  state.kv_pool.emplace(std::move(pool));
  return OkStatus();
}

}  // namespace

Model::Model(std::unique_ptr<State> state) : state_(std::move(state)) {}
Model::~Model() = default;

int64_t Model::State::StepTokens() const {
  return std::max(kStepTokens, kStepTokensPerThread * runtime->threads());
}

Result<const Tokenizer*> Model::State::RequireTokenizer() const {
  if (!tokenizer)
    return NotFoundError("{}: the model came without a tokenizer: give token ids", path);
  return &*tokenizer;
}

Result<std::unique_ptr<Model>> Model::Load(Runtime& runtime, const std::string& path,
                                           const LoadOptions& options) try {
  auto state = std::make_unique<State>();
  state->path = path;
  state->runtime = &runtime;
  TBOOST_ASSIGN_OR_RETURN(OmReader reader, OpenModel(path, options));
  TBOOST_ASSIGN_OR_RETURN(state->om, LoadOmModel(std::move(reader), BuiltinOps(), path));
  TBOOST_RETURN_IF_ERROR(ReadManifest(*state, options, path));
  if (state->generates) TBOOST_RETURN_IF_ERROR(MakeKvPool(*state, options));
  if (!state->om->tokenizer.empty()) {
    TBOOST_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Open(state->om->tokenizer));
    state->tokenizer.emplace(std::move(tokenizer));
  }
  const std::string& cpu = runtime.state().topology.model_name;
  state->executor =
      std::make_unique<Executor>(runtime, state->om->program, state->om->weights.data(),
                                 state->kv_pool ? &*state->kv_pool : nullptr,
                                 TileChoice{.hints = state->om->tiles.For(cpu, runtime.isa())});
  return std::unique_ptr<Model>(new Model(std::move(state)));
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("{}: not enough memory to load it", path);
}

std::string Model::architecture() const {
  return state_->om->manifest.value("architecture", std::string());
}
bool Model::generates() const { return state_->generates; }
int64_t Model::vocab_size() const { return state_->vocab_size; }
int64_t Model::context_length() const { return state_->context_length; }
int64_t Model::hidden_size() const { return state_->hidden_size; }
bool Model::has_chat_template() const { return !state_->om->chat_template.empty(); }

MemoryPlan Model::memory() const {
  MemoryPlan plan;
  plan.weights = state_->om->weights.size();
  const int64_t tokens = std::min(state_->StepTokens(), state_->context_length);
  const Result<uint64_t> arena = state_->om->program.ArenaBytes({tokens, tokens / 8 + 1, 1});
  plan.arena = arena.ok() ? *arena : 0;
  plan.kv_page = state_->kv_pool ? state_->kv_pool->page_bytes() : 0;
  plan.kv_page_tokens = kPageTokens;
  plan.fixed = kProcessBytes + state_->om->tokenizer.size();
  return plan;
}

uint64_t MemoryPlan::Peak(int64_t tokens, int64_t sequences) const {
  const uint64_t pages = DivUp(static_cast<uint64_t>(tokens), kv_page_tokens);
  return weights + arena + fixed + kv_page * pages * static_cast<uint64_t>(sequences);
}

Result<std::vector<int32_t>> Model::Tokenize(std::string_view text, bool add_special_tokens,
                                             bool parse_special) const try {
  TBOOST_ASSIGN_OR_RETURN(const Tokenizer* tokenizer, state_->RequireTokenizer());
  return tokenizer->Encode(
      text,
      {.add_special_tokens = add_special_tokens, .parse_special = parse_special, .max_length = 0});
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("not enough memory for the tokens");
}

Result<std::string> Model::Detokenize(std::span<const int32_t> ids, bool skip_special) const try {
  TBOOST_ASSIGN_OR_RETURN(const Tokenizer* tokenizer, state_->RequireTokenizer());
  return tokenizer->Decode(ids, skip_special);
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("not enough memory for the text");
}

Result<std::string> Model::RenderChat(std::span<const ChatMessage> messages) const try {
  if (!has_chat_template()) return NotFoundError("the model came without a chat template");
  TBOOST_ASSIGN_OR_RETURN(const Tokenizer* tokenizer, state_->RequireTokenizer());
  const auto piece = [&](int32_t id) {
    return id < 0 ? std::string() : std::string(tokenizer->Piece(id));
  };
  OrderedJson context = {{"messages", OrderedJson::array()},
                         {"add_generation_prompt", true},
                         {"bos_token", piece(tokenizer->special().bos)},
                         {"eos_token", piece(tokenizer->special().eos)}};
  for (const ChatMessage& message : messages)
    context["messages"].push_back({{"role", message.role}, {"content", message.content}});
  return RenderChatTemplate(state_->om->chat_template, context);
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("not enough memory for the prompt");
}

}  // namespace tboost
