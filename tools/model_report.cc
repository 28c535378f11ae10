#include "tools/model_report.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace tboost {
namespace {

// A list member of `object`, empty where there is none.
const Json& List(const Json& object, const char* key) {
  static const Json empty = Json::array();
  return object.is_object() && object.contains(key) && object.at(key).is_array() ? object.at(key)
                                                                                 : empty;
}
std::string Text(const Json& object, const char* key) {
  Result<std::string> text = object.is_object() ? JsonGet<std::string>(object, key, "", "manifest")
                                                : Result<std::string>(std::string());
  return text.ok() ? *std::move(text) : std::string();
}
int64_t Integer(const Json& object, const char* key) {
  const Result<int64_t> number = object.is_object() ? JsonGet<int64_t>(object, key, 0, "manifest")
                                                    : Result<int64_t>(int64_t{0});
  return number.ok() ? *number : 0;
}

const Json& Passes(const Json& manifest) {
  static const Json none;
  return List(manifest.is_object() && manifest.contains("report") ? manifest.at("report") : none,
              "passes");
}

// "model.layers.12.mlp" -> "model.layers.*.mlp"
std::string WithoutNumbers(const std::string& name) {
  std::string out;
  for (size_t i = 0; i < name.size();) {
    size_t end = i;
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end]))) ++end;
    const bool whole =
        end > i && (i == 0 || name[i - 1] == '.') && (end == name.size() || name[end] == '.');
    if (whole) {
      out += '*';
      i = end;
    } else {
      out += name[i++];
    }
  }
  return out;
}

}  // namespace

uint64_t SourceBytes(const Json& manifest) {
  uint64_t total = 0;
  for (const Json& source : List(manifest, "sources"))
    total += static_cast<uint64_t>(std::max<int64_t>(0, Integer(source, "bytes")));
  return total;
}

std::string FusionSummary(const Json& manifest) {
  std::string out;
  int64_t changes = 0;
  for (const Json& pass : Passes(manifest)) {
    const int64_t n = Integer(pass, "changes");
    changes += n;
    if (n > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", Text(pass, "pass"), n);
  }
  return fmt::format("{} passes, {} places rewritten{}{}\n", Passes(manifest).size(), changes,
                     out.empty() ? "" : ": ", out);
}

std::string PrecisionSummary(const Json& manifest) {
  static const Json none;
  const Json& report =
      manifest.is_object() && manifest.contains("report") ? manifest.at("report") : none;
  if (!report.is_object() || !report.contains("precision")) return "";
  const Json& precision = report.at("precision");
  const Result<double> share =
      precision.is_object() ? JsonGet<double>(precision, "share_of_operations", 0, "manifest")
                            : Result<double>(0.0);
  std::string out = fmt::format(
      "{}: {} products (codes -{} to {}), {:.1f} % of the operations of a sequence of {} tokens\n",
      Text(precision, "format"), Integer(precision, "products"), Integer(precision, "largest_code"),
      Integer(precision, "largest_code"), 100 * (share.ok() ? *share : 0),
      Integer(precision, "tokens"));
  for (const Json& kept : List(precision, "kept"))
    out += fmt::format("  not {}: {}\n", Text(kept, "node"), Text(kept, "reason"));
  return out;
}

std::string FusionDetails(const Json& manifest) {
  std::string out;
  for (const Json& pass : Passes(manifest)) {
    const Json& missed = List(pass, "missed");
    out += fmt::format("  {:<24} {} rewritten, {} not\n", Text(pass, "pass"),
                       Integer(pass, "changes"), missed.size());
    // The same reason in every layer is told once.
    std::map<std::pair<std::string, std::string>, int> reasons;
    for (const Json& place : missed)
      ++reasons[{WithoutNumbers(Text(place, "node")), Text(place, "reason")}];
    for (const auto& [place, count] : reasons)
      out += fmt::format("    not {}{}: {}\n", place.first,
                         count > 1 ? fmt::format(" ({} times)", count) : "", place.second);
  }
  return out;
}

std::string MemorySummary(const Model& model) {
  const MemoryPlan plan = model.memory();
  std::string out =
      fmt::format("memory to run: {} weights + {} working + {} fixed", FormatBytes(plan.weights),
                  FormatBytes(plan.arena), FormatBytes(plan.fixed));
  if (plan.kv_page > 0)
    out += fmt::format(" + {} per {} tokens of context, {} for all {}", FormatBytes(plan.kv_page),
                       plan.kv_page_tokens,
                       FormatBytes(plan.Peak(model.context_length()) - plan.Peak(0)),
                       model.context_length());
  return out + "\n";
}

OrderedJson MemoryJson(const Model& model) {
  const MemoryPlan plan = model.memory();
  return {{"weights", plan.weights},
          {"working", plan.arena},
          {"fixed", plan.fixed},
          {"kv_page", plan.kv_page},
          {"kv_page_tokens", plan.kv_page_tokens},
          {"peak_full_context", plan.Peak(model.context_length())}};
}

std::vector<TensorGroup> GroupTensors(const Program& program) {
  std::vector<TensorGroup> groups;
  std::map<std::string, size_t> index;
  for (ValueId id = 0; id < program.graph.values().size(); ++id) {
    const Value& value = program.graph.value(id);
    if (!value.constant) continue;
    TensorGroup group{WithoutNumbers(value.name),
                      fmt::format("[{}, {}]", value.constant->rows, value.constant->columns),
                      std::string(DTypeName(value.constant->dtype))};
    const auto [at, added] =
        index.emplace(fmt::format("{} {} {}", group.name, group.shape, group.dtype), groups.size());
    if (added) groups.push_back(std::move(group));
    ++groups[at->second].count;
    groups[at->second].bytes += program.values[id].constant_bytes;
  }
  return groups;
}

}  // namespace tboost
