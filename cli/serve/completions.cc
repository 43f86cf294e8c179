#include "cli/serve/completions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "base/quote.h"
#include "infer/score.h"

namespace glassbox::cli {

namespace {

constexpr std::size_t kMostChoices = 256, kMostStops = 16, kMostTokens = 100'000;

[[noreturn]] void refuse(const std::string& name, const std::string& expected) {
  throw ApiError{400, fmt::format("{}: expected {}", name, expected), name};
}

double number(const std::string& name, const Json& value, const char* expected, double least,
              double most) {
  if (!value.is_number() || !(value.number() >= least) || !(value.number() <= most))
    refuse(name, expected);
  return value.number();
}
std::size_t whole(const std::string& name, const Json& value, std::size_t least, std::size_t most) {
  if (value.kind() != Json::Kind::integer || value.integer() < static_cast<std::int64_t>(least) ||
      value.integer() > static_cast<std::int64_t>(most))
    refuse(name, fmt::format("a whole number from {} to {}", least, most));
  return static_cast<std::size_t>(value.integer());
}
bool truth(const std::string& name, const Json& value) {
  if (value.kind() != Json::Kind::boolean) refuse(name, "true or false");
  return value.boolean();
}
// One string, or several.
std::vector<std::string> strings(const std::string& name, const Json& value, const char* expected) {
  if (value.kind() == Json::Kind::string) return {value.string()};
  if (value.kind() != Json::Kind::array) refuse(name, expected);
  std::vector<std::string> all;
  for (const Json& one : value.array()) {
    if (one.kind() != Json::Kind::string) refuse(name, expected);
    all.push_back(one.string());
  }
  return all;
}

void add_prompts(const Json& value, const Tokenizer& tokenizer, std::size_t block_size,
                 std::vector<CompletionRequest::Prompt>& prompts) {
  constexpr const char* kExpected = "a text, an array of texts, or arrays of token ids";
  const auto add_ids = [&](const Json::Array& ids) {
    std::vector<TokenId> tokens;
    for (const Json& id : ids)
      tokens.push_back(static_cast<TokenId>(whole("prompt", id, 0, tokenizer.size() - 1)));
    std::string text = tokenizer.decode(tokens);
    prompts.push_back({std::move(text), std::move(tokens)});
  };
  const auto add_text = [&](const std::string& text) {
    try {
      auto tokens = tokenizer.encode(text, "prompt");
      std::string normal = tokenizer.decode(tokens);
      prompts.push_back({std::move(normal), std::move(tokens)});
    } catch (const Error& error) {
      throw ApiError{400, error.what(), "prompt"};
    }
  };
  if (value.kind() == Json::Kind::string) {
    add_text(value.string());
  } else if (value.kind() != Json::Kind::array) {
    refuse("prompt", kExpected);
  } else if (!value.array().empty() && value.array()[0].kind() == Json::Kind::integer) {
    add_ids(value.array());
  } else {
    for (const Json& one : value.array()) {
      if (one.kind() == Json::Kind::string)
        add_text(one.string());
      else if (one.kind() == Json::Kind::array)
        add_ids(one.array());
      else
        refuse("prompt", kExpected);
    }
  }
  for (const auto& prompt : prompts)
    if (prompt.tokens.size() + 1 > block_size)
      refuse("prompt",
             fmt::format("at most {} tokens, so that the model's block of {} has room for "
                         "one more, found {}",
                         block_size - 1, block_size, prompt.tokens.size()));
}

}  // namespace

std::string as_json(const ApiError& error) {
  JsonWriter json;
  json.begin_object().key("error").begin_object().member("message", error.message);
  json.member("type", error.status == 429   ? "rate_limit_error"
                      : error.status >= 500 ? "server_error"
                                            : "invalid_request_error");
  if (error.parameter.empty())
    json.key("param").null();
  else
    json.member("param", error.parameter);
  json.key("code").null();
  return json.end_object().end_object().take();
}

void read_sampling(const std::string& name, const Json& value, SamplerConfig& sampling) {
  if (name == "temperature")
    sampling.temperature = number(name, value, "a number from 0 on", 0, HUGE_VAL);
  else if (name == "top_p")
    sampling.top_p = number(name, value, "a number from 0 to 1", 0, 1);
  else if (name == "min_p")
    sampling.min_p = number(name, value, "a number from 0 to 1", 0, 1);
  else if (name == "top_k")
    sampling.top_k = whole(name, value, 0, 1'000'000'000);
  else if (name == "repetition_penalty")
    sampling.repetition_penalty = number(name, value, "a number above 0", 1e-300, HUGE_VAL);
  else if (name == "repeat_last_n")
    sampling.repeat_last_n = whole(name, value, 0, 1'000'000'000);
  else
    throw ApiError{400,
                   fmt::format("{}: expected a parameter of this request, found none of that "
                               "name",
                               quotation(name)),
                   name};
}

CompletionRequest parse_completion(const std::string& body, const std::string& model,
                                   const Tokenizer& tokenizer, std::size_t block_size) {
  Json json;
  try {
    json = Json::parse(body, "body");
  } catch (const Error& error) {
    throw ApiError{400, error.what()};
  }
  if (json.kind() != Json::Kind::object) throw ApiError{400, "body: expected a JSON object"};
  CompletionRequest request;
  request.sampling.temperature = 0.8;
  bool seeded = false;
  for (const auto& [name, value] : json.object()) {
    if (value.kind() == Json::Kind::null) continue;  // as if it were not there
    if (name == "model") {
      if (value.kind() != Json::Kind::string) refuse(name, "a text");
      if (value.string() != model)
        throw ApiError{404,
                       fmt::format("model: expected {}, found {}", quotation(model),
                                   quotation(value.string())),
                       name};
    } else if (name == "prompt") {
      add_prompts(value, tokenizer, block_size, request.prompts);
    } else if (name == "n") {
      request.n = whole(name, value, 1, kMostChoices);
    } else if (name == "max_tokens") {
      request.max_tokens = whole(name, value, 0, kMostTokens);
    } else if (name == "seed") {
      request.seed = static_cast<std::uint32_t>(whole(name, value, 0, 4294967295));
      seeded = true;
    } else if (name == "stop") {
      request.stop = strings(name, value, "a text or an array of texts");
      if (request.stop.size() > kMostStops)
        refuse(name, fmt::format("at most {} texts", kMostStops));
      for (const std::string& text : request.stop)
        if (text.empty()) refuse(name, "texts that are not empty");
    } else if (name == "logprobs") {
      request.logprobs = whole(name, value, 0, 100);
    } else if (name == "echo") {
      request.echo = truth(name, value);
    } else if (name == "stream") {
      request.stream = truth(name, value);
    } else if (name == "stream_options") {
      if (value.kind() != Json::Kind::object) refuse(name, "an object");
      const Json* const usage = value.find("include_usage");
      if (usage == nullptr || value.object().size() != 1) refuse(name, "include_usage alone");
      request.include_usage = truth("include_usage", *usage);
    } else if (name == "best_of") {
      if (value.kind() != Json::Kind::integer ||
          value.integer() != static_cast<std::int64_t>(json.find("n") && json.find("n")->kind() ==
                                                                             Json::Kind::integer
                                                           ? json.find("n")->integer()
                                                           : 1))
        refuse(name, "the same number as n, or nothing");
    } else if (name == "frequency_penalty" || name == "presence_penalty") {
      if (!value.is_number() || value.number() != 0)
        refuse(name, "0; repetition_penalty is what this server has");
    } else if (name == "logit_bias") {
      if (value.kind() != Json::Kind::object || !value.object().empty()) refuse(name, "nothing");
    } else if (name == "suffix") {
      if (value.kind() != Json::Kind::string || !value.string().empty()) refuse(name, "nothing");
    } else if (name == "user") {
      if (value.kind() != Json::Kind::string) refuse(name, "a text");
    } else {
      read_sampling(name, value, request.sampling);
    }
  }
  if (request.prompts.empty()) {
    if (json.find("prompt") && json.find("prompt")->kind() != Json::Kind::null)
      refuse("prompt", "at least one");
    request.prompts.emplace_back();
  }
  if (request.choices() > kMostChoices)
    refuse("n",
           fmt::format("at most {} sentences in all, found {}", kMostChoices, request.choices()));
  if (request.max_tokens == std::size_t{0} && !request.echo)
    refuse("max_tokens", "at least 1, or echo");
  if (!seeded) request.seed = std::random_device()();
  return request;
}

template <class T>
ScoredToken scored(std::span<const T> logits, TokenId token, std::size_t count) {
  ScoredToken result{token, log_probability(logits, token), {}};
  if (count == 0) return result;
  for (const TokenId id : likeliest(logits, count))
    result.likeliest.emplace_back(id, log_probability(logits, id));
  return result;
}
template ScoredToken scored(std::span<const float>, TokenId, std::size_t);
template ScoredToken scored(std::span<const double>, TokenId, std::size_t);

void write_logprobs(JsonWriter& json, const std::vector<ScoredToken>& tokens,
                    const Tokenizer& tokenizer, std::size_t offset) {
  json.key("logprobs").begin_object().key("tokens").begin_array();
  for (const ScoredToken& token : tokens) json.value(tokenizer.word(token.id));
  json.end_array().key("token_logprobs").begin_array();
  for (const ScoredToken& token : tokens) json.value(token.logprob);
  json.end_array().key("top_logprobs").begin_array();
  for (const ScoredToken& token : tokens) {
    json.begin_object();
    for (const auto& [id, logprob] : token.likeliest) json.member(tokenizer.word(id), logprob);
    json.end_object();
  }
  json.end_array().key("text_offset").begin_array();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    json.value(offset);
    if (i + 1 == tokens.size()) break;
    // As far as the next one's text begins behind this one's.
    const TokenId next = tokens[i + 1].id;
    offset += tokenizer.decode({tokens[i].id, next}).size() - tokenizer.decode({next}).size();
  }
  json.end_array().end_object();
}

}  // namespace glassbox::cli
