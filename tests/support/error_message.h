// What a refusal says.
#pragma once

#include <string>

#include "tests/catch_compat.hpp"

namespace glassbox {

// The message of the E that `work` throws; an empty text, and a failed test, if it throws no E.
// Every message is held to what all of them promise: one line.
template <class E, class Work>
std::string error_message(Work work) {
  try {
    work();
  } catch (const E& error) {
    const std::string message = error.what();
    CHECK(message.find('\n') == std::string::npos);
    return message;
  }
  FAIL_CHECK("nothing was thrown");
  return {};
}

}  // namespace glassbox
