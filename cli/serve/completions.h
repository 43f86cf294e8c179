// The body of a completion request, and the JSON of its answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "infer/sampler.h"

namespace glassbox::cli {

// What a request is refused with.
struct ApiError {
  int status;
  std::string message;
  std::string parameter = {};  // of the request, "" if it is none of them
};
std::string as_json(const ApiError& error);

struct CompletionRequest {
  struct Prompt {
    std::string text;  // as tokens give it back
    std::vector<TokenId> tokens;
  };
  std::vector<Prompt> prompts;
  std::size_t n = 1;
  std::optional<std::size_t> max_tokens;
  SamplerConfig sampling;
  std::uint32_t seed = 0;
  std::vector<std::string> stop;
  std::optional<std::size_t> logprobs;
  bool echo = false, stream = false, include_usage = false;

  std::size_t choices() const { return prompts.size() * n; }
};

// Throws ApiError with status 400 for what the API or the model does not have, 404 for another
// model.
CompletionRequest parse_completion(const std::string& body, const std::string& model,
                                   const Tokenizer& tokenizer, std::size_t block_size);

// The sampling settings among the members of a body, for every request that has them. Throws
// ApiError.
void read_sampling(const std::string& name, const Json& value, SamplerConfig& sampling);

// One token of an answer, with what `logprobs` asks for.
struct ScoredToken {
  TokenId id;
  double logprob;
  std::vector<std::pair<TokenId, double>> likeliest;
};
template <class T>
ScoredToken scored(std::span<const T> logits, TokenId token, std::size_t count);
// The member `logprobs` of a choice. `offset` is where the first token begins in the choice's text.
void write_logprobs(JsonWriter& json, const std::vector<ScoredToken>& tokens,
                    const Tokenizer& tokenizer, std::size_t offset);

}  // namespace glassbox::cli
