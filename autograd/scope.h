// One step's graph as an object: what is on the tape when the scope begins stays, what is recorded
// within goes when it ends, also on a throw.
#pragma once

#include "autograd/tape.h"

namespace glassbox {

template <class T>
class StepScope {
 public:
  explicit StepScope(Tape<T>& tape) : tape_(tape), mark_(tape.keep()) {}
  ~StepScope() {
    if (tape_.holds(mark_)) tape_.clear(mark_);  // else a scope around it ended first
  }
  StepScope(const StepScope&) = delete;
  StepScope& operator=(const StepScope&) = delete;

 private:
  Tape<T>& tape_;
  typename Tape<T>::Mark mark_;
};

// What is recorded while it lives has a row for each position of the same sentences, those that
// begin at the rows `starts`, of which the last is the end. So threads need not meet after each
// operation: each takes its own sentences through all of them, when compute() is called or when
// somebody reads a result, and through all of the walk back. The bits are the same. A scope within
// another does nothing.
template <class T>
class SentenceScope {
 public:
  SentenceScope(Tape<T>& tape, std::span<const std::uint32_t> starts)
      : tape_(tape), opened_(tape.begin_section(starts)) {}
  ~SentenceScope() {
    if (opened_) tape_.end_section();
  }
  SentenceScope(const SentenceScope&) = delete;
  SentenceScope& operator=(const SentenceScope&) = delete;

  void compute() {
    if (opened_) tape_.compute_waiting();
  }

 private:
  Tape<T>& tape_;
  bool opened_;
};

}  // namespace glassbox
