#include "cli/serve/server.h"

#include <fmt/core.h>
#include <httplib.h>
#include <signal.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <variant>

#include "base/error.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "cli/serve/completions.h"
#include "cli/serve/page.h"
#include "infer/batcher.h"
#include "inspect/attention_map.h"
#include "inspect/logit_split.h"

namespace glassbox::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of a request's body
constexpr auto kBodyTime = 10s;                           // to send it
constexpr std::size_t kConnections = 256;  // served at once; more wait for their turn
constexpr auto kLastWords = 5s;            // for requests under way, at the end

// What one request asked of the batcher. The batcher's threads write, the request's reads; both
// hold it, so either may go first.
struct Answers {
  struct Choice {
    std::vector<TokenId> tokens;
    std::vector<ScoredToken> scores;  // of the tokens behind the prompt, if they were asked for
    bool ended = false, stopped = false;
    std::string error;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Choice> choices;
  bool cancelled = false;  // nobody waits any more
};

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void send(httplib::Response& response, int status, const std::string& json) {
  response.status = status;
  response.set_content(json, "application/json");
}
void refuse(httplib::Response& response, const ApiError& error) {
  send(response, error.status, as_json(error));
}

// The body, within its time and size. Throws ApiError.
std::string read_body(const httplib::ContentReader& reader) {
  std::string body;
  bool large = false, late = false;
  const auto deadline = std::chrono::steady_clock::now() + kBodyTime;
  const bool whole = reader([&](const char* data, std::size_t size) {
    large = body.size() + size > kMostBytes;
    late = std::chrono::steady_clock::now() > deadline;
    if (large || late) return false;
    body.append(data, size);
    return true;
  });
  if (large) throw ApiError{413, fmt::format("body: expected at most {} bytes", kMostBytes)};
  if (late) throw ApiError{408, "body: expected all of it within 10 seconds"};
  if (!whole) throw ApiError{400, "body: expected as many bytes as announced, found fewer"};
  return body;
}

template <class T>
class Service {
 public:
  Service(Model<T> model, const ServerSettings& settings)
      : decoder_(std::move(model)),
        batcher_(decoder_, settings.threads),
        settings_(settings),
        name_(std::filesystem::path(settings.model).stem().string()) {}

  // What was under way is told to end.
  void close() { closing_ = true; }

  std::string models() const {
    JsonWriter json;
    json.begin_object().member("object", "list").key("data").begin_array().begin_object();
    json.member("id", name_).member("object", "model").member("created", started_);
    json.member("owned_by", "glassbox").end_object().end_array().end_object();
    return json.take();
  }

  void complete(const std::string& body, httplib::Response& response) {
    auto request = std::make_shared<const CompletionRequest>(
        parse_completion(body, name_, tokenizer(), decoder_.config().block_size));
    if (batcher_.pending() + request->choices() > settings_.max_pending)
      throw ApiError{429, fmt::format("server: expected at most {} sentences at a time; try again",
                                      settings_.max_pending)};
    auto answers = begin(*request);
    const std::string id = fmt::format("cmpl-{:x}-{}", started_, next_id_++);
    if (request->stream)
      stream(request, answers, id, response);
    else
      send(response, 200, whole(*request, *answers, id));
  }

