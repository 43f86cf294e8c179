#include "cli/commands/find_lr.h"

#include <fmt/core.h>

#include <cmath>

#include "base/error.h"
#include "cli/output.h"

namespace glassbox::cli {

namespace {

constexpr int kRates = 23;          // 1e-5 to 3.2, four a decade
constexpr int kStepsARate = 20;     // one step's loss says little where a batch is one sentence
constexpr double kWorse = 1.5;      // times the lowest loss: there is nothing more to learn beyond
constexpr int kBelowTheLowest = 2;  // half a decade: the lowest loss is at the edge of what holds

double rate_at(int i) { return std::pow(10, -5 + i / 4.0); }

}  // namespace

template <class T>
int find_learning_rate(const Training<T>& training) {
  TrainConfig config = training.config;
  config.steps = kRates * kStepsARate;
  config.sentences = 0;
  Trainer<T> trainer(training.model, training.tokenizer, training.corpus, config);
  std::string table = fmt::format("{:>13}  {:>7}\n", "learning rate", "loss");
  double lowest = INFINITY;
  int best = 0;
  for (int i = 0; i < kRates; ++i) {
    double mean = 0;
    try {
      for (int step = 0; step < kStepsARate; ++step)
        mean += trainer.step(rate_at(i)).loss / kStepsARate;
    } catch (const NumericError&) {
      mean = INFINITY;
    }
    table += fmt::format("{:>13.2g}  {:>7.4f}\n", rate_at(i), mean);
    if (mean < lowest) {
      lowest = mean;
      best = i;
    }
    if (!(mean < kWorse * lowest)) break;
  }
  print(table);
  print_status(
      fmt::format("the loss is lowest at {:.2g}, the edge of what holds: begin with --lr {:.2g}",
                  rate_at(best), rate_at(std::max(0, best - kBelowTheLowest))));
  return 0;
}

template int find_learning_rate(const Training<float>&);
template int find_learning_rate(const Training<double>&);

}  // namespace glassbox::cli
