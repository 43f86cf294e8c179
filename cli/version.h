// What this build is.
#pragma once

#include <string>

namespace glassbox::cli {

// Version, git revision, compiler, SIMD target; a line each.
std::string version_text();

}  // namespace glassbox::cli
