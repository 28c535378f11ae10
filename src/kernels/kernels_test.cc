#include "src/kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "src/base/cpu_features.h"
#include "src/kernels/kernels_testing.h"

namespace tboost::kernels {

namespace emulated {
extern const KernelTable kTable;
}

namespace {

bool IsVariant(std::string_view name) {
#define TBOOST_VARIANT(isa, base) \
  if (name == #isa) return true;
#define TBOOST_VARIANT_KERNEL(isa, kernel)
#include "src/kernels/variants.inc"
#undef TBOOST_VARIANT
#undef TBOOST_VARIANT_KERNEL
  return false;
}

// The tables that this machine runs: the variants, or the others.
std::vector<const KernelTable*> FindTables(bool variants) {
  const std::vector<Isa> selected = SelectedIsas().ok() ? *SelectedIsas() : std::vector<Isa>();
  std::vector<const KernelTable*> tables;
  for (const Isa isa : AllIsas()) {
    const KernelTable& table = Kernels(isa);
    if (IsVariant(table.name) != variants) continue;
    if (std::ranges::count(selected, isa) > 0)
      tables.push_back(&table);
    else
      std::printf("[ NOT RUN  ] kernels of %s: not this processor, or capped\n", table.name);
  }
  if (variants) return tables;
  if (DetectIsa() >= Isa::kAvx2)  // compiled for its FMA instruction
    tables.push_back(&emulated::kTable);
  else
    std::printf("[ NOT RUN  ] kernels of %s: needs AVX2\n", emulated::kTable.name);
  return tables;
}

}  // namespace

const std::vector<const KernelTable*>& TestedTables() {
  static const std::vector<const KernelTable*> tables = FindTables(false);
  return tables;
}

const std::vector<const KernelTable*>& TestedVariants() {
  static const std::vector<const KernelTable*> tables = FindTables(true);
  return tables;
}

std::vector<const KernelTable*> TablesOfEqualBits() {
  if (TestedTables().back() != &emulated::kTable) return {};
  if (std::ranges::count(TestedTables(), &Kernels(Isa::kAvx512)) == 0) return {};
  return {&Kernels(Isa::kAvx512), &emulated::kTable};
}

TEST(Kernels, TablesAreNamedAsTheirInstructionSet) {
  for (const Isa isa : AllIsas()) EXPECT_EQ(Kernels(isa).name, IsaName(isa));
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
