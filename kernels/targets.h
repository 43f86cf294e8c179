// Which SIMD targets the kernel families are compiled for; included before anything of Highway.
// SSSE3 is left out: every processor with it but the oldest has SSE4, and each target costs build
// time. ARM's SVE is left out too: its vectors have no size at compile time, and the kernels keep
// arrays of them.
#pragma once

#ifndef HWY_DISABLED_TARGETS
// Names of the next header, looked up where they are used.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

#include <hwy/detect_targets.h>
