// How much memory this process uses, as Linux reports it.
#pragma once

#include <cstdint>

namespace tboost {

// Bytes; 0 where the system does not tell. Mapped files count where their pages are resident.
struct MemoryUsage {
  uint64_t resident = 0;       // now
  uint64_t peak_resident = 0;  // highest since the start or ResetPeakMemory()
};
MemoryUsage ReadMemoryUsage();

// Lets peak_resident start again from now; false where the system refuses.
bool ResetPeakMemory();

// Gives memory that was allocated and freed back to the system, before a phase that needs much
// more.
void ReturnFreeMemory();

}  // namespace tboost
