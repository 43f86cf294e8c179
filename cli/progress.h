// Progress on standard error: one refreshed line on a terminal, else whole lines without a carriage
// return.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "train/trainer.h"

namespace glassbox::cli {

// Of a training run: elsewhere than on a terminal ten lines, and one a quarter of a minute.
class Progress {
 public:
  // Of `steps` steps `done` were done before.
  explicit Progress(std::uint64_t steps, std::uint64_t done = 0);

  // The loss on held-out text, which is shown from now on.
  void validated(double loss) { val_loss_ = loss; }
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
  std::optional<double> val_loss_;
  double loss_sum_ = 0;  // since the last line
  std::uint64_t loss_count_ = 0;
};

// Of work that is counted: "1,200 of 63,296 1% ETA 12.3s", which is gone at the end. Elsewhere than
// on a terminal a line a quarter of a minute, or nothing.
class Countdown {
 public:
  Countdown(std::size_t all, bool lines);
  ~Countdown();
  Countdown(const Countdown&) = delete;
  Countdown& operator=(const Countdown&) = delete;

  void show(std::size_t done);

 private:
  using Clock = std::chrono::steady_clock;

  std::size_t all_;
  bool bar_, lines_;
  bool drawn_ = false;
  Clock::time_point started_, shown_;
};

}  // namespace glassbox::cli
