#include "src/base/cpu_features.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tboost {
namespace {

constexpr std::array<std::string_view, 6> kNames = {  // as in Isa
    "baseline", "avx2", "avx2_vnni", "avx512", "avx512_vnni", "avx512_bf16"};
constexpr std::array<Isa, kNames.size()> kIsas = {
    Isa::kBaseline, Isa::kAvx2, Isa::kAvx2Vnni, Isa::kAvx512, Isa::kAvx512Vnni, Isa::kAvx512Bf16};

}  // namespace

std::span<const Isa> AllIsas() { return kIsas; }

std::string_view IsaName(Isa isa) { return kNames[static_cast<size_t>(isa)]; }

std::optional<Isa> IsaFromName(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Isa>(found - kNames.begin());
}

bool HasVnni(Isa isa) {
  return isa == Isa::kAvx2Vnni || isa == Isa::kAvx512Vnni || isa == Isa::kAvx512Bf16;
}

#if defined(__x86_64__)
namespace {

struct Leaf {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Leaf ReadLeaf(uint32_t leaf, uint32_t subleaf) {
  Leaf out;
  if (!__get_cpuid_count(leaf, subleaf, &out.eax, &out.ebx, &out.ecx, &out.edx)) return {};
  return out;
}

// The register states that the operating system saves (XCR0), 0 where it uses none of them.
uint64_t SavedStates(const Leaf& leaf1) {
  constexpr int kOsXsave = 27;
  if (!(leaf1.ecx >> kOsXsave & 1)) return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

}  // namespace

CpuFeatures ReadCpuFeatures() {
  const Leaf leaf1 = ReadLeaf(1, 0), leaf7 = ReadLeaf(7, 0), leaf7_1 = ReadLeaf(7, 1);
  const uint64_t saved = SavedStates(leaf1);
  const auto saves = [&](uint64_t states) { return (saved & states) == states; };
  const bool ymm = saves(0x6);        // XMM, YMM
  const bool zmm = saves(0xE6);       // and opmask, upper halves of ZMM0-15, ZMM16-31
  const bool tiles = saves(0x60000);  // tile configuration and data
  const auto bit = [](uint32_t word, int index) { return (word >> index & 1) != 0; };

  CpuFeatures features;
  features.avx2 = ymm && bit(leaf7.ebx, 5);
  features.fma = ymm && bit(leaf1.ecx, 12);
  features.f16c = ymm && bit(leaf1.ecx, 29);
  features.avx512 = zmm;
  for (int index : {16, 17, 28, 30, 31}) features.avx512 &= bit(leaf7.ebx, index);
  features.avx512_vnni = features.avx512 && bit(leaf7.ecx, 11);
  features.avx512_bf16 = features.avx512 && bit(leaf7_1.eax, 5);
  features.avx512_fp16 = features.avx512 && bit(leaf7.edx, 23);
  features.avx_vnni = ymm && bit(leaf7_1.eax, 4);
  features.amx_tile = tiles && bit(leaf7.edx, 24);
  features.amx_int8 = features.amx_tile && bit(leaf7.edx, 25);
  features.amx_bf16 = features.amx_tile && bit(leaf7.edx, 22);
  return features;
}

std::vector<Isa> DetectIsas() {
  const CpuFeatures features = ReadCpuFeatures();
  // x86-64-v3 also has BMI1, BMI2, LZCNT and MOVBE, which compilers use as they please.
  const Leaf leaf1 = ReadLeaf(1, 0), leaf7 = ReadLeaf(7, 0), extended = ReadLeaf(0x80000001, 0);
  const bool integer = (leaf7.ebx >> 3 & 1) && (leaf7.ebx >> 8 & 1) && (extended.ecx >> 5 & 1) &&
                       (leaf1.ecx >> 22 & 1);
  std::vector<Isa> isas = {Isa::kBaseline};
  if (!(features.avx2 && features.fma && features.f16c && integer)) return isas;
  isas.push_back(Isa::kAvx2);
  if (features.avx_vnni) isas.push_back(Isa::kAvx2Vnni);
  if (features.avx512) isas.push_back(Isa::kAvx512);
  if (features.avx512_vnni) isas.push_back(Isa::kAvx512Vnni);
  if (features.avx512_vnni && features.avx512_bf16) isas.push_back(Isa::kAvx512Bf16);
  return isas;
}
#else
CpuFeatures ReadCpuFeatures() { return {}; }
std::vector<Isa> DetectIsas() { return {Isa::kBaseline}; }
#endif

Isa DetectIsa() { return DetectIsas().back(); }

Result<std::vector<Isa>> SelectedIsas() {
  std::vector<Isa> isas = DetectIsas();
  const char* cap = std::getenv("TBOOST_MAX_ISA");
  if (cap == nullptr || *cap == '\0') return isas;
  const std::optional<Isa> isa = IsaFromName(cap);
  if (!isa)
    return InvalidArgumentError("TBOOST_MAX_ISA must be one of {}, got \"{}\"",
                                fmt::join(kNames, ", "), cap);
  std::erase_if(isas, [&](Isa other) { return other > *isa; });
  return isas;
}

Result<Isa> SelectedIsa() {
  TBOOST_ASSIGN_OR_RETURN(const std::vector<Isa> isas, SelectedIsas());
  return isas.back();
}

}  // namespace tboost
