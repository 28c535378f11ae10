// tboost run: raw tensors in and out of a model.
#include <filesystem>

#include "src/formats/npy/npy.h"
#include "tools/command.h"
#include "tools/common.h"
#include "tools/raw_run.h"

namespace tboost {
namespace {

struct Flags {
  ModelFlags model;
  std::vector<std::string> inputs, outputs, keep;
};

// "name=value", or `value` under a name of its own.
std::pair<std::string, std::string> NameAndValue(const std::string& text, const std::string& name) {
  const size_t equals = text.find('=');
  if (equals == text.npos) return {name, text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// Integers of any of the widths that files have; shape [tokens] or [batch, seq].
Status ReadIntegers(const std::string& path, std::vector<int32_t>& values, Shape& shape) {
  TBOOST_ASSIGN_OR_RETURN(const NpyArray array, ReadNpy(path));
  if (array.dtype != DType::kI32 && array.dtype != DType::kI64)
    return UnsupportedError("{}: {} elements, expected i32 or i64", path, DTypeName(array.dtype));
  shape = array.shape;
  const auto count = static_cast<size_t>(shape.elements());
  values.resize(count);
  for (size_t i = 0; i < count; ++i) {
    int64_t wide = 0;
    if (array.dtype == DType::kI32) {
      wide = reinterpret_cast<const int32_t*>(array.data.data())[i];
    } else {
      wide = reinterpret_cast<const int64_t*>(array.data.data())[i];
    }
    values[i] = static_cast<int32_t>(wide);
    if (values[i] != wide) return OutOfRangeError("{}: element {} is {}", path, i, wide);
  }
  return OkStatus();
}

Result<RawInputs> ReadInputs(const Flags& flags) {
  RawInputs inputs;
  Shape types;
  for (const std::string& text : flags.inputs) {
    const auto [name, path] = NameAndValue(text, "input_ids");
    if (name == "input_ids") {
      TBOOST_RETURN_IF_ERROR(ReadIntegers(path, inputs.ids, inputs.shape));
    } else if (name == "token_type_ids") {
      TBOOST_RETURN_IF_ERROR(ReadIntegers(path, inputs.token_types, types));
    } else {
      return InvalidArgumentError("no input is named {}; there are input_ids, token_type_ids",
                                  name);
    }
  }
  if (inputs.shape.rank() < 1 || inputs.shape.rank() > 2)
    return OutOfRangeError("input_ids has the shape {}, expected [tokens] or [batch, seq]",
                           inputs.shape.ToString());
  if (!inputs.token_types.empty() && types != inputs.shape)
    return OutOfRangeError("token_type_ids has the shape {}, input_ids {}", types.ToString(),
                           inputs.shape.ToString());
  return inputs;
}

// Where outputs go: into files by name, and the others into a folder or, where it is empty,
// nowhere.
struct Destination {
  std::string folder;
  std::vector<std::pair<std::string, std::string>> files;
};

Destination ParseOutputs(const std::vector<std::string>& outputs) {
  Destination destination;
  for (const std::string& text : outputs) {
    if (text.find('=') == text.npos) {
      destination.folder = text;
    } else {
      destination.files.push_back(NameAndValue(text, ""));
    }
  }
  if (outputs.empty()) destination.folder = ".";
  return destination;
}

// Empty: the output is not wanted.
Result<std::string> PathFor(const Destination& destination, const std::string& name) {
  for (const auto& [output, path] : destination.files)
    if (output == name) return path;
  if (destination.folder.empty()) return std::string();
  std::string file = name;
  std::replace(file.begin(), file.end(), '/', '_');
  std::error_code error;
  std::filesystem::create_directories(destination.folder, error);
  if (error)
    return IoError("{}: cannot create the folder: {}", destination.folder, error.message());
  return fmt::format("{}/{}.npy", destination.folder, file);
}

Status WriteOutput(const std::string& path, const RawOutput& output) {
  const Shape row(std::span<const int64_t>(output.shape.begin() + 1, output.shape.end()));
  TBOOST_ASSIGN_OR_RETURN(NpyWriter writer, NpyWriter::Create(path, output.dtype, row));
  TBOOST_RETURN_IF_ERROR(writer.Append(output.data));
  return writer.Finish();
}

Status Run(Flags& flags) {
  TBOOST_ASSIGN_OR_RETURN(const RawInputs inputs, ReadInputs(flags));
  const Destination destination = ParseOutputs(flags.outputs);
  TBOOST_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(flags.model));
  TBOOST_ASSIGN_OR_RETURN(const std::vector<RawOutput> outputs,
                          RunRaw(*loaded.model, inputs, flags.keep));
  for (const auto& [name, path] : destination.files) {
    const auto same = [&, n = name](const RawOutput& output) { return output.name == n; };
    if (std::none_of(outputs.begin(), outputs.end(), same))
      return InvalidArgumentError("no output is named {} (for {})", name, path);
  }
  for (const RawOutput& output : outputs) {
    TBOOST_ASSIGN_OR_RETURN(const std::string path, PathFor(destination, output.name));
    if (path.empty()) continue;
    TBOOST_RETURN_IF_ERROR(WriteOutput(path, output));
    Print(fmt::format("{}: {} {} {}\n", path, output.name, DTypeName(output.dtype),
                      output.shape.ToString()));
  }
  return OkStatus();
}

Action Setup(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  AddModelFlags(app, flags->model);
  app.add_option("-i,--input", flags->inputs,
                 "An .npy file for an input, input_ids without a name (may be repeated)")
      ->required()
      ->allow_extra_args(false)
      ->type_name("[NAME=]FILE");
  app.add_option("-o,--output", flags->outputs,
                 "The folder for the outputs, or a file for one of them (may be repeated)")
      ->allow_extra_args(false)
      ->type_name("DIR|NAME=FILE");
  app.add_option("--keep", flags->keep,
                 "Write this value of the optimised graph too (may be repeated)")
      ->allow_extra_args(false)
      ->type_name("NAME");
  return [flags] { return Run(*flags); };
}

}  // namespace

const Command kRunCommand = {
    "run", "Run a model on raw tensors",
    "  tboost run smollm2.om --input ids.npy --output logits=logits.npy\n"
    "  tboost run minilm.om -i input_ids=ids.npy -i token_type_ids=types.npy -o out\n"
    "  tboost run minilm.om -i ids.npy -o out --keep encoder.layer.0.output.dense\n",
    Setup};

}  // namespace tboost
