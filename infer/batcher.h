// Many callers, one model: sentences that are asked for at the same time are decoded side by side,
// and each is the one that it would be alone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "infer/generate.h"

namespace glassbox {

// What a caller is told of a sentence that grows.
template <class T>
struct GenerationEvent {
  const GeneratedSentence& sentence;
  std::span<const T> logits;  // what its newest token was drawn from; empty where it ended without
  bool ended;
  std::exception_ptr error;  // why it ended early, or null
};

template <class T>
struct GenerationRequest {
  std::vector<TokenId> prompt = {};
  SamplerConfig sampling = {};
  std::size_t max_tokens = 0;  // as generate_tokens means it
  std::uint32_t seed = 42;     // with the index as UniformStream means them
  std::uint64_t index = 0;
  // Called on a thread of the batcher for each token and once more when the sentence has ended; it
  // must neither wait nor throw, since other sentences wait for it. Whether the sentence goes on.
  std::function<bool(const GenerationEvent<T>&)> on_event = {};
};

template <class T>
class Batcher {
 public:
  // `threads` of them, each with up to `slots` sentences under way; others wait in the order in
  // which they came.
  explicit Batcher(const Decoder<T>& model, std::size_t threads = 1,
                   std::size_t slots = kDecodeBatch);
  // Sentences that are not done end without a further event.
  ~Batcher();
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  // Returns at once. Throws ConfigError as generate_tokens and Sampler do.
  void begin(GenerationRequest<T> request);

  // Sentences that wait or are under way.
  std::size_t pending() const;

 private:
  struct Slot;
  void work(Decoder<T> model);

  GptConfig shape_;
  const char* unit_;
  std::size_t slots_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<GenerationRequest<T>> queue_;
  std::size_t under_way_ = 0;
  bool stops_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace glassbox
