// How well a language model predicts a text, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "tboost/generate.h"
#include "tests/model_testing.h"

namespace tboost::testing {

// exp of the mean of -log p(token) over all tokens but the first of each window, predicted from all
// before it in the window.
inline double Perplexity(const Model& model, std::span<const int32_t> ids, size_t window) {
  double sum = 0;
  int64_t count = 0;
  Generator generator(model);
  for (size_t start = 0; start < ids.size(); start += window) {
    const auto part = ids.subspan(start, std::min(window, ids.size() - start));
    Must(generator.Score(part, [&](int64_t first, int64_t rows, const float* logits) {
      const auto vocab = static_cast<size_t>(model.vocab_size());
      for (int64_t i = 0; i < rows && first + i + 1 < static_cast<int64_t>(part.size()); ++i) {
        const std::span<const float> row(logits + i * vocab, vocab);
        const double largest = *std::ranges::max_element(row);
        double total = 0;
        for (float x : row) total += std::exp(x - largest);
        sum -= row[part[first + i + 1]] - largest - std::log(total);
        ++count;
      }
      return OkStatus();
    }));
  }
  EXPECT_EQ(count + static_cast<int64_t>((ids.size() + window - 1) / window),
            static_cast<int64_t>(ids.size()));
  return std::exp(sum / static_cast<double>(count));
}

}  // namespace tboost::testing
