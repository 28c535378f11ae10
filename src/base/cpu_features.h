// Instruction sets of this processor, and the one that kernels use.
#pragma once

#include <optional>
#include <string_view>

#include "src/base/status.h"

namespace tboost {

// The sets that kernels are compiled for, in order of capability: x86-64-v2, x86-64-v3 (AVX2, FMA,
// F16C), x86-64-v4 (AVX-512 F, BW, CD, DQ, VL).
enum class Isa { kBaseline, kAvx2, kAvx512 };

// "baseline", "avx2", "avx512".
std::string_view IsaName(Isa isa);
std::optional<Isa> IsaFromName(std::string_view name);

// What processor and operating system support together.
struct CpuFeatures {
  bool avx2 = false, fma = false, f16c = false;
  bool avx512 = false;  // F, BW, CD, DQ and VL
  bool avx512_vnni = false, avx512_bf16 = false, avx512_fp16 = false;
  bool avx_vnni = false;
  bool amx_tile = false, amx_int8 = false, amx_bf16 = false;  // the kernel grants AMX on request
};

// Reads cpuid; cheap enough to call anywhere but in a loop.
CpuFeatures ReadCpuFeatures();

// The best set that the processor runs.
Isa DetectIsa();

// DetectIsa(), or the lesser set that the environment variable TBOOST_MAX_ISA names; an error,
// which lists the names, where it names none.
Result<Isa> SelectedIsa();

}  // namespace tboost
