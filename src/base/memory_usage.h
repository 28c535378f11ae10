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

// Resident bytes with each shared page divided by the number of processes that map it. Walks the
// page tables: milliseconds per GiB.
uint64_t ReadProportionalMemory();

// Lets peak_resident start again from now; false where the system refuses.
bool ResetPeakMemory();

}  // namespace tboost
