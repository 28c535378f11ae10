// Operands of products under test.
#pragma once

#include <algorithm>
#include <vector>

#include "src/base/random.h"
#include "src/kernels/kernels_testing.h"

namespace tboost::kernels {

struct ProductShape {
  int64_t m, n, k;
};

// [m, k], [k], [k], [n], [m, n] and [m, n], rows of the matrices a little apart.
struct ProductOperands {
  std::vector<float> a, gamma, beta, bias, residual, c;
};

// Operands drawn from a fixed seed, a channel of 1e4 in some rows of a. `args` gets their sizes,
// strides and the weights' format; it points to none of them.
inline ProductOperands DrawOperands(DType weights, ProductShape shape, GemmArgs& args) {
  const auto [m, n, k] = shape;
  const HashRandom random(2, "operands");
  uint64_t next = 0;
  const auto normal = [&](int64_t count, float scale, float mean) {
    std::vector<float> values(count);
    for (float& value : values) value = mean + scale * random.Normal(next++);
    return values;
  };
  ProductOperands out;
  out.a = normal(m * (k + 3), 1, 0);
  for (int64_t r = 0; r < m; r += 3) out.a[r * (k + 3) + k / 2] = 1e4f;
  out.gamma = normal(k, 0.2f, 1);
  out.beta = normal(k, 0.2f, 0);
  out.bias = normal(n, 1, 0);
  out.residual = normal(m * (n + 1), 1, 0);
  out.c.assign(m * (n + 5), -77);
  args.m = m, args.n = n, args.k = k;
  args.lda = k + 3, args.ldr = n + 1, args.ldc = n + 5;
  args.weight_dtype = weights;
  return out;
}

// Points `args` to the operands and runs all tasks; c, where nothing is written -77 as drawn.
template <class Args>
std::vector<float> RunProduct(void (*kernel)(const Args&, int64_t, Scratch),
                              const std::vector<char>& panels, ProductOperands& operands,
                              Args& args) {
  std::fill(operands.c.begin(), operands.c.end(), -77.0f);
  args.a = operands.a.data();
  args.panels = panels.data();
  args.c = operands.c.data();
  if (args.tile_m == 0) ChooseTile(args, 2, 1 << 20);
  RunKernel(kernel, args);
  return operands.c;
}

}  // namespace tboost::kernels
