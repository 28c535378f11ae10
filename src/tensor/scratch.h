// A thread's own working memory, handed to kernels.
#pragma once

#include <cstddef>

namespace tboost::kernels {

struct Scratch {
  char* data = nullptr;  // 64-byte aligned
  size_t bytes = 0;
};

}  // namespace tboost::kernels
