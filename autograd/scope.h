// One step's graph as an object: what is on the tape when the scope begins stays, what is recorded within
// goes when it ends, also on a throw.
#pragma once

#include "autograd/tape.h"

namespace glassbox {

template <class T>
class StepScope {
 public:
  explicit StepScope(Tape<T>& tape) : tape_(tape), mark_(tape.keep()) {}
  ~StepScope() { tape_.clear(mark_); }
  StepScope(const StepScope&) = delete;
  StepScope& operator=(const StepScope&) = delete;

 private:
  Tape<T>& tape_;
  typename Tape<T>::Mark mark_;
};

}  // namespace glassbox
