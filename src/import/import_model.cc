#include "src/import/import_model.h"

#include <filesystem>

#include "src/import/models/builder.h"
#include "src/import/settings.h"
#include "src/ops/l2_normalize.h"
#include "src/ops/ops.h"
#include "src/ops/pool.h"

namespace tboost {
namespace {

Status ReadFiles(ImportedModel& model) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(model.path, error);
  if (!is_folder && !std::filesystem::exists(model.path, error))
    return NotFoundError("{}: no such file or folder", model.path);
  if (is_folder) {
    TBOOST_ASSIGN_OR_RETURN(model.folder, ReadHfFolder(model.path));
    TBOOST_ASSIGN_OR_RETURN(model.config,
                            ConfigFromHf(model.folder->config, model.path + "/config.json"));
  } else {
    TBOOST_ASSIGN_OR_RETURN(model.gguf, ReadGguf(model.path));
    TBOOST_ASSIGN_OR_RETURN(model.config, ConfigFromGguf(model.gguf->metadata, model.path));
  }
  return OkStatus();
}

// The embedding of a sequence as the model's own files define it, from its hidden states.
Status AddPooling(ImportedModel& model, ValueId layout) {
  Graph& graph = model.graph;
  const Json& embedding = model.settings.at("embedding");
  const std::string& pooling = embedding.at("pooling").get_ref<const std::string&>();
  Attributes attributes;
  if (pooling != "mean") attributes.Set("kind", pooling);
  TBOOST_ASSIGN_OR_RETURN(ValueId x, graph.Add(ops::Pool(), "pooling",
                                               {graph.outputs()[0].second, layout}, attributes));
  if (embedding.at("normalize").get<bool>()) {
    TBOOST_ASSIGN_OR_RETURN(x, graph.Add(ops::L2Normalize(), "normalize", {x}));
  }
  graph.MarkOutput("embedding", x);
  return OkStatus();
}

}  // namespace

Result<ImportedModel> ImportModel(const std::string& path, const ImportOptions& options) {
  ImportedModel model;
  model.path = path;
  TBOOST_RETURN_IF_ERROR(ReadFiles(model));
  TBOOST_ASSIGN_OR_RETURN(const ModelRecord* record,
                          FindModel(model.config.model_type, model.config.gguf, path));
  model.architecture = record->name;
  model.generates = record->generates;
  WeightSource weights(model.weights(), model.config.gguf, record->gguf_rules,
                       options.matrix_dtype);
  weights.ChoosePrefix(record->prefixes, record->probe);
  ModelBuilder builder(model.config, weights, model.graph);
  record->build(builder);
  TBOOST_RETURN_IF_ERROR(FaultOfFile(builder.status(), path));
  TBOOST_RETURN_IF_ERROR(ReadSettings(model));
  if (!model.generates) TBOOST_RETURN_IF_ERROR(AddPooling(model, builder.Layout()));
  return model;
}

}  // namespace tboost
