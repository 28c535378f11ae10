#include "src/base/cpu_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace tboost {
namespace {

// Sets TBOOST_MAX_ISA, and sets it back at the end of the scope.
class MaxIsa {
 public:
  explicit MaxIsa(const char* value) {
    if (const char* old = std::getenv("TBOOST_MAX_ISA")) old_ = old;
    value ? setenv("TBOOST_MAX_ISA", value, 1) : unsetenv("TBOOST_MAX_ISA");
  }
  ~MaxIsa() { old_ ? setenv("TBOOST_MAX_ISA", old_->c_str(), 1) : unsetenv("TBOOST_MAX_ISA"); }

 private:
  std::optional<std::string> old_;
};

TEST(CpuFeaturesTest, NamesRoundTrip) {
  for (Isa isa : AllIsas()) EXPECT_EQ(IsaFromName(IsaName(isa)), isa);
  EXPECT_FALSE(IsaFromName("AVX2").has_value());
}

#if defined(__x86_64__)
TEST(CpuFeaturesTest, AgreesWithTheCompilersRuntime) {
  const CpuFeatures features = ReadCpuFeatures();
  EXPECT_EQ(features.avx2, static_cast<bool>(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(features.fma, static_cast<bool>(__builtin_cpu_supports("fma")));
  EXPECT_EQ(features.avx512,
            __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl"));
  EXPECT_EQ(features.avx512_vnni, static_cast<bool>(__builtin_cpu_supports("avx512vnni")));
}
#endif

TEST(CpuFeaturesTest, TheVariableCapsTheIsa) {
  {
    const MaxIsa none(nullptr);
    EXPECT_EQ(*SelectedIsa(), DetectIsa());
  }
  {
    const MaxIsa cap("baseline");
    EXPECT_EQ(*SelectedIsa(), Isa::kBaseline);
  }
  {
    const MaxIsa cap("avx2");
    EXPECT_EQ(*SelectedIsa(), std::min(DetectIsa(), Isa::kAvx2));
  }
  for (Isa isa : AllIsas()) {
    const MaxIsa cap(std::string(IsaName(isa)).c_str());
    const std::vector<Isa> detected = DetectIsas(), selected = *SelectedIsas();
    EXPECT_TRUE(std::ranges::is_sorted(detected));
    EXPECT_LE(selected.back(), isa);
    for (Isa other : detected) EXPECT_EQ(std::ranges::count(selected, other), other <= isa);
  }
  const MaxIsa cap("avx3");
  const Result<Isa> isa = SelectedIsa();
  ASSERT_FALSE(isa.ok());
  EXPECT_EQ(isa.status().message(),
            "TBOOST_MAX_ISA must be one of baseline, avx2, avx2_vnni, avx512, "
            "avx512_vnni, avx512_bf16, got \"avx3\"");
}

}  // namespace
}  // namespace tboost
