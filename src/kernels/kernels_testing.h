// What tests of kernels share: the tables to test, and a kernel run whole on this thread.
#pragma once

#include <ostream>
#include <vector>

#include "src/kernels/kernels.h"
#include "src/tensor/buffer.h"

namespace tboost::kernels {

// Tables of every instruction set that this machine has (up to TBOOST_MAX_ISA) and of AVX-512's
// emulation. Prints NOT RUN for the others, once.
const std::vector<const KernelTable*>& TestedTables();
// AVX-512 and its emulation, which give equal bits; empty where AVX-512 is missing.
std::vector<const KernelTable*> TablesOfEqualBits();

// Runs all tasks of a kernel in order.
template <class Args>
void RunKernel(void (*kernel)(const Args&, int64_t, Scratch), const Args& args) {
  std::vector<char> memory(ScratchBytes(args) + 64);
  const size_t misaligned = reinterpret_cast<uintptr_t>(memory.data()) % 64;
  const Scratch scratch = {memory.data() + (64 - misaligned), ScratchBytes(args)};
  for (int64_t task = 0; task < Tasks(args); ++task) kernel(args, task, scratch);
}

}  // namespace tboost::kernels
