#include "src/plan/om_model.h"

#include <algorithm>

#include "src/base/checked.h"
#include "src/graph/recipe_builders.h"
#include "src/graph/recipe_eval.h"
#include "src/tensor/panel.h"

namespace tboost {
namespace {

constexpr uint64_t kConstantAlignment = 64;
constexpr uint64_t kStripeBytes = uint64_t{256} << 10;

// Writes constants one after the other, each in stripes of a quarter of a mebibyte of rows.
class WeightsWriter {
 public:
  WeightsWriter(OmWriter& writer, Graph& graph, const std::vector<MappedFile>& sources,
                const Progress& progress)
      : writer_(writer), graph_(graph), sources_(sources), progress_(progress) {}

  Status Run() {
    for (ValueId id = 0; id < graph_.values().size(); ++id) {
      if (!graph_.value(id).constant) continue;
      TBOOST_ASSIGN_OR_RETURN(const ConstantForm form, FormOfConstant(graph_, id));
      TBOOST_ASSIGN_OR_RETURN(const uint64_t bytes, StoredBytes(*graph_.value(id).constant, form));
      total_ += bytes;
    }
    TBOOST_RETURN_IF_ERROR(writer_.BeginSection(kWeightsSection, kOmPageAlignment));
    for (ValueId id = 0; id < graph_.values().size(); ++id)
      if (graph_.value(id).constant) TBOOST_RETURN_IF_ERROR(WriteConstant(id));
    return writer_.EndSection();
  }

 private:
  Status WriteConstant(ValueId id) {
    const RecipePtr recipe = graph_.value(id).constant;
    TBOOST_ASSIGN_OR_RETURN(const ConstantForm form, FormOfConstant(graph_, id));
    TBOOST_RETURN_IF_ERROR(
        Append(std::string(RoundUp(offset_, kConstantAlignment) - offset_, '\0'), 0));
    const uint64_t start = offset_;
    const uint64_t row_bytes =
        std::max<uint64_t>(1, RowBytes(recipe->dtype, recipe->columns).value_or(1));
    const int64_t stripe = static_cast<int64_t>(
        std::max<uint64_t>(1, kStripeBytes / row_bytes / kPanelColumns) * kPanelColumns);
    for (int64_t row = 0; row < recipe->rows; row += stripe) {
      const int64_t rows = std::min(stripe, recipe->rows - row);
      TBOOST_RETURN_IF_ERROR(WriteRows(*recipe, form, row, rows));
      ReleaseSources();
    }
    TBOOST_ASSIGN_OR_RETURN(RecipePtr stored,
                            FileRecipe(0, start, recipe->dtype, recipe->rows, recipe->columns));
    graph_.SetConstant(id, std::move(stored));
    return OkStatus();
  }

  Result<std::string_view> Read(int file, uint64_t offset, uint64_t bytes) const {
    if (file < 0 || file >= static_cast<int>(sources_.size()) ||
        !InRange(offset, bytes, sources_[file].bytes().size()))
      return CorruptError("a constant lies at offset {} of source file {}, outside it", offset,
                          file);
    return sources_[file].bytes().substr(offset, bytes);
  }

  Status WriteRows(const Recipe& recipe, ConstantForm form, int64_t row, int64_t rows) {
    std::string memory;
    const auto read = [this](int file, uint64_t offset, uint64_t size) {
      return Read(file, offset, size);
    };
    TBOOST_ASSIGN_OR_RETURN(const std::string_view bytes,
                            EvaluateRecipeRows(recipe, row, rows, read, memory));
    if (form == ConstantForm::kRows) return Append(bytes, bytes.size());
    const auto packed = PackedBytes(recipe.dtype, rows, recipe.columns);
    TBOOST_CHECK(packed.has_value());
    panels_.resize(*packed);
    PackPanels(recipe.dtype, bytes.data(), rows, recipe.columns, panels_.data());
    return Append(panels_, panels_.size());
  }

  Status Append(std::string_view bytes, uint64_t done) {
    offset_ += bytes.size();
    done_ += done;
    if (progress_ && done && !progress_(done_, total_)) return CancelledError("stopped on request");
    return writer_.Append(bytes);
  }

  // What was read is not needed again, nor what the system mapped around it: no tensor ever lies in
  // memory twice.
  void ReleaseSources() const {
    for (const MappedFile& file : sources_) file.Release(0, file.bytes().size());
  }

  OmWriter& writer_;
  Graph& graph_;
  const std::vector<MappedFile>& sources_;
  const Progress& progress_;
  std::string panels_;
  uint64_t offset_ = 0, done_ = 0, total_ = 0;
};

}  // namespace

Status WriteWeights(OmWriter& writer, Graph& graph, const std::vector<MappedFile>& sources,
                    const Progress& progress) {
  return WeightsWriter(writer, graph, sources, progress).Run();
}

Result<std::unique_ptr<OmModel>> LoadOmModel(OmReader reader, const OpRegistry& ops,
                                             std::string_view name) {
  auto model = std::make_unique<OmModel>(OmModel{std::move(reader), {}, {}, {}, {}, {}, {}});
  TBOOST_ASSIGN_OR_RETURN(const std::string_view manifest, model->reader.Section(kManifestSection));
  TBOOST_ASSIGN_OR_RETURN(model->manifest, ParseJson(manifest, fmt::format("{}: manifest", name)));
  TBOOST_ASSIGN_OR_RETURN(model->tiles, ReadTileHints(model->manifest, name));
  TBOOST_ASSIGN_OR_RETURN(model->weights, model->reader.Section(kWeightsSection));
  TBOOST_ASSIGN_OR_RETURN(const std::string_view text, model->reader.Section(kGraphSection));
  Result<Graph> graph = ParseGraph(text, ops);
  TBOOST_RETURN_IF_ERROR(FaultOfFile(graph.status(), fmt::format("{}: graph", name)));
  Result<Program> program = PlanProgram(*std::move(graph), model->weights.size());
  TBOOST_RETURN_IF_ERROR(FaultOfFile(program.status(), name));
  model->program = *std::move(program);
  if (model->reader.Has(kTokenizerSection)) {
    TBOOST_ASSIGN_OR_RETURN(model->tokenizer, model->reader.Section(kTokenizerSection));
  }
  if (model->reader.Has(kChatTemplateSection)) {
    TBOOST_ASSIGN_OR_RETURN(model->chat_template, model->reader.Section(kChatTemplateSection));
  }
  return model;
}

}  // namespace tboost
