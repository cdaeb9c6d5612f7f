#ifndef ZYFA_LAUNCH_ZYFA_EMULATOR_H_
#define ZYFA_LAUNCH_ZYFA_EMULATOR_H_

/* The emulated gfx950 for programs that use ZYFA's C interface. It stands apart
 * from zyfa.h because it links LLVM. */

#include "zyfa/launch/zyfa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens an emulator of its own: memory is not shared between two of them. */
zyfa_status zyfa_open_emulator(zyfa_device** device);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ZYFA_LAUNCH_ZYFA_EMULATOR_H_ */