  // What the page shows of a beginning: the next token by the model and by the settings.
  std::string next(const std::string& body) {
    const Json json = parse(body);
    SamplerConfig sampling;
    sampling.temperature = 0.8;
    std::string text;
    for (const auto& [name, value] : json.object())
      if (name == "text")
        text = as_text(name, value);
      else
        read_sampling(name, value, sampling);
    const std::vector<TokenId> tokens = encode(text);
    Decoder<T> decoder = decoder_.another();
    KvCache<T> cache(decoder.config());
    const auto logits = read_prompt(decoder, std::span<const TokenId>(tokens), cache);
    Sampler sampler(sampling);
    const auto drawn = sampler.probabilities(logits, std::span<const TokenId>(tokens));
    std::vector<double> plain(logits.begin(), logits.end());
    plain = softmax(plain);
    JsonWriter out;
    // What the text is without its last token, and with each that may come next: how tokens are
    // joined is the tokenizer's business.
    std::vector<TokenId> longer = tokens;
    if (!longer.empty()) longer.pop_back();
    out.begin_object().member("before", repaired_utf8(tokenizer().decode(longer)));
    longer = tokens;
    longer.emplace_back();
    out.member("room", decoder.config().block_size - 1 - tokens.size());
    out.key("next").begin_array();
    for (const TokenId token : likeliest_tokens(plain, 24)) {
      out.begin_object().member("token", tokenizer().word(token));
      longer.back() = token;
      out.member("text", repaired_utf8(tokenizer().decode(longer)));
      out.member("end", token == tokenizer().bos()).member("model", plain[token]);
      out.member("drawn", drawn[token]).end_object();
    }
    return out.end_array().end_object().take();
  }

  // Where each head looks, and the logit of a word behind the beginning, taken apart.
  std::string look(const std::string& body) {
    const Json json = parse(body);
    std::string text;
    std::optional<std::string> word;
    for (const auto& [name, value] : json.object())
      if (name == "text")
        text = as_text(name, value);
      else if (name == "token")
        word = as_text(name, value);
      else
        throw ApiError{400, name + ": expected text or token, found another parameter", name};
    encode(text);
    const std::lock_guard one_at_a_time(inspection_);  // it takes much memory
    if (!wide_) wide_ = widened();
    Inspection inspection(*wide_, text);
    const std::size_t last = inspection.positions() - 1;
    TokenId token = tokenizer().bos();
    if (word) {
      token = tokenizer().find(*word);
      if (*word == tokenizer().word(tokenizer().bos())) token = tokenizer().bos();
      if (token >= tokenizer().size())
        throw ApiError{400, "token: expected one of the model's, found another", "token"};
    }
    JsonWriter out;
    out.begin_object().key("tokens").begin_array();
    for (std::size_t i = 0; i <= last; ++i) out.value(inspection.token(i));
    out.end_array().key("attention").begin_array();
    for (const AttentionMap& map : attention_maps(inspection)) {
      out.begin_object().member("layer", map.layer).member("head", map.head);
      out.key("weights").begin_array();
      for (const auto& row : map.weights) out.values(row);
      out.end_array().end_object();
    }
    const LogitSplit split = logit_split(inspection, last, token);
    out.end_array().key("logit").begin_object().member("token", tokenizer().word(token));
    out.member("value", split.logit).key("parts").begin_array();
    for (const auto& part : split.parts)
      out.begin_object().member("name", part.name).member("amount", part.amount).end_object();
    return out.end_array().end_object().end_object().take();
  }

  const std::string& name() const { return name_; }

 private:
  const Tokenizer& tokenizer() const { return decoder_.tokenizer(); }

  static Json parse(const std::string& body) {
    try {
      Json json = Json::parse(body, "body");
      if (json.kind() == Json::Kind::object) return json;
    } catch (const Error& error) {
      throw ApiError{400, error.what()};
    }
    throw ApiError{400, "body: expected a JSON object"};
  }
  static std::string as_text(const std::string& name, const Json& value) {
    if (value.kind() != Json::Kind::string) throw ApiError{400, name + ": expected a text", name};
    return value.string();
  }
  std::vector<TokenId> encode(const std::string& text) const {
    try {
      auto tokens = tokenizer().encode(text, "text");
      check_prompt(tokens.size(), decoder_.config(), tokenizer().kind().unit);
      return tokens;
    } catch (const Error& error) {
      throw ApiError{400, error.what(), "text"};
    }
  }
  std::unique_ptr<Model<double>> widened() const {
    const Model<T>& own = decoder_.model();
    return std::make_unique<Model<double>>(model_as<double>(
        AnyModel(std::in_place_type<Model<T>>, own.tokenizer, own.weights.copy(), own.training),
        settings_.model));
  }

