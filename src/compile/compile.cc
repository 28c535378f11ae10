#include "src/compile/compile.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <new>

#include "src/base/cpu_features.h"
#include "src/base/memory_usage.h"
#include "src/compile/tokenizer.h"
#include "src/formats/om/layout.h"
#include "src/import/import_model.h"
#include "src/passes/pipeline.h"
#include "src/passes/precision.h"
#include "src/passes/round_products.h"

namespace tboost {
namespace {

// What the sources were, so that an .om can be told from one made of other weights.
Json DescribeSources(const ImportedModel& model) {
  Json sources = Json::array();
  for (const MappedFile& file : model.weights().files()) {
    const std::string name = file.path().substr(file.path().find_last_of('/') + 1);
    sources.push_back({{"file", name}, {"bytes", file.bytes().size()}});
  }
  return sources;
}

// What each pass changed, and the candidates that it left with the first mismatch.
Json DescribePasses(const OptimizeReport& report) {
  Json passes = Json::array();
  for (const PassRun& run : report.runs) {
    Json missed = Json::array();
    for (const Missed& miss : run.report.missed)
      missed.push_back({{"node", miss.node}, {"reason", miss.reason}});
    passes.push_back({{"pass", run.name},
                      {"milliseconds", run.milliseconds},
                      {"changes", run.report.changes},
                      {"missed", std::move(missed)}});
  }
  return {{"passes", std::move(passes)}};
}

// What QuantizeProducts did.
Json DescribePrecision(const PrecisionReport& report, DType format) {
  Json kept = Json::array();
  for (const Missed& product : report.kept)
    kept.push_back({{"node", product.node}, {"reason", product.reason}});
  return {{"format", DTypeName(format)}, {"largest_code", Info(format).largest_code},
          {"products", report.products}, {"kept", std::move(kept)},
          {"tokens", kPrecisionTokens},  {"share_of_operations", report.share}};
}

Json Manifest(const ImportedModel& model, const CompileOptions& options, Json report) {
  return {{"tboost_version", TBOOST_VERSION},
          {"architecture", model.architecture},
          {"model_type", model.config.model_type},
          {"generates", model.generates},
          {"vocab_size", model.config.vocab_size},
          {"hidden_size", model.config.hidden_size},
          {"num_hidden_layers", model.config.num_hidden_layers},
          {"num_attention_heads", model.config.num_attention_heads},
          {"num_key_value_heads", model.config.num_key_value_heads},
          {"head_dim", model.config.head_dim},
          {"context_length", model.settings.at("context_length")},
          {"settings", model.settings},
          {"sources", DescribeSources(model)},
          {"options",
           {{"dtype", options.dtype ? std::string(DTypeName(*options.dtype)) : "keep"},
            {"optimization_level", options.optimization_level},
            {"disabled_passes", options.disabled_passes},
            {"keep", options.keep}}},
          {"report", std::move(report)}};
}

std::string ManifestText(const Json& manifest) {
  return manifest.dump(1, ' ', false, Json::error_handler_t::replace);
}

// The model's own context, or less where that is asked for.
Status LimitContext(ImportedModel& model, int64_t max_context) {
  const auto own = model.settings.at("context_length").get<int64_t>();
  if (max_context < 0 || max_context > own)
    return OutOfRangeError("{}: max-context is {}, expected 1 to {}", model.path, max_context, own);
  if (max_context == 0) return OkStatus();
  model.settings["context_length"] = max_context;
  if (!model.generates) {
    Json& max_length = model.settings["embedding"]["max_length"];
    max_length = std::min(max_context, max_length.get<int64_t>());
  }
  return OkStatus();
}

Status KeepValues(Graph& graph, const std::vector<std::string>& names, std::string_view file) {
  for (const std::string& name : names) {
    const ValueId value = graph.FindValue(name);
    if (value == kNone || graph.value(value).type.kind != ValueType::Kind::kTensor ||
        graph.value(value).constant)
      return NotFoundError("{}: the graph has no value {} to keep", file, name);
    graph.MarkOutput(name, value);
  }
  return OkStatus();
}

// First of all and in a scope of its own: a vocabulary's tables are as large as a small model's
// layers.
Status WriteTokenizer(const ImportedModel& model, OmWriter& writer) {
  {
    TBOOST_ASSIGN_OR_RETURN(const std::string tokenizer, BuildTokenizer(model));
    if (!tokenizer.empty()) TBOOST_RETURN_IF_ERROR(writer.AddSection(kTokenizerSection, tokenizer));
  }
  ReturnFreeMemory();
  return OkStatus();
}

Result<Json> Compile(const std::string& path, OmWriter& writer, const CompileOptions& options) {
  const bool int8 = options.dtype && Info(*options.dtype).row_bytes > 0;
  TBOOST_ASSIGN_OR_RETURN(ImportedModel model,
                          ImportModel(path, {.matrix_dtype = int8 ? std::nullopt : options.dtype}));
  TBOOST_RETURN_IF_ERROR(LimitContext(model, options.max_context));
  TBOOST_RETURN_IF_ERROR(KeepValues(model.graph, options.keep, path));
  TBOOST_RETURN_IF_ERROR(WriteTokenizer(model, writer));
  TBOOST_RETURN_IF_ERROR(model.graph.Compact());
  const std::string source_graph = ToText(model.graph);

  // First: fusions know which products are in int8.
  PrecisionReport precision;
  if (int8) {
    TBOOST_ASSIGN_OR_RETURN(precision, QuantizeProducts(model.graph, *options.dtype));
  }
  OptimizeOptions optimize;
  optimize.level = options.optimization_level;
  optimize.disabled = options.disabled_passes;
  TBOOST_ASSIGN_OR_RETURN(const OptimizeReport report, Optimize(model.graph, optimize));
  if (options.dtype == DType::kBF16) TBOOST_RETURN_IF_ERROR(RoundProducts(model.graph).status());
  Json description = DescribePasses(report);
  if (int8) description["precision"] = DescribePrecision(precision, *options.dtype);
  TBOOST_RETURN_IF_ERROR(
      WriteWeights(writer, model.graph, model.weights().files(), options.progress));
  const Json manifest = Manifest(model, options, std::move(description));
  const std::pair<std::string_view, std::string> sections[] = {
      {kManifestSection, ManifestText(manifest)},
      {kSourceGraphSection, source_graph},
      {kGraphSection, ToText(model.graph)},
      {kChatTemplateSection, model.chat_template}};
  for (const auto& [name, bytes] : sections)
    if (!bytes.empty()) TBOOST_RETURN_IF_ERROR(writer.AddSection(name, bytes));
  return manifest;
}

}  // namespace

Result<std::optional<DType>> ParseDTypeOption(std::string_view name) {
  if (std::ranges::find(kDTypeOptions, name) == std::ranges::end(kDTypeOptions))
    return InvalidArgumentError("dtype \"{}\", expected one of {}", name,
                                fmt::join(kDTypeOptions, ", "));
  std::optional<DType> dtype;
  if (name != "keep") dtype = DTypeFromName(name);
  if (dtype == DType::kInt8) {
    TBOOST_ASSIGN_OR_RETURN(const Isa isa, SelectedIsa());
    if (!HasVnni(isa)) dtype = DType::kInt7;
  }
  return dtype;
}

Result<Json> CompileToFile(const std::string& model, const std::string& output,
                           const CompileOptions& options) try {
  TBOOST_ASSIGN_OR_RETURN(OmWriter writer, OmWriter::Create(output));
  TBOOST_ASSIGN_OR_RETURN(Json manifest, Compile(model, writer, options));
  TBOOST_RETURN_IF_ERROR(writer.Finish());
  return manifest;
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("{}: not enough memory to compile it", model);
}

Result<OmReader> CompileToMemory(const std::string& model, const CompileOptions& options) {
  MemoryImage image;
  {
    TBOOST_ASSIGN_OR_RETURN(OmWriter writer, OmWriter::ToMemory(&image));
    TBOOST_RETURN_IF_ERROR(Compile(model, writer, options).status());
    TBOOST_RETURN_IF_ERROR(writer.Finish());
  }
  return OmReader::FromMemory(std::move(image));
}

Result<Json> StoreTileHints(const std::string& path, const TileHints& hints) {
  TBOOST_ASSIGN_OR_RETURN(const OmReader reader, OmReader::Open(path));
  TBOOST_ASSIGN_OR_RETURN(const std::string_view text, reader.Section(kManifestSection));
  TBOOST_ASSIGN_OR_RETURN(Json manifest, ParseJson(text, path));
  manifest["tiles"] = TileHintsToJson(hints);
  TBOOST_ASSIGN_OR_RETURN(OmWriter writer, OmWriter::Create(path));
  for (const OmSection& section : reader.sections()) {
    TBOOST_ASSIGN_OR_RETURN(const std::string_view bytes, reader.Section(section.name));
    TBOOST_RETURN_IF_ERROR(
        section.name == kManifestSection
            ? writer.AddSection(section.name, ManifestText(manifest))
            : writer.AddSection(section.name, bytes,
                                section.name == kWeightsSection ? kOmPageAlignment : kOmAlignment));
    reader.Release(section.offset, section.size);
  }
  TBOOST_RETURN_IF_ERROR(writer.Finish());
  return manifest;
}

bool IsOmFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char magic[sizeof(om::kMagic)] = {};
  return file.read(magic, sizeof(magic)) &&
         std::equal(std::begin(magic), std::end(magic), om::kMagic);
}

}  // namespace tboost
