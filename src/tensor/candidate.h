// One of the best of a row of logits.
#pragma once

#include <cstdint>

namespace tboost {

struct Candidate {
  float value = -__builtin_inff();
  int32_t id = -1;  // the column; -1: there is none

  // Larger ones come first, of equal ones the smaller id.
  bool Before(const Candidate& other) const {
    return value != other.value ? value > other.value : id < other.id;
  }
};

}  // namespace tboost