  std::shared_ptr<Answers> begin(const CompletionRequest& request) {
    auto answers = std::make_shared<Answers>();
    answers->choices.resize(request.choices());
    for (std::size_t i = 0; i < request.choices(); ++i) {
      const auto& prompt = request.prompts[i / request.n];
      Answers::Choice& choice = answers->choices[i];
      choice.tokens = prompt.tokens;
      if (request.max_tokens == std::size_t{0}) {
        choice.ended = true;
        continue;
      }
      auto stop = std::make_shared<const StopTexts>(tokenizer(), request.stop, prompt.tokens);
      batcher_.begin({.prompt = prompt.tokens,
                      .sampling = request.sampling,
                      .max_tokens = request.max_tokens.value_or(0),
                      .seed = request.seed,
                      .index = i % request.n,
                      .on_event = [answers, i, stop, logprobs = request.logprobs,
                                   this](const GenerationEvent<T>& event) {
                        return take(*answers, answers->choices[i], *stop, logprobs, event);
                      }});
    }
    return answers;
  }
  // On a thread of the batcher.
  bool take(Answers& answers, Answers::Choice& choice, const StopTexts& stop,
            const std::optional<std::size_t>& logprobs, const GenerationEvent<T>& event) {
    const bool is_token = !event.ended && !event.sentence.tokens.empty();
    std::optional<ScoredToken> score;
    if (logprobs && is_token) score = scored(event.logits, event.sentence.tokens.back(), *logprobs);
    const bool found = is_token && stop.found(event.sentence.tokens);
    const std::lock_guard lock(answers.mutex);
    if (is_token) choice.tokens.push_back(event.sentence.tokens.back());
    if (score) choice.scores.push_back(std::move(*score));
    if (event.ended) {
      choice.ended = true;
      choice.stopped = event.sentence.stopped;
      if (event.error) choice.error = message_of(event.error);
    }
    answers.changed.notify_all();
    return !found && !answers.cancelled && !closing_;
  }
  static std::string message_of(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& exception) {
      return exception.what();
    } catch (...) {
      return "an unknown error";
    }
  }

  struct Finished {
    std::string text;  // without the prompt, unless echo
    std::vector<ScoredToken> scores;
    std::size_t made;  // tokens drawn
    const char* reason;
  };
  Finished finish(const CompletionRequest& request, std::size_t index,
                  const Answers::Choice& choice) {
    const auto& prompt = request.prompts[index / request.n];
    const StopTexts stop(tokenizer(), request.stop, prompt.tokens);
    GeneratedSentence sentence{choice.tokens, choice.stopped};
    const std::string text = stop.cut(sentence);
    Finished result{request.echo ? text : text.substr(std::min(text.size(), prompt.text.size())),
                    {},
                    choice.tokens.size() - prompt.tokens.size(),
                    choice.stopped ? "stop" : "length"};
    if (request.logprobs) {
      if (request.echo && !prompt.tokens.empty()) {
        Decoder<T> decoder = decoder_.another();
        for_each_logits<T>(decoder, prompt.tokens, [&](std::size_t i, std::span<const T> logits) {
          result.scores.push_back(scored(logits, prompt.tokens[i], *request.logprobs));
        });
      }
      const std::size_t kept =
          sentence.tokens.size() - std::min(sentence.tokens.size(), prompt.tokens.size());
      result.scores.insert(result.scores.end(), choice.scores.begin(),
                           choice.scores.begin() +
                               static_cast<std::ptrdiff_t>(std::min(kept, choice.scores.size())));
    }
    return result;
  }

