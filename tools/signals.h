// Interruption: SIGINT and SIGTERM ask running work to stop; a second one ends the program at once.
// Nothing half-written stays behind either way.
#pragma once

#include "tboost/runtime.h"

namespace tboost {

// Call once, before any work.
void InstallSignalHandlers();

// Cancelled by the first signal.
CancelToken& Interrupted();

// Forgets an interrupt from the keyboard, so that the next one counts as the first. False where the
// signal was another: the program should end.
bool ForgetInterrupt();

// 128 + the signal's number; 0 where there was none.
int InterruptExitCode();

}  // namespace tboost
