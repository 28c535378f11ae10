// The fast kernels: plain pointers, sizes and strides. Each kernel is one source, NAME.isa.cc,
// compiled once per instruction set, and one line of kernels.inc; a table of them is chosen once
// per plan.
//
// Every kernel is a struct of arguments and two functions over it:
//   int64_t Tasks(args)                     how many independent tasks the call splits into
//   table.kernel(args, task, scratch)       runs one task; tasks may run in any order on any thread
// `scratch` is the calling thread's own memory of at least ScratchBytes(args), 64-byte aligned.
//
// Numeric contract: an output element is one accumulation chain over ascending k in f32 (FMA where
// the instruction set has it), whatever m, the tiles and the division into tasks; so a row of a
// batch has the bits of that row alone. All vectors have 16 lanes on every instruction set and
// reduce in one order. Arguments are trusted: the caller has checked shapes. No kernel allocates,
// throws or synchronises.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/tensor/candidate.h"
#include "src/tensor/dtype.h"
#include "src/tensor/panel.h"
#include "src/tensor/scratch.h"
#include "src/tensor/sequence_layout.h"

namespace tboost {
enum class Isa;  // base/cpu_features.h
}

namespace tboost::kernels {

enum class Activation : uint8_t { kNone, kGeluErf, kGeluTanh, kGeluQuick, kSilu, kRelu, kTanh };
enum class NormKind : uint8_t { kNone, kLayer, kRms };

// Normalisation of rows:
//   layer  (x - mean) / sqrt(var + eps) * gamma + beta
//   rms    x / sqrt(mean(x^2) + eps) * gamma
struct Norm {
  NormKind kind = NormKind::kNone;
  const float* gamma = nullptr;  // [k]
  const float* beta = nullptr;   // [k] or null
  float eps = 0;
};

// c = residual + activation(norm(a) . W^T + bias), row by row; with `gated`, the columns of W come
// as 16 gate, 16 up, 16 gate... (n is a multiple of 32) and c = activation(gate) * up (+ residual)
// has n / 2 columns. All f32 but W. Where the instruction set multiplies pairs of bf16, rounded
// rows are summed as it does: pairs of k in one step, numbers below the normal ones as 0.
struct GemmArgs {
  int64_t m = 0, n = 0, k = 0;  // n counts W's columns (both kinds when gated)
  const float* a = nullptr;     // [m, k], rows lda apart
  int64_t lda = 0;
  Norm norm;                // applied to the rows of a
  bool round_rows = false;  // to bf16, behind the norm; W is then bf16 too
  DType weight_dtype = DType::kF32;
  const void* panels = nullptr;  // packed W (tensor/panel.h)
  const float* bias = nullptr;   // [n] or null; interleaved as W's columns when gated
  Activation activation = Activation::kNone;
  bool gated = false;
  const float* residual = nullptr;  // [m, n or n/2], rows ldr apart; may be c itself
  int64_t ldr = 0;
  float* c = nullptr;  // [m, n or n/2], rows ldc apart
  int64_t ldc = 0;
  int64_t tile_m = 0;  // rows and columns of a task, from ChooseTile
  int64_t tile_n = 0;  // a multiple of 16 (32 when gated)
  int64_t tile_k = 0;  // of many rows, so much of k at a time; a multiple of 32
};
// The same product with W in int8 or int7: each row of norm(a) becomes codes nearest(x / scale) +
// z, scale = (largest - least, 0 among them) / 253, the least -127; sums of (code - z) * w over k
// (at most kMostInt8K) are exact integers, and what follows starts from f32(sum) * (the row's scale
// * the column's). A row that is not finite gives NaN.
struct GemmInt8Args : GemmArgs {};
inline constexpr int64_t kMostInt8K = 65536;
// Sets the tile for `threads` threads and these cache sizes (bytes): of those that a model of their
// cost finds best the one of this rank, or the last where there are fewer. Never changes results.
inline constexpr int kTileRanks = 6;
void ChooseTile(GemmArgs& args, int threads, int64_t l2_bytes, int rank = 0);
void ChooseTile(GemmInt8Args& args, int threads, int64_t l2_bytes, int rank = 0);

// Some rows and columns of a product; columns count W's, in multiples of 16 (32 when gated).
struct GemmRegion {
  int64_t row = 0, rows = 0, column = 0, columns = 0;
};
// The product of that region alone: one task, which writes where the whole product would.
GemmArgs SliceGemm(const GemmArgs& args, const GemmRegion& region);

// out = softmax(scale * q . k^T) v per sequence and head. A query at position p sees keys [0, p]
// when causal, of those only the last `window` (itself included) when window > 0; else all keys of
// its sequence. Query heads [g * heads / kv_heads, (g + 1) * heads / kv_heads) share key/value head
// g. Keys are taken in blocks of kPageTokens at absolute positions, merged in order. A row that
// sees no key gives 0.
struct AttentionArgs {
  const float* q = nullptr;  // [tokens, heads * head_dim], rows ldq apart
  int64_t ldq = 0;
  const float* k = nullptr;  // [tokens, kv_heads * head_dim], rows ldk apart; null: keys in `cache`
  int64_t ldk = 0;
  const float* v = nullptr;  // rows ldv apart
  int64_t ldv = 0;
  KvCacheView cache;     // read where k is null; holds this step's tokens already
  float* out = nullptr;  // [tokens, heads * head_dim], rows ldo apart
  int64_t ldo = 0;
  int heads = 0, kv_heads = 0, head_dim = 0;
  float scale = 1;
  float softcap = 0;  // 0: none; else scores become softcap * tanh(score / softcap)
  bool causal = false;
  int window = 0;
  const SequenceLayout* layout = nullptr;
};

// For each token: q and k heads optionally RMS-normalised over head_dim, then rotated, into q_out
// and k_out; where there is a cache, k and v are stored to it instead and k_out is unused. Rotation
// pairs (i, i + rotary_dim / 2). heads or kv_heads may be 0 (that side's pointers are then null).
// Where there is a cache, k or v may be null: they stay as the cache has them.
struct RopeKvArgs {
  const float* q = nullptr;  // [tokens, heads * head_dim], rows ldq apart
  int64_t ldq = 0;
  float* q_out = nullptr;  // rows ldq_out apart; may be q itself
  int64_t ldq_out = 0;
  const float* k = nullptr;  // [tokens, kv_heads * head_dim], rows ldk apart
  int64_t ldk = 0;
  const float* v = nullptr;  // rows ldv apart; read only where there is a cache
  int64_t ldv = 0;
  float* k_out = nullptr;  // rows ldk_out apart; may be k itself
  int64_t ldk_out = 0;
  // [tokens, rotary_dim]: cos of each pair, then sin; null: no rotation.
  const float* angles = nullptr;
  int64_t ldangles = 0;  // elements between rows of angles; 0: rotary_dim
  int heads = 0, kv_heads = 0, head_dim = 0, rotary_dim = 0;
  const float* q_gamma = nullptr;  // [head_dim] or null
  const float* k_gamma = nullptr;
  float eps = 0;
  KvCacheView cache;        // base null: none
  int64_t first_token = 0;  // those before it are left alone
  int64_t tokens = 0;
  const SequenceLayout* layout = nullptr;  // null where there is no cache
};

// out = norm(x + residual); the sum is stored too where `sum` is set. Statistics in f32.
struct NormArgs {
  int64_t m = 0, k = 0;
  const float* x = nullptr;
  int64_t ldx = 0;
  const float* residual = nullptr;  // [m, k] or null
  int64_t ldr = 0;
  Norm norm;
  float* sum = nullptr;  // [m, k] or null; may be x or residual
  int64_t lds = 0;
  float* out = nullptr;
  int64_t ldo = 0;
};

// out[t] = scale * row ids[t] of the packed table.
struct EmbedArgs {
  int64_t tokens = 0, k = 0;
  const int32_t* ids = nullptr;
  DType dtype = DType::kF32;
  const void* panels = nullptr;
  float scale = 1;
  float* out = nullptr;
  int64_t ldo = 0;
};

// out = activation(x), elementwise over [m, k].
struct ActivationArgs {
  int64_t m = 0, k = 0;
  const float* x = nullptr;
  int64_t ldx = 0;
  Activation activation = Activation::kNone;
  float* out = nullptr;
  int64_t ldo = 0;
};

// out = x + y or x * y over [m, k]; y is [m, k], or one row for all (ldy == 0).
struct BinaryArgs {
  int64_t m = 0, k = 0;
  const float* x = nullptr;
  int64_t ldx = 0;
  const float* y = nullptr;
  int64_t ldy = 0;
  bool multiply = false;
  float* out = nullptr;
  int64_t ldo = 0;
};

struct SoftmaxArgs {  // rows
  int64_t m = 0, k = 0;
  const float* x = nullptr;
  int64_t ldx = 0;
  float* out = nullptr;
  int64_t ldo = 0;
};

// Adds the largest elements of each row to the `count` best so far, which out holds in order; where
// there are fewer, the rest are Candidates without an id. Neither NaN nor -infinity is ever one.
struct BestArgs {
  int64_t m = 0, n = 0;
  const float* x = nullptr;  // [m, n]
  int64_t ldx = 0;
  int32_t first_id = 0;  // of column 0; not below the ids in out
  int64_t count = 0;
  Candidate* out = nullptr;  // [m, count]
  int64_t ldo = 0;
};

// What a core can do at most, for measuring: independent multiply-adds in registers, or vector
// loads of a block over and over.
enum class PeakKind : uint8_t { kF32, kBF16, kInt8, kRead };
struct PeakArgs {
  PeakKind kind = PeakKind::kF32;
  int64_t rounds = 0;           // of a multiply-add in each chain, or of reading the whole block
  const char* block = nullptr;  // kRead: [bytes], a multiple of 1024
  int64_t bytes = 0;
  // Set: operations done (two a multiply-add) or bytes read; 0 where the instruction set has no
  // instruction of that kind.
  double* work = nullptr;
};

#define TBOOST_KERNEL(name, Args)  \
  int64_t Tasks(const Args& args); \
  size_t ScratchBytes(const Args& args);
#include "src/kernels/kernels.inc"
#undef TBOOST_KERNEL

struct KernelTable {
  const char* name;  // of the instruction set
#define TBOOST_KERNEL(name, Args) void (*name)(const Args& args, int64_t task, Scratch scratch);
#include "src/kernels/kernels.inc"
#undef TBOOST_KERNEL
};

// The kernels of an instruction set; the caller makes sure that this CPU has it.
const KernelTable& Kernels(Isa isa);

}  // namespace tboost::kernels
