// Instruction sets of this processor, and the one that kernels use.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace tboost {

// The sets that kernels are compiled for, in order of preference: x86-64-v2; x86-64-v3 (AVX2, FMA,
// F16C), also with AVX-VNNI; x86-64-v4 (AVX-512 F, BW, CD, DQ, VL), also with AVX512-VNNI, and with
// AVX512-VNNI and AVX512-BF16. A processor need not have all that come before its best.
enum class Isa { kBaseline, kAvx2, kAvx2Vnni, kAvx512, kAvx512Vnni, kAvx512Bf16 };

std::span<const Isa> AllIsas();  // in that order
// "baseline", "avx2", "avx2_vnni", "avx512", "avx512_vnni", "avx512_bf16".
std::string_view IsaName(Isa isa);
std::optional<Isa> IsaFromName(std::string_view name);
// Whether it has instructions that sum products of bytes exactly.
bool HasVnni(Isa isa);

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

// The sets that the processor runs, in order of preference; kBaseline at least. The best of them.
std::vector<Isa> DetectIsas();
Isa DetectIsa();

// Of those the ones up to the set that the environment variable TBOOST_MAX_ISA names, or all where
// it is not set; an error, which lists the names, where it names none. The best of them.
Result<std::vector<Isa>> SelectedIsas();
Result<Isa> SelectedIsa();

}  // namespace tboost
