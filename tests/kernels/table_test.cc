#include <cmath>

#include "tests/support/kernel_call.h"

namespace glassbox::reference {

TEST_CASE("a SIMD target that is not there is refused and changes nothing", "[kernels][table]") {
  int lowest = 0;  // the one that every processor has: on 64-bit ARM that is NEON already
  for (const char* name : {"SCALAR", "EMU128", "NEON"}) lowest += kernels::choose_simd_target(name);
  REQUIRE(lowest == 1);
  const std::string before = kernels::simd_target();
  for (const char* name : {"SSSE3", "SVE", "AVX9", ""})
    REQUIRE_FALSE(kernels::choose_simd_target(name));
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

TEMPLATE_TEST_CASE(
    "multiply_add rounds once on AVX2, AVX-512 and NEON and twice on SSE4 and scalars",
    "[kernels][table]", float, double) {
  const TestType e = 1 + 4 * std::numeric_limits<TestType>::epsilon();
  for_each_simd_target([&](const std::string& name) {
    const TestType remainder = multiply_add(e, e, -(e * e));
    REQUIRE((remainder != 0) == (name.starts_with("AVX") || name == "NEON"));
  });
}

}  // namespace glassbox::reference
