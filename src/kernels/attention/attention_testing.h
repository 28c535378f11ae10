// Attention problems for tests and benchmarks: random sequences, their pages, and the result in
// double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "src/base/random.h"
#include "src/kernels/kernels.h"
#include "src/kernels/kernels_testing.h"

namespace tboost::kernels {

struct AttentionShape {
  int heads = 1, kv_heads = 1, head_dim = 64;
  bool causal = false;
  int window = 0;
  float softcap = 0;
};

// Queries, keys and values of all tokens of some sequences, one sequence after the other.
class AttentionProblem {
 public:
  AttentionProblem(const AttentionShape& shape, std::vector<int> lengths, uint64_t seed,
                   float query_scale = 1);

  // out of all tokens in one call that reads k and v where they lie.
  std::vector<float> RunDirect(const KernelTable& table) const;
  // The same through a paged cache, whose unused memory is NaN, in steps of at most chunk tokens of
  // each sequence.
  std::vector<float> RunCached(const KernelTable& table, int chunk,
                               DType dtype = DType::kF32) const;
  std::vector<double> Reference() const;

  // The problem of one of the sequences.
  AttentionProblem Alone(int sequence) const;
  // Tokens before a sequence.
  int64_t First(int sequence) const { return offsets_[sequence]; }

  AttentionArgs Args() const;                                   // without layout and out
  int row() const { return shape_.heads * shape_.head_dim; }    // of out
  int q_stride() const { return row() + 2 * kv_row() + kGap; }  // q, k and v lie side by side
  int kv_row() const { return shape_.kv_heads * shape_.head_dim; }
  std::vector<float>& data() { return data_; }

 private:
  static constexpr int kGap = 3;
  AttentionProblem() = default;
  const float* Q(int64_t token) const { return data_.data() + token * q_stride(); }
  const float* K(int64_t token) const { return Q(token) + row(); }
  const float* V(int64_t token) const { return K(token) + kv_row(); }
  // The keys and values of rows x = q, k, v to the cache.
  void StoreTokens(const KernelTable& table, const float* x, const SequenceLayout& layout,
                   const KvCacheView& cache) const;
  void ReferenceRow(int sequence, int position, int head, double* out) const;

  AttentionShape shape_;
  std::vector<int32_t> offsets_;
  std::vector<float> data_;
};

// A cache of one layer with room for sequences of these lengths; memory starts as NaN and the pages
// of a sequence are not in order. Tokens are stored through the kernel.
struct TestCache {
  TestCache(int kv_heads, int head_dim, DType dtype, const std::vector<int>& lengths);

