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
  options.on_text = [](std::string_view text) {
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  };
  TBOOST_RETURN_IF_ERROR(
      tboost::Generator(*speaker).Generate("Once upon a time", options).status());

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
  const tboost::Status status = argc == 3 ? Run(argv[1], argv[2])
                                          : tboost::Status(tboost::StatusCode::kInvalidArgument, "two models, please");
  std::printf("\n%s", status.ok() ? "" : (status.message() + "\n").c_str());
  return status.ok() ? 0 : 1;
}
