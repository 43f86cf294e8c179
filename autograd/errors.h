// A programmer's misuse of the tape: a stale handle, operands of two tapes, shapes that do not fit.
#pragma once

#include <stdexcept>

namespace glassbox {

struct TapeError : std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace glassbox
