// The C functions on top of the C++ library. Each body runs within guarded(), which turns whatever
// is thrown into a message.
#include "capi/glassbox.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error.h"
#include "data/corpus.h"
#include "infer/generate.h"
#include "infer/score.h"
#include "inspect/lookup.h"
#include "train/trainer.h"

using namespace glassbox;

namespace {

thread_local std::string last_error;

// What f() returns, or `failed` if it throws.
template <class F>
auto guarded(std::invoke_result_t<F> failed, F f) noexcept -> std::invoke_result_t<F> {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    last_error = "out of memory";
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "an unknown error";
  }
  return failed;
}

template <class Pointer>
Pointer needed(Pointer pointer, const char* what) {
  if (pointer == nullptr) throw ConfigError(std::string(what) + ": expected one, found NULL");
  return pointer;
}

char* copied(const std::string& text) {
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

using AnyDecoder = std::variant<Decoder<float>, Decoder<double>>;

}  // namespace

struct glassbox_model {
  explicit glassbox_model(AnyModel model)
      : decoder(std::visit([](auto&& one) { return AnyDecoder(Decoder(std::move(one))); },
                           std::move(model))) {
    tokens.reserve(tokenizer().size());
    for (TokenId id = 0; id < tokenizer().size(); ++id) tokens.emplace_back(tokenizer().word(id));
  }
  // f(decoder) with a decoder of the caller's own.
  template <class F>
  auto with_decoder(F f) const {
    return std::visit(
        [&](const auto& shared) {
          auto own = shared.another();
          return f(own);
        },
        decoder);
  }
  const Tokenizer& tokenizer() const {
    return std::visit([](const auto& one) -> const Tokenizer& { return one.tokenizer(); }, decoder);
  }
  const GptConfig& config() const {
    return std::visit([](const auto& one) -> const GptConfig& { return one.config(); }, decoder);
  }

  AnyDecoder decoder;
  std::vector<std::string> tokens;
};

namespace {

template <class T>
struct TrainingRun {
  TrainingRun(Corpus text, const Tokenizer& words, Random& random, const GptConfig& shape,
              const TrainConfig& config)
      : corpus(std::move(text)),
        tokenizer(words),
        model(shape, random),
        trainer(model, tokenizer, corpus, config) {}
  Corpus corpus;
  Tokenizer tokenizer;
  Gpt<T> model;
  Trainer<T> trainer;
};
}  // namespace

struct glassbox_trainer {
  std::variant<std::unique_ptr<TrainingRun<float>>, std::unique_ptr<TrainingRun<double>>> run;
};

