#include "tools/sampling_flags.h"

#include "tools/common.h"

namespace tboost {

void AddGenerateFlags(CLI::App& app, GenerateOptions& options) {
  SamplingOptions& s = options.sampling;
  const auto number = [&](const char* name, auto& value, const char* description) {
    app.add_option(name, value, description)->type_name("N")->capture_default_str();
  };
  app.add_option("-n,--max-tokens", options.max_tokens, "Stop after so many tokens")
      ->check(WholeNumber(0))
      ->type_name("N")
      ->capture_default_str();
  number("--temperature", s.temperature, "0: always the likeliest token; higher: more varied");
  number("--top-k", s.top_k, "Only the N likeliest tokens; 0: all");
  number("--top-p", s.top_p, "Only the likeliest tokens that together have this probability");
  number("--min-p", s.min_p, "Only tokens with this share of the likeliest one's probability");
  number("--repetition-penalty", s.repetition_penalty, "Above 1: tokens seen become unlikelier");
  number("--presence-penalty", s.presence_penalty, "Off the logits of tokens generated");
  number("--frequency-penalty", s.frequency_penalty, "The same, times how often");
  number("--seed", s.seed, "The same seed gives the same text");
  app.add_option("--stop", options.stop, "End before this text (may be repeated)")
      ->type_name("TEXT")
      ->allow_extra_args(false);
}

}  // namespace tboost
