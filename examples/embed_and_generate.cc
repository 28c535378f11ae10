// Answers a question with one model and compares sentences with another.
// usage: embed_and_generate LANGUAGE_MODEL EMBEDDING_MODEL
#include <cstdio>
#include <string>
#include <vector>

#include "tboost/embed.h"
#include "tboost/generate.h"

tboost::Status Run(const char* language_model, const char* embedding_model) {
  TBOOST_ASSIGN_OR_RETURN(auto runtime, tboost::Runtime::Create());

  TBOOST_ASSIGN_OR_RETURN(auto speaker, tboost::Model::Load(*runtime, language_model));
  tboost::GenerateOptions options;
  options.max_tokens = 32;
  tboost::Generator generator(*speaker);
  TBOOST_ASSIGN_OR_RETURN(const auto story, generator.Generate("Once upon a time", options));
  std::printf("%s", story.text.c_str());

  TBOOST_ASSIGN_OR_RETURN(auto reader, tboost::Model::Load(*runtime, embedding_model));
  const std::vector<std::string> texts = {"A cat sleeps.", "A kitten naps.", "Stocks fell."};
  TBOOST_ASSIGN_OR_RETURN(const auto vectors, tboost::Embed(*reader, texts));
  for (size_t i = 0; i < texts.size(); ++i) {
    float similarity = 0;
    for (size_t k = 0; k < vectors[i].values.size(); ++k)
      similarity += vectors[0].values[k] * vectors[i].values[k];
    std::printf("\n%-14s %.3f", texts[i].c_str(), similarity);
  }
  return tboost::OkStatus();
}

int main(int argc, char** argv) {
  const tboost::Status status = argc == 3 ? Run(argv[1], argv[2]) : tboost::OkStatus();
  std::printf("\n%s", status.message().c_str());
  return status.ok() && argc == 3 ? 0 : 1;
}
