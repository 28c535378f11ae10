// What tests of kernels share: the tables to test, and a kernel run whole on this thread.
#pragma once

#include <algorithm>
#include <ostream>
#include <vector>

#include "src/kernels/kernels.h"
#include "src/tensor/buffer.h"

namespace tboost::kernels {

// Tables of the variants that this machine has (up to TBOOST_MAX_ISA).
const std::vector<const KernelTable*>& TestedVariants();
// Tables of every instruction set that this machine has (up to TBOOST_MAX_ISA) and of AVX-512's
// emulation. Prints NOT RUN for the others, once. Without the variants (variants.inc), whose
// kernels are mostly those of another table.
const std::vector<const KernelTable*>& TestedTables();
// And the variants that have their own code for the kernel, a member of KernelTable.
template <class Function>
std::vector<const KernelTable*> TestedTables(Function KernelTable::*kernel) {
  std::vector<const KernelTable*> tables = TestedTables();
  for (const KernelTable* variant : TestedVariants()) {
    const auto same = [&](const KernelTable* table) { return table->*kernel == variant->*kernel; };
    if (std::ranges::none_of(tables, same)) tables.push_back(variant);
  }
  return tables;
}
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
