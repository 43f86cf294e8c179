// Progress of a training run on standard error: one refreshed line on a terminal, else whole lines,
// ten a run and one a quarter of a minute, without a carriage return.
#pragma once

#include <chrono>
#include <cstdint>

#include "train/trainer.h"

namespace glassbox::cli {

class Progress {
 public:
  // Of `steps` steps `done` were done before.
  explicit Progress(std::uint64_t steps, std::uint64_t done = 0);

  // After each step.
  void step(const StepStats& stats);
  // What was last drawn on a terminal stays, and the next text begins a new line. May be called
  // again.
  void leave();
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const StepStats& stats, Clock::time_point now);

  std::uint64_t steps_, done_before_;
  bool bar_;
  bool drawn_ = false;  // the cursor stands behind a bar
  Clock::time_point started_, shown_;
  std::uint64_t spacing_;    // steps from one line to the next
  std::uint64_t next_line_;  // the step that gets a line
  double loss_sum_ = 0;      // since the last line
  std::uint64_t loss_count_ = 0;
};

}  // namespace glassbox::cli
