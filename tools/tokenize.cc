// tboost tokenize and detokenize: text to token ids and back.
#include "src/compile/compile.h"
#include "src/compile/tokenizer.h"
#include "src/text/tokenizer/tokenizer.h"
#include "tools/command.h"
#include "tools/common.h"

namespace tboost {
namespace {

struct Flags {
  std::string model, input = "-";
  bool no_special = false, plain = false, json = false, keep_special = false;
};

// The model's tokenizer, without its weights.
Result<Tokenizer> OpenTokenizer(const std::string& path) {
  std::string blob;
  if (IsOmFile(path)) {
    TBOOST_ASSIGN_OR_RETURN(const OmReader reader, OmReader::Open(path));
    if (reader.Has(kTokenizerSection)) {
      TBOOST_ASSIGN_OR_RETURN(blob, reader.Section(kTokenizerSection));
    }
  } else {
    TBOOST_ASSIGN_OR_RETURN(const ImportedModel model, ImportModel(path, {}));
    TBOOST_ASSIGN_OR_RETURN(blob, BuildTokenizer(model));
  }
  if (blob.empty()) return NotFoundError("{}: the model came without a tokenizer", path);
  return Tokenizer::Own(std::move(blob));
}

Status RunTokenize(const Flags& flags) {
  TBOOST_ASSIGN_OR_RETURN(const Tokenizer tokenizer, OpenTokenizer(flags.model));
  TBOOST_ASSIGN_OR_RETURN(const std::string text, ReadInput(flags.input));
  TBOOST_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                          tokenizer.Encode(text, {.add_special_tokens = !flags.no_special,
                                                  .parse_special = !flags.plain,
                                                  .max_length = 0}));
  if (!flags.json) {
    Print(fmt::format("{}\n", fmt::join(ids, ",")));
    return OkStatus();
  }
  OrderedJson pieces = OrderedJson::array();
  for (int32_t id : ids) pieces.push_back(std::string(tokenizer.Piece(id)));
  PrintJson({{"ids", ids}, {"pieces", pieces}});
  return OkStatus();
}

Status RunDetokenize(const Flags& flags) {
  TBOOST_ASSIGN_OR_RETURN(const Tokenizer tokenizer, OpenTokenizer(flags.model));
  std::string text = flags.input;
  if (text == "-") {
    TBOOST_ASSIGN_OR_RETURN(text, ReadInput("-"));
  }
  TBOOST_ASSIGN_OR_RETURN(const std::vector<int32_t> ids, ParseIds(text));
  TBOOST_ASSIGN_OR_RETURN(const std::string decoded, tokenizer.Decode(ids, !flags.keep_special));
  Print(decoded);
  return OkStatus();
}

std::shared_ptr<Flags> AddModel(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("MODEL", flags->model, "An .om file, a .gguf file or a Hugging Face folder")
      ->required()
      ->type_name("");
  return flags;
}

Action SetupTokenize(CLI::App& app) {
  auto flags = AddModel(app);
  app.add_option("FILE", flags->input, "The text, a whole file; \"-\" or none: standard input")
      ->type_name("");
  app.add_flag("--no-special", flags->no_special, "Add no special tokens around the text");
  app.add_flag("--plain", flags->plain, "Special tokens spelt out in the text are text");
  app.add_flag("--json", flags->json, "Print ids and pieces as one JSON object");
  return [flags] { return RunTokenize(*flags); };
}

Action SetupDetokenize(CLI::App& app) {
  auto flags = AddModel(app);
  app.add_option("IDS", flags->input, "Token ids, as 1,2,3; \"-\" or none: standard input")
      ->type_name("");
  app.add_flag("--special", flags->keep_special, "Print special tokens too");
  return [flags] { return RunDetokenize(*flags); };
}

}  // namespace

const Command kTokenizeCommand = {"tokenize", "Turn text into token ids",
                                  "  tboost tokenize smollm2.om prompt.txt\n"
                                  "  echo -n \"Hello world\" | tboost tokenize smollm2.om --json\n",
                                  SetupTokenize};

const Command kDetokenizeCommand = {
    "detokenize", "Turn token ids into text",
    "  tboost detokenize smollm2.om 19556,905\n"
    "  tboost tokenize smollm2.om a.txt | tboost detokenize smollm2.om\n",
    SetupDetokenize};

}  // namespace tboost
