// Single kernels on the threads of a pool, as a model's step runs them: for measuring.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/kernels/kernels.h"
#include "src/parallel/thread_pool.h"
#include "src/profile/limits.h"
#include "src/tensor/dtype.h"

namespace tboost {

// c = activation(a . W^T + bias) for a of [m, k] and W of [n, k].
struct ProductShape {
  int64_t m = 0, n = 0, k = 0;
  DType weights = DType::kF32;
  bool gelu = false;        // with a bias and GELU (erf); else the product alone
  int64_t cycle_bytes = 0;  // weights take turns until so many bytes have been read; 0: the same
};
// "MxNxK" or "MxNxK:TYPE".
Result<ProductShape> ParseProduct(std::string_view text);

// softmax(q . k^T) v of one sequence.
struct AttentionShape {
  int64_t heads = 0, head_dim = 0, tokens = 0;
  bool causal = false;
};
// "HEADSxDIMxTOKENS".
Result<AttentionShape> ParseAttention(std::string_view text);

// What to run, and the work that one run is.
struct KernelJob {
  std::string name, detail;
  std::function<void()> run;
  double operations = 0;
  double weight_bytes = 0;  // read by a run
  double cycle_bytes = 0;   // of all the weights that take turns
  double other_bytes = 0;   // operands and results
  DType compute = DType::kF32;

  double LeastSeconds(const Limits& limits) const;  // that a run can take
};

// The operands are the job's own. The pool must outlive it. kInvalidArgument where there is no such
// kernel, kResourceExhausted where memory does not suffice.
Result<KernelJob> MakeProductJob(ThreadPool& pool, const kernels::KernelTable& table,
                                 int64_t l2_bytes, const ProductShape& shape);
Result<KernelJob> MakeAttentionJob(ThreadPool& pool, const kernels::KernelTable& table,
                                   const AttentionShape& shape);

}  // namespace tboost
