#include "cli/commands/validation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace glassbox::cli {

namespace {

constexpr std::size_t kSentencesAtOnce = 16;  // for a thread; fewer than that need no second one

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::optional<Corpus> hold_out(const TrainingOptions& options, Corpus& corpus,
                               const Tokenizer& tokenizer, std::size_t block_size) {
  if (options.val) return read_corpus({*options.val}, tokenizer, block_size);
  if (options.val_fraction == 0) return {};
  const auto lines = static_cast<double>(corpus.size());
  const auto count = static_cast<std::size_t>(std::round(options.val_fraction * lines));
  if (count == 0 || count == corpus.size())
    throw FormatError(fmt::format(
        "{}: expected lines enough to hold out {} of them and to train on the others, found {}; "
        "try another --val-fraction, or --val FILE",
        corpus.name(), options.val_fraction, corpus.size()));
  return corpus.split_off(count);
}

template <class T>
Validation<T>::Validation(const TrainingOptions& options, std::uint64_t steps, const Corpus& text,
                          const Tokenizer& tokenizer, std::size_t block_size,
                          const BestModel<T>* best)
    : tokenizer_(tokenizer),
      sentences_(tokenizer.encode_lines(text)),
      every_(options.eval_every.value_or(std::max<std::uint64_t>(1, steps / 10))),
      patience_(options.patience.value_or(0)),
      most_threads_(options.threads.threads.value_or(kernels::allowed_cores())) {
  std::size_t cut = 0, first_cut = 0;
  for (std::size_t i = 0; i < sentences_.size(); ++i) {
    std::vector<TokenId>& sentence = sentences_[i];
    const bool fits = sentence.size() - 1 <= block_size;
    if (!fits && text.goes_on(i)) {
      sentence.resize(block_size + 1);
    } else if (!fits) {
      if (cut++ == 0 || text.comes_before(i, first_cut)) first_cut = i;
      sentence.resize(block_size + 1);
    }
    tokens_ += sentence.size() - 1;
    characters_ += fits ? code_points(text[i]) + (text.goes_on(i) && text.options().exact ? 0 : 1)
                        : code_points(tokenizer.decode({sentence.begin() + 1, sentence.end()}));
  }
  if (cut > 0)
    warn_of_cut_lines(cut, block_size - 1, text.name(), text.place(first_cut),
                      tokenizer.kind().unit);
  if (best != nullptr)
    best_.emplace(BestModel<T>{best->weights.copy(), best->measured, best->worse_since});
}

template <class T>
double Validation<T>::measure(std::uint64_t step, WeightsView<T> weights) {
  const std::size_t parts = (sentences_.size() + kSentencesAtOnce - 1) / kSentencesAtOnce;
  kernels::Threads threads(std::min(parts, most_threads_));
  const Decoder<T> model(weights, tokenizer_);
  TextLoss total;
  for (const auto& logs : log_probabilities(
           model, std::span<const std::vector<TokenId>>(sentences_), threads, kSentencesAtOnce)) {
    TextLoss line;
    line.add(logs);
    total.add(line);
  }
  const double loss = total.loss();
  if (std::isfinite(loss) && (!best_ || loss < best_->measured.loss)) {
    best_.emplace(BestModel<T>{Weights<T>(weights), {step, loss}, 0});
  } else if (best_) {
    ++best_->worse_since;
  }
  return loss;
}

template <class T>
double Validation<T>::bits_a_character(double loss) const {
  return loss * static_cast<double>(tokens_) / std::log(2.0) / static_cast<double>(characters_);
}

template class Validation<float>;
template class Validation<double>;

}  // namespace glassbox::cli