  void open(JsonWriter& json, const std::string& id) const {
    json.begin_object().member("id", id).member("object", "text_completion");
    json.member("created", now()).member("model", name_).key("choices").begin_array();
  }
  void write_choice(JsonWriter& json, std::size_t index, const std::string& text,
                    const char* reason, const std::vector<ScoredToken>* scores,
                    std::size_t offset) const {
    json.begin_object().member("text", repaired_utf8(text)).member("index", index);
    if (scores != nullptr)
      write_logprobs(json, *scores, tokenizer(), offset);
    else
      json.key("logprobs").null();
    if (reason != nullptr)
      json.member("finish_reason", reason);
    else
      json.key("finish_reason").null();
    json.end_object();
  }
  // Where the first token of a choice begins in its text.
  std::size_t offset_of(const CompletionRequest& request, std::size_t index) const {
    const auto& prompt = request.prompts[index / request.n];
    return request.echo || prompt.tokens.empty() ? 0 : tokenizer().kind().separator.size();
  }
  static void write_usage(JsonWriter& json, const CompletionRequest& request, std::size_t made) {
    std::size_t read = 0;
    for (const auto& prompt : request.prompts) read += prompt.tokens.size();
    json.key("usage").begin_object().member("prompt_tokens", read);
    json.member("completion_tokens", made).member("total_tokens", read + made).end_object();
  }

  std::string whole(const CompletionRequest& request, Answers& answers, const std::string& id) {
    std::unique_lock lock(answers.mutex);
    answers.changed.wait(lock, [&] {
      return closing_ || std::ranges::all_of(answers.choices, &Answers::Choice::ended);
    });
    JsonWriter json;
    open(json, id);
    std::size_t made = 0;
    for (std::size_t i = 0; i < answers.choices.size(); ++i) {
      const auto& choice = answers.choices[i];
      if (!choice.error.empty()) throw ApiError{500, choice.error};
      if (!choice.ended) throw ApiError{503, "server: it is ending; ask again later"};
      const Finished finished = finish(request, i, choice);
      write_choice(json, i, finished.text, finished.reason,
                   request.logprobs ? &finished.scores : nullptr, offset_of(request, i));
      made += finished.made;
    }
    json.end_array();
    write_usage(json, request, made);
    return json.end_object().take();
  }

