// Numbers computed from (seed, stream, index) alone: weights and inputs that tests and goldens can
// make in any order and in any language. tests/golden/hash_random.py gives the same bits.
#pragma once

#include <cstdint>
#include <string_view>

namespace tboost {

// With all arithmetic modulo 2^64 and G = 0x9E3779B97F4A7C15,
//   Mix(x):  z = x + G;  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
//            z = (z ^ z >> 27) * 0x94D049BB133111EB;  z ^ z >> 31       (the step of SplitMix64)
//   key    = Mix(Mix(seed) ^ stream)
//   Bits(i)    = Mix(key + i * G)
//   Uniform(i) = ((Bits(i) >> 40) - 2^23) * 2^-23, exact in float
//   Normal(i)  = (sum of the four 16-bit fields of Bits(i) - 131070) * float(sqrt(3)) * 2^-16,
//                an exact integer times one float constant, rounded once
//   Below(i,n) = ((Bits(i) >> 32) * n) >> 32
class HashRandom {
 public:
  HashRandom(uint64_t seed, uint64_t stream) : key_(Mix(Mix(seed) ^ stream)) {}
  // The stream of a name, a tensor's usually: its 64-bit FNV-1a hash.
  HashRandom(uint64_t seed, std::string_view name) : HashRandom(seed, StreamOf(name)) {}

  uint64_t Bits(uint64_t index) const { return Mix(key_ + index * kGamma); }

  // In [-1, 1), steps of 2^-23.
  float Uniform(uint64_t index) const {
    return static_cast<float>(static_cast<int32_t>(Bits(index) >> 40) - (1 << 23)) * 0x1p-23f;
  }

  // About normal, mean 0, variance 1, within +-3.4642.
  float Normal(uint64_t index) const {
    const uint64_t bits = Bits(index);
    const uint64_t sum =
        (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48);
    return static_cast<float>(static_cast<int32_t>(sum) - 131070) * kNormalScale;
  }

  // In [0, n).
  uint32_t Below(uint64_t index, uint32_t n) const {
    return static_cast<uint32_t>((Bits(index) >> 32) * n >> 32);
  }

  static uint64_t StreamOf(std::string_view name) {
    uint64_t hash = 0xCBF29CE484222325;
    for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3;
    return hash;
  }

 private:
  static constexpr uint64_t kGamma = 0x9E3779B97F4A7C15;
  static constexpr float kNormalScale = 0x1.bb67aep-16f;  // float(sqrt(3)) * 2^-16

  static uint64_t Mix(uint64_t x) {
    uint64_t z = x + kGamma;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }

  uint64_t key_;
};

}  // namespace tboost
