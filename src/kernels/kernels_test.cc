#include "src/kernels/kernels.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "src/base/cpu_features.h"
#include "src/kernels/kernels_testing.h"

namespace tboost::kernels {

namespace emulated {
extern const KernelTable kTable;
}

namespace {

std::vector<const KernelTable*> FindTables() {
  const Result<Isa> selected = SelectedIsa();
  const Isa highest = selected.ok() ? *selected : Isa::kBaseline;
  std::vector<const KernelTable*> tables;
  for (const Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
    const KernelTable& table = Kernels(isa);
    if (isa <= highest)
      tables.push_back(&table);
    else
      std::printf("[ NOT RUN  ] kernels of %s: not this processor, or capped\n", table.name);
  }
  if (DetectIsa() >= Isa::kAvx2)  // compiled for its FMA instruction
    tables.push_back(&emulated::kTable);
  else
    std::printf("[ NOT RUN  ] kernels of %s: needs AVX2\n", emulated::kTable.name);
  return tables;
}

}  // namespace

const std::vector<const KernelTable*>& TestedTables() {
  static const std::vector<const KernelTable*> tables = FindTables();
  return tables;
}

std::vector<const KernelTable*> TablesOfEqualBits() {
  if (TestedTables().back() != &emulated::kTable) return {};
  if (TestedTables()[TestedTables().size() - 2] != &Kernels(Isa::kAvx512)) return {};
  return {&Kernels(Isa::kAvx512), &emulated::kTable};
}

TEST(Kernels, TablesAreNamedAsTheirInstructionSet) {
  for (const Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512})
    EXPECT_EQ(Kernels(isa).name, IsaName(isa));
}

TEST(Kernels, TablesAreCompleteAndShareNoFunction) {
  const KernelTable& lowest = Kernels(Isa::kBaseline);
  for (const KernelTable* table :
       {&Kernels(Isa::kAvx2), &Kernels(Isa::kAvx512), &emulated::kTable}) {
#define TBOOST_KERNEL(kernel, Args)  \
  EXPECT_NE(table->kernel, nullptr); \
  EXPECT_NE(table->kernel, lowest.kernel) << table->name;
#include "src/kernels/kernels.inc"
#undef TBOOST_KERNEL
  }
}

}  // namespace tboost::kernels