  // Server-sent events: a piece of a choice as soon as it is certain. Whoever is slow or gone holds
  // up nobody else, since each connection has a thread of its own.
  void stream(std::shared_ptr<const CompletionRequest> request, std::shared_ptr<Answers> answers,
              const std::string& id, httplib::Response& response) {
    struct Sent {
      std::size_t bytes = 0, tokens = 0;  // that went out
      std::size_t seen = 0;               // tokens that were looked at
      bool done = false;
    };
    auto sent = std::make_shared<std::vector<Sent>>(request->choices());
    response.status = 200;
    response.set_header("Cache-Control", "no-store");
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, request, answers, sent, id](std::size_t, httplib::DataSink& sink) {
          std::unique_lock lock(answers->mutex);
          const auto news = [&] {
            for (std::size_t i = 0; i < sent->size(); ++i) {
              const auto& choice = answers->choices[i];
              const auto& prompt = request->prompts[i / request->n];
              if (!(*sent)[i].done &&
                  (choice.ended || choice.tokens.size() - prompt.tokens.size() > (*sent)[i].seen))
                return true;
            }
            return false;
          };
          // Now and then whether anybody listens still.
          while (!news() && !closing_)
            if (answers->changed.wait_for(lock, 500ms) == std::cv_status::timeout &&
                !sink.is_writable())
              return false;
          std::string events;
          std::size_t open_choices = 0, made = 0;
          for (std::size_t i = 0; i < sent->size(); ++i) {
            const auto& choice = answers->choices[i];
            Sent& so_far = (*sent)[i];
            const auto& prompt = request->prompts[i / request->n];
            made += choice.tokens.size() - prompt.tokens.size();
            so_far.seen = choice.tokens.size() - prompt.tokens.size();
            if (!so_far.done)
              events += piece(*request, i, choice, so_far.bytes, so_far.tokens, so_far.done, id);
            open_choices += so_far.done ? 0 : 1;
          }
          lock.unlock();
          if (open_choices == 0 || closing_) {
            if (request->include_usage && open_choices == 0) {
              JsonWriter json;
              open(json, id);
              json.end_array();
              write_usage(json, *request, made);
              events += "data: " + json.end_object().take() + "\n\n";
            }
            events += "data: [DONE]\n\n";
          }
          if (!events.empty() && !sink.write(events.data(), events.size())) return false;
          if (open_choices == 0 || closing_) sink.done();
          return true;
        },
        [answers](bool) {
          const std::lock_guard lock(answers->mutex);
          answers->cancelled = true;
        });
  }
  // The event of one choice, "" if there is nothing certain to say yet.
  std::string piece(const CompletionRequest& request, std::size_t index,
                    const Answers::Choice& choice, std::size_t& bytes, std::size_t& tokens,
                    bool& done, const std::string& id) {
    const auto& prompt = request.prompts[index / request.n];
    const StopTexts stop(tokenizer(), request.stop, prompt.tokens);
    JsonWriter json;
    open(json, id);
    if (choice.ended) {
      done = true;
      if (!choice.error.empty()) return "data: " + as_json(ApiError{500, choice.error}) + "\n\n";
      const Finished finished = finish(request, index, choice);
      std::vector<ScoredToken> rest;
      if (request.logprobs)
        rest.assign(finished.scores.begin() +
                        static_cast<std::ptrdiff_t>(std::min(tokens, finished.scores.size())),
                    finished.scores.end());
      write_choice(
          json, index, finished.text.substr(std::min(bytes, finished.text.size())), finished.reason,
          request.logprobs ? &rest : nullptr,
          bytes == 0 ? offset_of(request, index) : bytes + tokenizer().kind().separator.size());
    } else {
      const std::string text = tokenizer().decode(choice.tokens);
      const std::size_t begin = request.echo ? 0 : prompt.text.size();
      std::size_t end = std::max(stop.certain(text), begin) - begin;
      std::vector<ScoredToken> scores;
      if (request.logprobs) {
        if (request.echo) return "";  // with its prompt's, at the end
        std::size_t whole = choice.tokens.size();
        const auto length = [&](std::size_t count) {
          return tokenizer()
              .decode({choice.tokens.begin(),
                       choice.tokens.begin() + static_cast<std::ptrdiff_t>(count)})
              .size();
        };
        while (whole > prompt.tokens.size() + tokens && length(whole) > begin + end) --whole;
        if (whole == prompt.tokens.size() + tokens) return "";
        end = length(whole) - begin;
        const auto first = choice.scores.begin() + static_cast<std::ptrdiff_t>(tokens);
        tokens = whole - prompt.tokens.size();
        scores.assign(first, choice.scores.begin() + static_cast<std::ptrdiff_t>(tokens));
      }
      if (end <= bytes) return "";
      write_choice(
          json, index, text.substr(begin + bytes, end - bytes), nullptr,
          request.logprobs ? &scores : nullptr,
          bytes == 0 ? offset_of(request, index) : bytes + tokenizer().kind().separator.size());
      bytes = end;
    }
    return "data: " + json.end_array().end_object().take() + "\n\n";
  }

  Decoder<T> decoder_;
  Batcher<T> batcher_;
  ServerSettings settings_;
  std::string name_;
  std::int64_t started_ = now();
  std::atomic<std::uint64_t> next_id_ = 1;
  std::atomic<bool> closing_ = false;
  std::mutex inspection_;
  std::unique_ptr<Model<double>> wide_;
};

// Runs `handle(body)`, and answers with what it refuses.
template <class F>
httplib::Server::HandlerWithContentReader answered(F handle) {
  return [handle](const httplib::Request&, httplib::Response& response,
                  const httplib::ContentReader& reader) {
    try {
      handle(read_body(reader), response);
    } catch (const ApiError& error) {
      if (error.status == 408 || error.status == 413) response.set_header("Connection", "close");
      refuse(response, error);
    } catch (const Error& error) {
      refuse(response, {400, error.what()});
    } catch (const std::exception& error) {
      refuse(response, {500, error.what()});
    }
  };
}

