// The learning rate of each step.
#pragma once

#include <cstdint>

namespace glassbox {

struct LrSchedule {
  enum class Kind { linear, cosine, constant };
  Kind kind = Kind::linear;
  double learning_rate = 0.01;
  std::uint64_t steps = 5000;
  std::uint64_t warmup_steps = 0;  // at most `steps`
  double min_lr = 0;               // at most the learning rate

  // Of step `step`, counted from 0. The warm-up rises in equal steps, learning_rate * (step + 1) /
  // warmup_steps, and its last step has the whole rate. With p the share of the other steps that
  // are done, from 0 on:
  //   linear: min_lr + (learning_rate - min_lr) (1 - p)
  //   cosine: min_lr + (learning_rate - min_lr) (1 + cos(pi p)) / 2, as Loshchilov and Hutter
  //           (arXiv:1608.03983) without restarts
  // and min_lr from `steps` on.
  double at(std::uint64_t step) const;

  // "linear", as an option and a model file say it.
  static const char* name(Kind kind);
};

}  // namespace glassbox
