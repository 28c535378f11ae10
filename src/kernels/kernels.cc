#include "src/kernels/kernels.h"

#include <map>
#include <string_view>
#include <type_traits>

#include "src/base/cpu_features.h"

namespace tboost::kernels {

namespace baseline {
extern const KernelTable kTable;
}
namespace avx2 {
extern const KernelTable kTable;
}
namespace avx512 {
extern const KernelTable kTable;
}

#define TBOOST_VARIANT(isa, base)
#define TBOOST_VARIANT_KERNEL(isa, kernel)                     \
  namespace isa {                                              \
  std::remove_pointer_t<decltype(KernelTable::kernel)> kernel; \
  }
#include "src/kernels/variants.inc"
#undef TBOOST_VARIANT
#undef TBOOST_VARIANT_KERNEL

namespace {

std::map<std::string_view, KernelTable> MakeTables() {
  std::map<std::string_view, KernelTable> tables;
  for (const KernelTable* table : {&baseline::kTable, &avx2::kTable, &avx512::kTable})
    tables[table->name] = *table;
#define TBOOST_VARIANT(isa, base)  \
  tables[#isa] = tables.at(#base); \
  tables[#isa].name = #isa;
#define TBOOST_VARIANT_KERNEL(isa, kernel) tables.at(#isa).kernel = &isa::kernel;
#include "src/kernels/variants.inc"
#undef TBOOST_VARIANT
#undef TBOOST_VARIANT_KERNEL
  return tables;
}

}  // namespace

const KernelTable& Kernels(Isa isa) {
  static const std::map<std::string_view, KernelTable> tables = MakeTables();
  return tables.at(IsaName(isa));
}

}  // namespace tboost::kernels