template <class T>
int serve_model(Model<T> model, const ServerSettings& settings) {
  // These two are taken by a thread of their own; every other thread inherits that they wait.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  Service<T> service(std::move(model), settings);
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kConnections); };
  server.set_read_timeout(5s);
  server.set_write_timeout(5s);
  server.set_keep_alive_timeout(2);
  server.set_keep_alive_max_count(1000);
  server.set_tcp_nodelay(true);
  int listener = -1;
  server.set_socket_options([&](socket_t socket) {
    listener = socket;
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });

  const std::vector<std::pair<const char*, const char*>> paths = {
      {"/", "GET"},           {"/health", "GET"},
      {"/v1/models", "GET"},  {"/v1/completions", "POST"},
      {"/look/next", "POST"}, {"/look", "POST"}};
  server.Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(kServerPage.data(), kServerPage.size(), "text/html; charset=utf-8");
  });
  server.Get("/health", [](const httplib::Request&, httplib::Response& response) {
    send(response, 200, "{\"status\":\"ok\"}");
  });
  server.Get("/v1/models", [&](const httplib::Request&, httplib::Response& response) {
    send(response, 200, service.models());
  });
  server.Post("/v1/completions",
              answered([&](const std::string& body, httplib::Response& response) {
                service.complete(body, response);
              }));
  server.Post("/look/next", answered([&](const std::string& body, httplib::Response& response) {
                send(response, 200, service.next(body));
              }));
  server.Post("/look", answered([&](const std::string& body, httplib::Response& response) {
                send(response, 200, service.look(body));
              }));
  std::atomic<bool> ending = false;
  server.set_pre_routing_handler([&](const httplib::Request& request, httplib::Response& response) {
    if (ending) {
      refuse(response, {503, "server: it is ending; ask again later"});
      return httplib::Server::HandlerResponse::Handled;
    }
    std::string known;
    for (const auto& [path, method] : paths) {
      known += (known.empty() ? "" : ", ") + std::string(path);
      if (request.path != path) continue;
      if (request.method == method || (request.method == "HEAD" && method == std::string("GET")))
        return httplib::Server::HandlerResponse::Unhandled;
      response.set_header("Allow", method);
      refuse(response,
             {405, fmt::format("{}: expected {}, found {}", path, method, request.method)});
      return httplib::Server::HandlerResponse::Handled;
    }
    refuse(response, {404, fmt::format("path: expected one of {}", known)});
    return httplib::Server::HandlerResponse::Handled;
  });
  server.set_error_handler(
      httplib::Server::Handler([&](const httplib::Request&, httplib::Response& response) {
        if (!response.body.empty()) return;
        refuse(response,
               {response.status, response.status == 413
                                     ? fmt::format("body: expected at most {} bytes", kMostBytes)
                                     : "request: expected one that HTTP allows"});
      }));

  int port = static_cast<int>(settings.port);
  const bool bound = port == 0 ? (port = server.bind_to_any_port(settings.host)) > 0
                               : server.bind_to_port(settings.host, port);
  if (!bound)
    throw ConfigError(
        fmt::format("--host, --port: expected an address that is free, found {}:{}; "
                    "choose another port, or 0 for any",
                    settings.host, settings.port));
  ::listen(listener, 1024);  // the library lets 5 wait
  print_status(fmt::format("listening on http://{}:{}", settings.host, port));

  std::thread ender([&] {
    int signal = 0;
    sigwait(&ends, &signal);
    // Server::stop() would break off what is under way. A listener that is shut down takes no
    // connection more, and listen_after_bind() returns when those that are open have been served.
    ending = true;
    ::shutdown(listener, SHUT_RDWR);
    std::this_thread::sleep_for(kLastWords);
    service.close();
    std::this_thread::sleep_for(1s);
    std::_Exit(0);  // somebody holds a connection open and says nothing
  });
  ender.detach();
  server.listen_after_bind();
  std::fflush(stderr);
  std::_Exit(0);  // the ender may be in the middle of its wait
}

}  // namespace

int run_server(const ServerSettings& settings) {
  return std::visit([&](auto&& model) { return serve_model(std::move(model), settings); },
                    read_model(settings.model));
}

}  // namespace glassbox::cli