  KvCacheView view;
  int64_t max_pages = 0;
  std::vector<int32_t> pages;  // [sequences, max_pages]
  std::vector<std::byte> memory;
};

inline TestCache::TestCache(int kv_heads, int head_dim, DType dtype,
                            const std::vector<int>& lengths) {
  for (int length : lengths) {
    max_pages = std::max<int64_t>(max_pages, (length + kPageTokens - 1) / kPageTokens);
  }
  const int64_t count = static_cast<int64_t>(lengths.size()) * max_pages;
  pages.resize(count);
  for (int64_t i = 0; i < count; ++i) pages[i] = static_cast<int32_t>(count - 1 - i);
  view = {nullptr, 0, kv_heads, head_dim, dtype};
  view.page_stride = view.PageBytes();
  memory.assign(count * view.page_stride, std::byte{0xff});  // NaN in f32 and bf16
  view.base = memory.data();
}

inline AttentionProblem::AttentionProblem(const AttentionShape& shape, std::vector<int> lengths,
                                          uint64_t seed, float query_scale)
    : shape_(shape), offsets_{0} {
  for (int length : lengths) offsets_.push_back(offsets_.back() + length);
  // One row more than there are tokens: q, k and v of none have an address too.
  data_.resize((static_cast<size_t>(offsets_.back()) + 1) * q_stride());
  const HashRandom random(seed, "attention");
  for (size_t i = 0; i < data_.size(); ++i) {
    const bool query = static_cast<int>(i % q_stride()) < row();
    data_[i] = random.Normal(i) * (query ? query_scale : 1);
  }
}

inline AttentionProblem AttentionProblem::Alone(int sequence) const {
  AttentionProblem alone;
  alone.shape_ = shape_;
  alone.offsets_ = {0, offsets_[sequence + 1] - offsets_[sequence]};
  alone.data_.assign(data_.begin() + offsets_[sequence] * q_stride(),
                     data_.begin() + (offsets_[sequence + 1] + 1) * q_stride());
  return alone;
}

inline AttentionArgs AttentionProblem::Args() const {
  AttentionArgs args;
  args.q = Q(0);
  args.k = K(0);
  args.v = V(0);
  args.ldq = args.ldk = args.ldv = q_stride();
  args.ldo = row();
  args.heads = shape_.heads;
  args.kv_heads = shape_.kv_heads;
  args.head_dim = shape_.head_dim;
  args.scale = 1 / std::sqrt(static_cast<float>(shape_.head_dim));
  args.softcap = shape_.softcap;
  args.causal = shape_.causal;
  args.window = shape_.window;
  return args;
}

inline std::vector<float> AttentionProblem::RunDirect(const KernelTable& table) const {
  std::vector<float> out(static_cast<size_t>(offsets_.back()) * row(), -7.0f);
  const std::vector<int32_t> past(offsets_.size());
  SequenceLayout layout;
  layout.sequences = static_cast<int>(past.size()) - 1;
  layout.tokens = offsets_.back();
  layout.offsets = offsets_.data();
  layout.past = past.data();
  AttentionArgs args = Args();
  args.layout = &layout;
  args.out = out.data();
  RunKernel(table.attention, args);
  return out;
}

inline std::vector<float> AttentionProblem::RunCached(const KernelTable& table, int chunk,
                                                      DType dtype) const {
  const int sequences = static_cast<int>(offsets_.size()) - 1;
  std::vector<int> lengths(sequences);
  for (int s = 0; s < sequences; ++s) lengths[s] = offsets_[s + 1] - offsets_[s];
  TestCache cache(shape_.kv_heads, shape_.head_dim, dtype, lengths);
  std::vector<float> out(static_cast<size_t>(offsets_.back()) * row(), -7.0f);
  std::vector<int32_t> past(sequences, 0);
  while (true) {
    // One step: the next tokens of each sequence, gathered side by side.
    std::vector<int32_t> offsets = {0};
    std::vector<int64_t> tokens;
    std::vector<int32_t> sequence_of;
    for (int s = 0; s < sequences; ++s) {
      const int count = std::min(chunk, lengths[s] - past[s]);
      for (int i = 0; i < count; ++i) {
        const int64_t token = offsets_[s] + past[s] + i;
        tokens.push_back(token);
        sequence_of.push_back(s);
      }
      offsets.push_back(offsets.back() + count);
    }
    if (tokens.empty()) return out;
    std::vector<float> x(tokens.size() * q_stride()), step(tokens.size() * row());
    for (size_t i = 0; i < tokens.size(); ++i) {
      std::copy_n(Q(tokens[i]), q_stride(), &x[i * q_stride()]);
    }
    const SequenceLayout layout = {sequences,         offsets.back(),     offsets.data(),
                                   past.data(),       cache.pages.data(), cache.max_pages,
                                   sequence_of.data()};
    StoreTokens(table, x.data(), layout, cache.view);
    AttentionArgs args = Args();
    args.q = x.data();
    args.k = args.v = nullptr;
    args.cache = cache.view;
    args.layout = &layout;
    args.out = step.data();
    RunKernel(table.attention, args);
    for (size_t i = 0; i < tokens.size(); ++i) {
      std::copy_n(&step[i * row()], row(), &out[tokens[i] * row()]);
    }
    for (int s = 0; s < sequences; ++s) past[s] += offsets[s + 1] - offsets[s];
  }
}

inline void AttentionProblem::StoreTokens(const KernelTable& table, const float* x,
                                          const SequenceLayout& layout,
                                          const KvCacheView& cache) const {
  RopeKvArgs args;
  args.k = x + row();
  args.v = args.k + kv_row();
  args.ldk = args.ldv = q_stride();
  args.kv_heads = shape_.kv_heads;
  args.head_dim = shape_.head_dim;
  args.cache = cache;
  args.tokens = layout.tokens;
  args.layout = &layout;
  RunKernel(table.rope_kv, args);
}

inline void AttentionProblem::ReferenceRow(int sequence, int position, int head,
                                           double* out) const {
  const AttentionArgs args = Args();
  const int length = offsets_[sequence + 1] - offsets_[sequence];
  const int kv_column = head / (args.heads / args.kv_heads) * args.head_dim;
  const int last = args.causal ? position : length - 1;
  const int first = args.causal && args.window > 0 ? std::max(0, last - args.window + 1) : 0;
  const float* q = Q(offsets_[sequence] + position) + head * args.head_dim;
  std::vector<double> weights;
  for (int key = first; key <= last; ++key) {
    const float* k = K(offsets_[sequence] + key) + kv_column;
    double score = 0;
    for (int d = 0; d < args.head_dim; ++d) score += double{q[d]} * k[d];
    score *= args.scale;
    weights.push_back(args.softcap > 0 ? args.softcap * std::tanh(score / args.softcap) : score);
  }
  const double max = *std::max_element(weights.begin(), weights.end());
  for (double& weight : weights) weight = std::exp(weight - max);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (int key = first; key <= last; ++key) {
    const float* v = V(offsets_[sequence] + key) + kv_column;
    for (int d = 0; d < args.head_dim; ++d) out[d] += weights[key - first] / sum * v[d];
  }
}

inline std::vector<double> AttentionProblem::Reference() const {
  std::vector<double> out(static_cast<size_t>(offsets_.back()) * row());
  for (size_t s = 0; s + 1 < offsets_.size(); ++s) {
    for (int token = offsets_[s]; token < offsets_[s + 1]; ++token) {
      for (int head = 0; head < shape_.heads; ++head) {
        ReferenceRow(static_cast<int>(s), token - offsets_[s], head,
                     &out[int64_t{token} * row() + head * shape_.head_dim]);
      }
    }
  }
  return out;
}

}  // namespace tboost::kernels
