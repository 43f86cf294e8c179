// Which SIMD targets the kernel families are compiled for; included before foreach_target.h. SSSE3 is
// left out: every processor with it but the oldest has SSE4, and each target costs build time.
#pragma once

#include <hwy/detect_targets.h>

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS HWY_SSSE3
#endif