extern "C" {

const char* glassbox_version(void) { return GLASSBOX_VERSION; }
const char* glassbox_last_error(void) { return last_error.c_str(); }
void glassbox_free_text(char* text) { std::free(text); }

glassbox_model* glassbox_load(const char* path) {
  return guarded(nullptr, [&]() -> glassbox_model* {
    return new glassbox_model(read_model(needed(path, "path")));
  });
}
void glassbox_free(glassbox_model* model) { delete model; }

glassbox_shape glassbox_model_shape(const glassbox_model* model) {
  return guarded({}, [&] {
    const GptConfig& c = needed(model, "model")->config();
    return glassbox_shape{c.vocab_size, c.block_size, c.n_layer,
                          c.n_head,     c.n_embd,     c.parameter_count()};
  });
}

uint32_t glassbox_bos(const glassbox_model* model) {
  return guarded(std::numeric_limits<uint32_t>::max(),
                 [&]() -> uint32_t { return needed(model, "model")->tokenizer().bos(); });
}

const char* glassbox_token(const glassbox_model* model, uint32_t id) {
  return guarded(nullptr, [&]() -> const char* {
    const auto& tokens = needed(model, "model")->tokens;
    if (id >= tokens.size())
      throw VocabularyError("token: expected an id below " + std::to_string(tokens.size()) +
                            ", found " + std::to_string(id));
    return tokens[id].c_str();
  });
}

ptrdiff_t glassbox_encode(const glassbox_model* model, const char* text, uint32_t* ids,
                          size_t capacity) {
  return guarded(-1, [&]() -> ptrdiff_t {
    const auto tokens = needed(model, "model")->tokenizer().encode(needed(text, "text"));
    if (capacity > 0)
      std::copy_n(tokens.begin(), std::min(capacity, tokens.size()), needed(ids, "ids"));
    return static_cast<ptrdiff_t>(tokens.size());
  });
}

char* glassbox_decode(const glassbox_model* model, const uint32_t* ids, size_t count) {
  return guarded(nullptr, [&]() -> char* {
    const Tokenizer& tokenizer = needed(model, "model")->tokenizer();
    std::vector<TokenId> tokens;
    if (count > 0) tokens.assign(needed(ids, "ids"), ids + count);
    for (const TokenId id : tokens)
      if (id >= tokenizer.size())
        throw VocabularyError("ids: expected tokens below " + std::to_string(tokenizer.size()) +
                              ", found " + std::to_string(id));
    return copied(tokenizer.decode(tokens));
  });
}

int glassbox_logits(const glassbox_model* model, const uint32_t* ids, size_t count,
                    double* logits) {
  return guarded(-1, [&] {
    if (count == 0) return 0;
    const std::span<const TokenId> tokens(needed(ids, "ids"), count);
    needed(logits, "logits");
    needed(model, "model")->with_decoder([&](auto& decoder) {
      const auto all = decoder.logits(tokens);
      std::copy(all.begin(), all.end(), logits);
    });
    return 0;
  });
}

int glassbox_loss(const glassbox_model* model, const char* sentence, double* loss) {
  return guarded(-1, [&] {
    const Tokenizer& tokenizer = needed(model, "model")->tokenizer();
    const auto tokens = tokenizer.encode_sentence(needed(sentence, "sentence"));
    if (tokens.size() - 1 > model->config().block_size)
      throw ConfigError("sentence: expected at most " +
                        std::to_string(model->config().block_size - 1) + " tokens, found " +
                        std::to_string(tokens.size() - 2));
    TextLoss score;
    model->with_decoder([&](auto& decoder) {
      score.add(log_probabilities(decoder, std::span<const TokenId>(tokens)));
    });
    *needed(loss, "loss") = score.loss();
    return 0;
  });
}

glassbox_sampling glassbox_default_sampling(void) {
  const SamplerConfig off;
  return {off.temperature,   off.top_k,        off.top_p, off.min_p, off.repetition_penalty,
          off.repeat_last_n, /*max_tokens=*/0, nullptr,   0};
}

char* glassbox_sample(const glassbox_model* model, const char* prompt,
                      const glassbox_sampling* sampling, uint32_t seed, uint64_t index,
                      glassbox_on_token on_token, void* user) {
  return guarded(nullptr, [&]() -> char* {
    const glassbox_sampling s = sampling != nullptr ? *sampling : glassbox_default_sampling();
    const Tokenizer& tokenizer = needed(model, "model")->tokenizer();
    const auto tokens = tokenizer.encode(prompt != nullptr ? prompt : "");
    std::vector<std::string> texts;
    for (size_t i = 0; i < s.stop_count; ++i)
      texts.emplace_back(needed(needed(s.stop, "stop")[i], "stop"));
    const StopTexts stop(tokenizer, std::move(texts), tokens);
    Sampler sampler({.temperature = s.temperature,
                     .top_k = s.top_k,
                     .top_p = s.top_p,
                     .min_p = s.min_p,
                     .repetition_penalty = s.repetition_penalty,
                     .repeat_last_n = s.repeat_last_n});
    return model->with_decoder([&](auto& decoder) {
      GeneratedSentence sentence =
          generate_tokens(decoder, sampler, std::span<const TokenId>(tokens), s.max_tokens,
                          UniformStream(seed, index), [&](std::span<const TokenId> so_far) {
                            if (on_token != nullptr && on_token(user, so_far.back()) == 0)
                              return false;
                            return !stop.found(so_far);
                          });
      return copied(stop.cut(sentence));
    });
  });
}

int glassbox_scalar(const glassbox_model* model, const char* sentence, const char* name,
                    double* data, double* gradient) {
  return guarded(-1, [&] {
    needed(model, "model");
    const Model<double> wide = std::visit(
        [](const auto& decoder) {
          const auto& own = decoder.model();
          return model_as<double>(AnyModel(std::in_place_type<std::remove_cvref_t<decltype(own)>>,
                                           own.tokenizer, own.weights.copy(), own.training),
                                  "model");
        },
        model->decoder);
    Inspection inspection(wide, needed(sentence, "sentence"));
    const NamedScalar scalar = find_scalar(inspection, needed(name, "name"));
    if (data != nullptr) *data = scalar.value.data();
    if (gradient != nullptr) *gradient = scalar.value.grad();
    return 0;
  });
}

glassbox_training glassbox_default_training(void) {
  const GptConfig shape;
  const TrainConfig config;
  return {shape.n_layer,
          shape.n_head,
          shape.n_embd,
          shape.block_size,
          config.steps,
          config.batch_size,
          config.learning_rate,
          config.seed,
          0,
          nullptr};
}

glassbox_trainer* glassbox_trainer_new(const char* corpus, const glassbox_training* training) {
  return guarded(nullptr, [&]() -> glassbox_trainer* {
    const glassbox_training t = training != nullptr ? *training : glassbox_default_training();
    Random random(t.seed);
    const char* const name = t.tokenizer != nullptr ? t.tokenizer : tokenizer_kinds().front().name;
    const TokenizerKind* const kind = find_tokenizer_kind(name);
    const bool exact = kind != nullptr && kind->exact;
    Corpus text = Corpus::read(needed(corpus, "corpus"), {.lowercase = !exact, .exact = exact});
    text.shuffle(random);
    const Tokenizer tokenizer = Tokenizer::of(text, name);
    const GptConfig shape{.vocab_size = tokenizer.size(),
                          .block_size = t.block_size,
                          .n_layer = t.n_layer,
                          .n_head = t.n_head,
                          .n_embd = t.n_embd};
    const TrainConfig config{.steps = t.steps,
                             .batch_size = t.batch_size,
                             .learning_rate = t.learning_rate,
                             .seed = t.seed};
    shape.validate();
    config.validate();
    if (t.double_precision != 0)
      return new glassbox_trainer{
          std::make_unique<TrainingRun<double>>(std::move(text), tokenizer, random, shape, config)};
    return new glassbox_trainer{
        std::make_unique<TrainingRun<float>>(std::move(text), tokenizer, random, shape, config)};
  });
}
void glassbox_trainer_free(glassbox_trainer* trainer) { delete trainer; }

int glassbox_trainer_step(glassbox_trainer* trainer, double* loss) {
  return guarded(-1, [&] {
    return std::visit(
        [&](auto& run) {
          const StepStats stats = run->trainer.step();
          if (loss != nullptr) *loss = stats.loss;
          return 0;
        },
        needed(trainer, "trainer")->run);
  });
}

uint64_t glassbox_trainer_steps_done(const glassbox_trainer* trainer) {
  return guarded(0, [&]() -> uint64_t {
    return std::visit([](const auto& run) { return run->trainer.steps_done(); },
                      needed(trainer, "trainer")->run);
  });
}

int glassbox_trainer_save(const glassbox_trainer* trainer, const char* path) {
  return guarded(-1, [&] {
    std::visit(
        [&](const auto& run) {
          write_model(needed(path, "path"), run->trainer.weights(), run->tokenizer,
                      run->trainer.provenance());
        },
        needed(trainer, "trainer")->run);
    return 0;
  });
}

glassbox_model* glassbox_trainer_model(const glassbox_trainer* trainer) {
  return guarded(nullptr, [&]() -> glassbox_model* {
    return std::visit(
        []<class T>(const std::unique_ptr<TrainingRun<T>>& run) {
          return new glassbox_model(AnyModel(Model<T>{
              run->tokenizer, Weights<T>(run->trainer.weights()), run->trainer.provenance()}));
        },
        needed(trainer, "trainer")->run);
  });
}

}  // extern "C"
