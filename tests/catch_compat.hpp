// Catch2, version 2 or 3: the one header that tests include for it. Approx and text_contains() are
// the two names that differ; all others used are the same in both.
#pragma once

#include <string>

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>
using Catch::Approx;  // in version 2 it is global already
inline auto text_contains(const std::string& part) {
  return Catch::Matchers::ContainsSubstring(part);
}
#else
#include <catch2/catch.hpp>
inline auto text_contains(const std::string& part) { return Catch::Matchers::Contains(part); }
#endif
