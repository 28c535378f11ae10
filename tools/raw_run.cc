#include "tools/raw_run.h"

#include <algorithm>
#include <numeric>

#include "src/base/status.h"
#include "src/generate/model_state.h"
#include "tools/signals.h"

namespace tboost {
namespace {

// Tokens of one step of a language model: bounds the logits held at a time.
constexpr size_t kChunk = 128;

// Single-character edits that turn one text into the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

bool IsVisible(const Value& value) {
  return value.type.kind == ValueType::Kind::kTensor && !value.constant;
}

Status NoSuchValue(const Graph& graph, const std::string& name) {
  std::vector<std::pair<size_t, std::string>> close;
  for (const Value& value : graph.values())
    if (IsVisible(value)) close.emplace_back(EditDistance(name, value.name), value.name);
  const size_t shown = std::min<size_t>(5, close.size());
  std::partial_sort(close.begin(), close.begin() + static_cast<ptrdiff_t>(shown), close.end());
  std::string list;
  for (size_t i = 0; i < shown; ++i) list += fmt::format("\n  {}", close[i].second);
  return InvalidArgumentError("the optimised graph has no value {}; the closest names are{}", name,
                              list);
}

// The model's program, planned again with the values of `keep` as outputs.
Result<Program> ProgramThatKeeps(const OmModel& om, const std::vector<std::string>& keep) {
  Graph graph = om.program.graph;
  for (const std::string& name : keep) {
    const ValueId value = graph.FindValue(name);
    if (value == kNone || !IsVisible(graph.value(value))) return NoSuchValue(graph, name);
    if (!graph.IsOutput(value)) graph.MarkOutput(name, value);
  }
  return PlanProgram(std::move(graph), om.weights.size());
}

// Appends the rows of a view, which may lie apart.
void AppendRows(const TensorView& view, std::string& out) {
  const auto element = static_cast<size_t>(Info(view.dtype).block_bytes);
  const size_t width = static_cast<size_t>(view.shape.rank() ? view.shape.back() : 1) * element;
  const char* data = view.as<const char>();
  for (int64_t i = 0; i < view.rows(); ++i)
    out.append(data + static_cast<size_t>(i * view.stride()) * element, width);
}

class RawRunner {
 public:
  RawRunner(const Model& model, const Program& program)
      : state_(model.state()),
        program_(program),
        executor_(*state_.runtime, program, state_.om->weights.data(),
                  state_.kv_pool ? &*state_.kv_pool : nullptr) {
    for (const auto& [name, value] : program.graph.outputs())
      if (program.graph.value(value).type.kind == ValueType::Kind::kTensor)
        outputs_.push_back({name, program.graph.value(value).type.dtype, {}, {}});
  }

  Status Sequence(std::span<const int32_t> ids, std::span<const int32_t> types) {
    if (static_cast<int64_t>(ids.size()) > state_.context_length)
      return OutOfRangeError("a sequence has {} tokens, the model takes {}", ids.size(),
                             state_.context_length);
    for (int32_t id : ids)
      if (id < 0 || id >= state_.vocab_size)
        return OutOfRangeError("token id {} is outside the vocabulary (0 to {})", id,
                               state_.vocab_size - 1);
    for (int32_t type : types)
      if (type < 0 || type > 1) return OutOfRangeError("token type {}, expected 0 or 1", type);
    KvSequence kv;
    const size_t chunk = state_.kv_pool ? kChunk : ids.size();
    Status status;
    for (size_t first = 0; first < ids.size() && status.ok(); first += chunk) {
      const size_t count = std::min(chunk, ids.size() - first);
      status =
          Step(ids.subspan(first, count), types.empty() ? types : types.subspan(first, count), kv);
    }
    if (state_.kv_pool) state_.kv_pool->Truncate(kv, 0);
    return status;
  }

  // The outputs so far, shaped like the ids they come from.
  std::vector<RawOutput> Take(const Shape& ids) {
    for (RawOutput& output : outputs_) SetShape(output, ids);
    return std::move(outputs_);
  }

 private:
  Status Step(std::span<const int32_t> ids, std::span<const int32_t> types, KvSequence& kv) {
    if (state_.kv_pool)
      TBOOST_RETURN_IF_ERROR(state_.kv_pool->Reserve(kv, static_cast<int64_t>(ids.size())));
    std::vector<int32_t> rows(state_.generates ? ids.size() : 0);
    std::iota(rows.begin(), rows.end(), 0);
    const SequenceStep sequence{ids, state_.kv_pool ? &kv : nullptr};
    StepInputs inputs;
    inputs.sequences = {&sequence, 1};
    inputs.token_type_ids = types;
    inputs.output_rows = rows;
    inputs.cancel = &Interrupted();
    return executor_.Run(inputs, [&](const Executor::Outputs& step) {
      for (RawOutput& output : outputs_) AppendRows(step.Get(output.name), output.data);
      return OkStatus();
    });
  }

  void SetShape(RawOutput& output, const Shape& ids) const {
    const Graph& graph = program_.graph;
    const ValueId value =
        std::find_if(graph.outputs().begin(), graph.outputs().end(), [&](const auto& o) {
          return o.first == output.name;
        })->second;
    const std::vector<Dim>& dims = graph.value(value).type.shape;
    const SymbolValues one = StepShape{1, 1, 1}.Symbols();
    int64_t row_elements = 1;
    Shape row;
    for (size_t i = 1; i < dims.size(); ++i) {
      const Result<int64_t> size = dims[i].Evaluate(one);
      row.push_back(size.ok() ? *size : 1);
      row_elements *= row.back();
    }
    const int64_t rows =
        static_cast<int64_t>(output.data.size()) / row_elements / Info(output.dtype).block_bytes;
    const bool per_token =
        rows == ids.elements() && !dims.empty() && dims[0].ToString() != "sequences";
    if (per_token && ids.rank() == 2) {
      output.shape = ids;
    } else {
      output.shape = {rows};
    }
    for (int64_t size : row) output.shape.push_back(size);
  }

  Model::State& state_;
  const Program& program_;
  Executor executor_;
  std::vector<RawOutput> outputs_;
};

}  // namespace

Result<std::vector<RawOutput>> RunRaw(const Model& model, const RawInputs& inputs,
                                      const std::vector<std::string>& keep) {
  TBOOST_ASSIGN_OR_RETURN(const Program program, ProgramThatKeeps(*model.state().om, keep));
  RawRunner runner(model, program);
  const auto length = static_cast<size_t>(inputs.shape.back());
  if (length == 0) return OutOfRangeError("input_ids has the shape {}", inputs.shape.ToString());
  const std::span<const int32_t> ids(inputs.ids), types(inputs.token_types);
  for (size_t start = 0; start < ids.size(); start += length)
    TBOOST_RETURN_IF_ERROR(runner.Sequence(ids.subspan(start, length),
                                           types.empty() ? types : types.subspan(start, length)));
  return runner.Take(inputs.shape);
}

}  // namespace tboost
