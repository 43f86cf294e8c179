#include "inspect/gradcheck.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "autograd/scope.h"
#include "inspect/gradients.h"

namespace glassbox {

namespace {

constexpr double kRounding = std::numeric_limits<double>::epsilon() / 2;
constexpr double kStep =
    1.0 / 512;  // of the size of a parameter's elements: h^4 is then below 2e-11
constexpr double kShrink = 1.0 / 8;
constexpr int kShrinks = 5;  // down to 6e-8: below it rounding drowns the difference
// The loss is the end of a chain of some hundred roundings a position; they partly cancel.
constexpr double kLossRoundings = 32;
constexpr double kRelative = 1e-6;
constexpr int kRefinements = 2;  // the truncation's error is then 8^-8 of what it was

class LossProbe {
 public:
  LossProbe(Gpt<double>& model, const Batch& batch) : model_(model), batch_(batch) {
    loss_here_ = loss_at(0, 0, signs_here_);
  }

  struct Difference {
    double slope = 0;
    double noise = 0;  // what rounding may make of it
    bool one_piece = false;
  };
  Difference difference(NodeId id, double h) {
    double f[4];
    Difference result;
    result.one_piece = true;
    constexpr double kAt[] = {-2, -1, 1, 2};
    for (int i = 0; i < 4; ++i) {
      f[i] = loss_at(id, kAt[i] * h, signs_);
      result.one_piece = result.one_piece && signs_ == signs_here_;
    }
    result.slope = (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h);
    result.noise = kLossRoundings * kRounding * std::max(1.0, std::abs(loss_here_)) / h;
    return result;
  }
  // With h as large as kinks allow; smaller still, up to kRefinements times, while it disagrees
  // with `gradient`: of a loss that bends sharply a wide difference says too little.
  Difference best_difference(NodeId id, double h, double gradient) {
    Difference result = difference(id, h);
    for (int i = 0; i < kShrinks && !result.one_piece; ++i) result = difference(id, h *= kShrink);
    for (int i = 0; i < kRefinements && result.one_piece && !agree(gradient, result); ++i) {
      const Difference finer = difference(id, h *= kShrink);
      if (!finer.one_piece) break;
      result = finer;
    }
    return result;
  }
  static double tolerance(double gradient, const Difference& numeric) {
    return kRelative * std::max(std::abs(gradient), std::abs(numeric.slope)) + numeric.noise;
  }
  static bool agree(double gradient, const Difference& numeric) {  // false for NaN
    return std::abs(gradient - numeric.slope) <= tolerance(gradient, numeric);
  }

 private:
  // The loss with parameter `id` moved, and the signs of relu's inputs on the way.
  double loss_at(NodeId id, double move, std::vector<bool>& signs) {
    Tape<double>& tape = model_.tape();
    const double before = tape.data(id);
    *tape.data_from(id) = before + move;
    const StepScope<double> scope(tape);
    const std::size_t first_matrix = tape.matrices().size();
    const double loss = model_.loss(batch_).mean.data();
    signs.clear();
    for (std::size_t i = first_matrix; i < tape.matrices().size(); ++i) {
      const MatrixInfo& matrix = tape.matrices()[i];
      if (matrix.op != kernels::Op::relu) continue;
      for (std::size_t n = 0; n < matrix.rows; ++n)
        for (NodeId m = 0; m < matrix.cols; ++m)
          signs.push_back(tape.data(static_cast<NodeId>(matrix.out + n * matrix.pitch) + m) > 0);
    }
    *tape.data_from(id) = before;
    return loss;
  }

  Gpt<double>& model_;
  const Batch& batch_;
  std::vector<bool> signs_here_, signs_;
  double loss_here_ = 0;
};

struct Comparison {
  double analytic;
  LossProbe::Difference numeric;
};

// Beside the kink: the parameter a little further, on a model of its own, with the gradient taken
// there.
Comparison compare_beside(Inspection& inspection, NodeId id, double h) {
  Comparison result{};
  for (const double move : {8.0, -8.0, 24.0}) {
    Gpt<double> model(inspection.gpt().weights());
    Tape<double>& tape = model.tape();
    tape.set_data(id, tape.data(id) + move * h);
    model.loss(inspection.batch()).mean.backward();
    result.analytic = tape.grad(id);
    tape.clear();
    result.numeric = LossProbe(model, inspection.batch()).best_difference(id, h, result.analytic);
    if (result.numeric.one_piece) break;
  }
  return result;
}

}  // namespace

Gradcheck gradcheck(Inspection& inspection, const double* analytic,
                    const GradcheckOptions& options) {
  const ParameterLayout& layout = inspection.layout();
  const std::vector<double> given(analytic, analytic + layout.slab_size());
  Gradcheck result;
  result.parameters = layout.config().parameter_count();
  std::size_t wanted =
      options.sample == 0 ? result.parameters : std::min(options.sample, result.parameters);
  std::size_t left = result.parameters;
  const std::size_t all = wanted;
  Random random(options.seed);
  LossProbe probe(inspection.gpt(), inspection.batch());
  std::vector<std::pair<double, Gradcheck::Entry>> ranked;  // difference over tolerance
  const auto keep_worst = [&] {
    std::ranges::stable_sort(ranked, std::greater(), [](const auto& r) { return r.first; });
    if (ranked.size() > options.worst) ranked.resize(options.worst);
  };

  for (const ParameterSpec& spec : layout.parameters()) {
    const double norm = summarize_parameter(spec, inspection.gpt().weights().data).norm;
    const double size = std::max(1e-3, norm / std::sqrt(static_cast<double>(spec.size())));
    for (std::size_t r = 0; r < spec.rows; ++r) {
      for (std::size_t c = 0; c < spec.cols; ++c, --left) {
        // Of `left` still to come, `wanted` are drawn.
        if (wanted < left &&
            random.uniform() * static_cast<double>(left) >= static_cast<double>(wanted))
          continue;
        --wanted;
        const auto id = static_cast<NodeId>(spec.index(r, c));
        const double h = std::exp2(std::floor(std::log2(kStep * size)));
        Comparison both{given[id], probe.best_difference(id, h, given[id])};
        if (!both.numeric.one_piece) {
          ++result.on_a_kink;
          both = compare_beside(inspection, id, h);
        }
        const double gradient = both.analytic, slope = both.numeric.slope;
        const double tolerance = LossProbe::tolerance(gradient, both.numeric);
        const double difference = std::abs(gradient - slope);
        const bool good = both.numeric.one_piece && LossProbe::agree(gradient, both.numeric);
        result.failed += !good;
        ++result.checked;
        const double rank = std::isfinite(difference) ? difference / tolerance
                                                      : std::numeric_limits<double>::infinity();
        ranked.push_back(
            {rank, {fmt::format("{}[{}][{}]", spec.name, r, c), gradient, slope, tolerance}});
        if (options.progress && result.checked % 16 == 0) options.progress(result.checked, all);
        if (ranked.size() >= 4 * options.worst + 64) keep_worst();
      }
    }
  }
  keep_worst();
  for (auto& [rank, entry] : ranked) result.worst.push_back(std::move(entry));
  return result;
}

}  // namespace glassbox
