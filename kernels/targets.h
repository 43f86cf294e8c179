// Which SIMD targets the kernel families are compiled for; included before anything of Highway. SSSE3 is
// left out: every processor with it but the oldest has SSE4, and each target costs build time.
#pragma once

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS HWY_SSSE3  // a name of the next header, looked up where it is used
#endif

#include <hwy/detect_targets.h>
