// tboost inspect: what a model is and what was made of it.
#include <map>

#include "src/compile/compile.h"
#include "src/generate/model_state.h"
#include "tools/command.h"
#include "tools/common.h"
#include "tools/model_report.h"

namespace tboost {
namespace {

struct Flags {
  ModelFlags model;
  bool graph = false, source_graph = false, verify = false, json = false;
};

struct FormatUse {
  int tensors = 0;
  uint64_t bytes = 0;
};
std::map<std::string, FormatUse> Formats(const std::vector<TensorGroup>& groups) {
  std::map<std::string, FormatUse> formats;
  for (const TensorGroup& group : groups) {
    formats[group.dtype].tensors += group.count;
    formats[group.dtype].bytes += group.bytes;
  }
  return formats;
}

OrderedJson ToJson(const Model& model, const std::vector<TensorGroup>& groups) {
  const OmModel& om = *model.state().om;
  OrderedJson json = {{"architecture", model.architecture()},
                      {"generates", model.generates()},
                      {"vocab_size", model.vocab_size()},
                      {"hidden_size", model.hidden_size()},
                      {"context_length", model.context_length()},
                      {"tokenizer", !om.tokenizer.empty()},
                      {"chat_template", model.has_chat_template()},
                      {"bytes", om.reader.size()},
                      {"sections", OrderedJson::array()},
                      {"formats", OrderedJson::object()},
                      {"tensors", OrderedJson::array()},
                      {"memory", MemoryJson(model)},
                      {"manifest", OrderedJson(om.manifest)}};
  for (const OmSection& section : om.reader.sections())
    json["sections"].push_back({{"name", section.name}, {"bytes", section.size}});
  for (const auto& [name, use] : Formats(groups))
    json["formats"][name] = {{"tensors", use.tensors}, {"bytes", use.bytes}};
  for (const TensorGroup& group : groups)
    json["tensors"].push_back({{"name", group.name},
                               {"shape", group.shape},
                               {"dtype", group.dtype},
                               {"count", group.count},
                               {"bytes", group.bytes}});
  return json;
}

void PrintText(const Model& model, const std::vector<TensorGroup>& groups) {
  const OmModel& om = *model.state().om;
  Print(fmt::format("architecture  {}, {}\n", model.architecture(),
                    model.generates() ? "generates text" : "embeds text"));
  Print(fmt::format("sizes         vocabulary {}, hidden {}, context {}\n", model.vocab_size(),
                    model.hidden_size(), model.context_length()));
  Print(fmt::format("text          {}, {}\n", om.tokenizer.empty() ? "no tokenizer" : "tokenizer",
                    model.has_chat_template() ? "chat template" : "no chat template"));
  std::vector<std::string> formats, sections;
  for (const auto& [name, use] : Formats(groups))
    formats.push_back(
        fmt::format("{} {} in {} tensors", name, FormatBytes(use.bytes), use.tensors));
  for (const OmSection& section : om.reader.sections())
    sections.push_back(fmt::format("{} {}", section.name, FormatBytes(section.size)));
  Print(fmt::format("formats       {}\n", fmt::join(formats, ", ")));
  Print(fmt::format("sections      {}\n", fmt::join(sections, ", ")));
  Print(MemorySummary(model) + "\ntensors\n");
  for (const TensorGroup& group : groups)
    Print(fmt::format("  {:<56} {:<16} {:<6} x {:<4} {:>10}\n", group.name, group.shape,
                      group.dtype, group.count, FormatBytes(group.bytes)));
  const std::string precision = PrecisionSummary(om.manifest);
  if (!precision.empty()) Print("\n" + precision);
  if (!om.tiles.products.empty())
    Print(fmt::format("\ntiles measured on {}, {}\n", om.tiles.cpu, om.tiles.isa));
  for (const TileHint& hint : om.tiles.products) Print(fmt::format("  {}\n", Describe(hint)));
  Print("\npasses\n" + FusionDetails(om.manifest));
}

Status PrintSection(const OmModel& om, std::string_view name) {
  TBOOST_ASSIGN_OR_RETURN(const std::string_view text, om.reader.Section(name));
  Print(text);
  return OkStatus();
}

Status Run(Flags& flags) {
  TBOOST_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(flags.model));
  const Model& model = *loaded.model;
  const OmModel& om = *model.state().om;
  if (flags.verify) TBOOST_RETURN_IF_ERROR(om.reader.Verify());
  if (flags.graph) return PrintSection(om, kGraphSection);
  if (flags.source_graph) return PrintSection(om, kSourceGraphSection);
  const std::vector<TensorGroup> groups = GroupTensors(om.program);
  if (flags.json) {
    PrintPrettyJson(ToJson(model, groups));
  } else {
    PrintText(model, groups);
    if (flags.verify) Print("\nall checksums agree\n");
  }
  return OkStatus();
}

Action Setup(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  AddModelFlags(app, flags->model);
  auto* graph = app.add_flag("--graph", flags->graph, "Print the optimised graph alone");
  app.add_flag("--source-graph", flags->source_graph, "Print the graph before optimisation alone")
      ->excludes(graph);
  app.add_flag("--verify", flags->verify, "Check the checksums of every section");
  app.add_flag("--json", flags->json, "Print JSON");
  return [flags] { return Run(*flags); };
}

}  // namespace

const Command kInspectCommand = {"inspect",
                                 "Show what a model is, what it takes and what was fused",
                                 "  tboost inspect smollm2.om\n"
                                 "  tboost inspect smollm2.om --verify\n"
                                 "  tboost inspect SmolLM2-135M-Instruct.Q4_1.gguf --graph\n",
                                 Setup};

}  // namespace tboost
