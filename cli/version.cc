#include "cli/version.h"

#include <fmt/core.h>

#include "kernels/op.h"
#include "revision.h"

namespace glassbox::cli {

std::string version_text() {
#ifdef __clang__
  const char* const compiler = "clang " __clang_version__;
#else
  const char* const compiler = "g++ " __VERSION__;
#endif
  return fmt::format("glassbox {}\nrevision {}\ncompiler {}\nSIMD {}\n", GLASSBOX_VERSION,
                     GLASSBOX_REVISION, compiler, kernels::simd_target());
}

}  // namespace glassbox::cli
