#include <cmath>

#include "tests/support/run_kernel.h"

namespace glassbox::reference {

TEST_CASE("a SIMD target that is not there is refused and changes nothing", "[kernels][table]") {
  REQUIRE(kernels::choose_simd_target("SCALAR") != kernels::choose_simd_target("EMU128"));
  const std::string before = kernels::simd_target();
  for (const char* name : {"SSSE3", "AVX9", ""}) REQUIRE_FALSE(kernels::choose_simd_target(name));
  REQUIRE(kernels::simd_target() == before);
  REQUIRE(kernels::choose_simd_target(nullptr));
}

TEST_CASE("each SIMD target that can be chosen is the one in use", "[kernels][table]") {
  std::size_t count = 0;
  for_each_simd_target([&](const std::string& name) {
    ++count;
    REQUIRE(kernels::simd_target() == name);
  });
  REQUIRE(count >= 1);
}

TEMPLATE_TEST_CASE("multiply_add rounds once on AVX2 and AVX-512 and twice on SSE4 and scalars",
                   "[kernels][table]", float, double) {
  const TestType e = 1 + 4 * std::numeric_limits<TestType>::epsilon();
  for_each_simd_target([&](const std::string& name) {
    if (name == "NEON") return;
    const TestType remainder = multiply_add(e, e, -(e * e));
    REQUIRE((remainder != 0) == name.starts_with("AVX"));
  });
}

}  // namespace glassbox::reference
