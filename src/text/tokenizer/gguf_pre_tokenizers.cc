#include "src/text/tokenizer/gguf_pre_tokenizers.h"

#include <string>

namespace tboost {
namespace {

#define TBOOST_GPT2 R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"
#define TBOOST_SUFFIX R"((?i:'s|'t|'re|'ve|'m|'ll|'d))"
#define TBOOST_UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define TBOOST_LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define TBOOST_SPACES R"(\s*[\r\n]+|\s+(?!\S)|\s+)"

constexpr std::string_view kGpt2[] = {TBOOST_GPT2};
constexpr std::string_view kDigitsGpt2[] = {R"(\p{N})", TBOOST_GPT2};
constexpr std::string_view kDefault[] = {R"([\p{P}\$\+<=>\^~\|]+)", TBOOST_GPT2, R"(\p{N}+)",
                                         "[0-9][0-9][0-9]"};
constexpr std::string_view kFalcon[] = {R"([\p{P}\$\+<=>\^~\|`]+)", TBOOST_GPT2, "[0-9][0-9][0-9]"};
constexpr std::string_view kLlama3[] = {
    TBOOST_SUFFIX
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" TBOOST_SPACES};
constexpr std::string_view kQwen2[] = {
    TBOOST_SUFFIX R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" TBOOST_SPACES};
constexpr std::string_view kTekken[] = {R"([^\r\n\p{L}\p{N}]?)" TBOOST_UPPER "*" TBOOST_LOWER
                                        R"(+|[^\r\n\p{L}\p{N}]?)" TBOOST_UPPER "+" TBOOST_LOWER
                                        R"(*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" TBOOST_SPACES};
constexpr std::string_view kGpt4o[] = {R"([^\r\n\p{L}\p{N}]?)" TBOOST_UPPER "*" TBOOST_LOWER
                                       "+" TBOOST_SUFFIX R"(?|[^\r\n\p{L}\p{N}]?)" TBOOST_UPPER
                                       "+" TBOOST_LOWER "*" TBOOST_SUFFIX
                                       R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" TBOOST_SPACES};
constexpr std::string_view kDeepseekCoder[] = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                                               "[一-龥ࠀ-一가-퟿]+", R"(\p{N})"};
constexpr std::string_view kDeepseekV3[] = {
    R"(\p{N}{1,3})", "[一-龥぀-ゟ゠-ヿ]+",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*|)" TBOOST_SPACES};
constexpr std::string_view kBloom[] = {R"( ?[^(\s|.,!?…。，、।۔،)]+)"};

#undef TBOOST_GPT2
#undef TBOOST_SUFFIX
#undef TBOOST_UPPER
#undef TBOOST_LOWER
#undef TBOOST_SPACES

constexpr GgufPreTokenizer kTable[] = {
    {" default ", kDefault},
    {" gpt-2 phi-2 mpt olmo jais jina-es jina-de jina-v2-code roberta-bpe ", kGpt2},
    {" smollm starcoder refact command-r codeshell ", kDigitsGpt2},
    {" falcon ", kFalcon},
    {" llama-bpe llama3 llama-v3 falcon3 ", kLlama3, true, true},
    {" dbrx smaug-bpe ", kLlama3},
    {" qwen2 deepseek-r1-qwen megrez ", kQwen2, false, false, "NFC"},
    {" stablelm2 ", kQwen2},
    {" tekken ", kTekken, true, true},
    {" gpt-4o llama4 ", kGpt4o},
    {" deepseek-coder ", kDeepseekCoder},
    {" deepseek-v3 ", kDeepseekV3},
    {" bloom poro-chat gpt3-finnish ", kBloom},
};

}  // namespace

const GgufPreTokenizer* FindGgufPreTokenizer(std::string_view name) {
  if (name.empty() || name.find(' ') != name.npos) return nullptr;
  const std::string word = " " + std::string(name) + " ";
  for (const GgufPreTokenizer& entry : kTable) {
    if (entry.names.find(word) != entry.names.npos) return &entry;
  }
  return nullptr;
}

}  // namespace tboost
