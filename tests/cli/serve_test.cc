// `glassbox serve` by its sockets, as a client that knows nothing of its insides.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/json.h"
#include "tests/cli/program.h"

using namespace glassbox;

namespace {

struct Answer {
  int status = 0;
  std::string head, body;

  Json json() const { return Json::parse(body, "body", 16); }
};

int connect_to(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

void send_all(int fd, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

std::string request_text(const std::string& method, const std::string& path,
                         const std::string& body) {
  return method + ' ' + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

Answer read_answer(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::recv(fd, buffer, sizeof buffer, 0)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  ::close(fd);
  Answer answer;
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos) return answer;
  answer.head = text.substr(0, end);
  answer.status = std::atoi(text.c_str() + text.find(' '));
  std::string body = text.substr(end + 4);
  if (answer.head.find("chunked") == std::string::npos) {
    answer.body = body;
    return answer;
  }
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t line = body.find("\r\n", at);
    const std::size_t size = std::stoul(body.substr(at, line - at), nullptr, 16);
    if (size == 0) break;
    answer.body += body.substr(line + 2, size);
    at = line + 2 + size + 2;
  }
  return answer;
}

// A model M and its server, on a port that was free.
class Server : public Program {
 public:
  explicit Server(const std::string& options = "", const std::string& training = "") {
    output("train TINY.txt --out M --steps 200 --block-size 16" + kTinyShape + training);
    const std::string script = "G='" GLASSBOX_PROGRAM "'\ncd '" + folder.path() +
                               "'\nexec \"$G\" serve M --port 0 " + options + " 2>log\n";
    process_ = ::fork();
    if (process_ == 0) {
      ::close(0);
      ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
      ::_exit(127);
    }
    for (int i = 0; i < 600 && port_ == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (!has("log")) continue;
      const std::string log = file("log");
      const std::size_t at = log.find("listening on http://");
      if (at != std::string::npos && log.back() == '\n')
        port_ = std::stoi(log.substr(log.rfind(':') + 1));
    }
    REQUIRE(port_ > 0);
  }
  ~Server() {
    if (process_ > 0) end(SIGKILL);
  }

  Answer ask(const std::string& method, const std::string& path,
             const std::string& body = "") const {
    const int fd = connect_to(port_);
    REQUIRE(fd >= 0);
    send_all(fd, request_text(method, path, body));
    return read_answer(fd);
  }
  Answer complete(const std::string& body) const { return ask("POST", "/v1/completions", body); }
  // Its exit status, or 128 and the signal that ended it.
  int end(int signal) {
    ::kill(process_, signal);
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int threads() const {
    const std::string text = file_bytes("/proc/" + std::to_string(process_) + "/status");
    return std::stoi(text.substr(text.find("Threads:") + 8));
  }
  int port() const { return port_; }

 private:
  pid_t process_ = -1;
  int port_ = 0;
};

std::vector<std::string> texts_of(const Answer& answer) {
  std::vector<std::string> texts;
  const Json json = answer.json();
  for (const Json& choice : json.find("choices")->array())
    texts.push_back(choice.find("text")->string());
  return texts;
}

// The choices' texts from a stream of events, and how many events there were.
std::vector<std::string> streamed(const Answer& answer, std::size_t choices, std::size_t& events) {
  std::vector<std::string> texts(choices);
  bool done = false;
  for (const std::string& line : lines_of(answer.body)) {
    if (line.empty()) continue;
    CHECK_FALSE(done);
    if (line == "data: [DONE]") {
      done = true;
      continue;
    }
    REQUIRE(line.rfind("data: {", 0) == 0);
    const Json json = Json::parse(line.substr(6), "event", 16);
    for (const Json& choice : json.find("choices")->array()) {
      texts[static_cast<std::size_t>(choice.find("index")->integer())] +=
          choice.find("text")->string();
      ++events;
    }
  }
  CHECK(done);
  return texts;
}

}  // namespace

TEST_CASE("serve: choice i is line i of sample with the same seed and settings", "[cli][serve]") {
  const Server server;
  struct Case {
    const char *options, *members;
  };
  for (const Case& c : {Case{"", ""},
                        {"--temp 1.7 --top-k 9", ",\"temperature\":1.7,\"top_k\":9"},
                        {"--top-p 0.6 --min-p 0.05", ",\"top_p\":0.6,\"min_p\":0.05"},
                        {"-n 40 --temp 2", ",\"max_tokens\":40,\"temperature\":2"},
                        {"--temp 0", ",\"temperature\":0"},
                        {"--stop lamp --stop ' s'", ",\"stop\":[\"lamp\",\" s\"]"},
                        {"--repetition-penalty 3 --repeat-last-n 2",
                         ",\"repetition_penalty\":3,\"repeat_last_n\":2"}}) {
    CAPTURE(c.options);
    for (const std::string prompt : {"", "the", "The LAMP"}) {
      const std::string typed = prompt.empty() ? "" : " -p '" + prompt + "'";
      const auto lines = lines_of(
          server.output("sample M --seed 11 --num-samples 7 " + std::string(c.options) + typed));
      const std::string body = "{\"prompt\":\"" + prompt + "\",\"n\":7,\"seed\":11" + c.members;
      std::string folded = prompt == "The LAMP" ? "the lamp" : prompt;
      const Answer whole = server.complete(body + ",\"echo\":true}");
      REQUIRE(whole.status == 200);
      CHECK(texts_of(whole) == lines);
      const auto without = texts_of(server.complete(body + "}"));
      for (std::size_t i = 0; i < lines.size(); ++i) CHECK(folded + without[i] == lines[i]);
      std::size_t events = 0;
      CHECK(streamed(server.complete(body + ",\"stream\":true}"), 7, events) == without);
      CHECK(events >= 7);
    }
  }
}

TEST_CASE("serve: requests side by side get what each would get alone", "[cli][serve]") {
  const Server server("--threads 2");
  const auto body = [](int seed) {
    return "{\"prompt\":\"the\",\"temperature\":1.5,\"max_tokens\":30,\"seed\":" +
           std::to_string(seed) + '}';
  };
  std::vector<std::string> alone, together(48);
  for (int i = 0; i < 48; ++i) alone.push_back(texts_of(server.complete(body(i)))[0]);
  std::vector<std::thread> clients;
  for (int i = 0; i < 48; ++i)
    clients.emplace_back([&, i] {
      const int fd = connect_to(server.port());
      send_all(fd, request_text("POST", "/v1/completions", body(i)));
      const Answer answer = read_answer(fd);
      if (answer.status == 200) {
        const Json json = answer.json();
        together[static_cast<std::size_t>(i)] =
            json.find("choices")->array()[0].find("text")->string();
      }
    });
  for (std::thread& client : clients) client.join();
  CHECK(together == alone);
}

TEST_CASE("serve: logprobs are those of sample --json, streamed too", "[cli][serve]") {
  const Server server;
  const Json line = Json::parse(
      lines_of(server.output("sample M --seed 5 --num-samples 1 -p the --json --logprobs 3"))[0],
      "line", 16);
  const std::string body = "{\"prompt\":\"the\",\"seed\":5,\"logprobs\":3";
  const Json answer = server.complete(body + ",\"echo\":true}").json();
  const Json& choice = answer.find("choices")->array()[0];
  CHECK(choice.find("text")->string() == line.find("text")->string());
  const Json& scores = *choice.find("logprobs");
  const auto& want = line.find("logprobs")->array();
  REQUIRE(scores.find("token_logprobs")->array().size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    CHECK(scores.find("token_logprobs")->array()[i].number() == want[i].number());
    CHECK(scores.find("top_logprobs")->array()[i].object().size() == 3);
    const auto offset = static_cast<std::size_t>(scores.find("text_offset")->array()[i].integer());
    const std::string token = scores.find("tokens")->array()[i].string();
    CHECK(choice.find("text")->string().substr(offset, token.size()) == token);
  }
  std::vector<double> streamed_scores;
  for (const std::string& event : lines_of(server.complete(body + ",\"stream\":true}").body)) {
    if (event.rfind("data: {", 0) != 0) continue;
    const Json json = Json::parse(event.substr(6), "event", 16);
    for (const Json& one : json.find("choices")->array())
      for (const Json& score : one.find("logprobs")->find("token_logprobs")->array())
        streamed_scores.push_back(score.number());
  }
  REQUIRE(streamed_scores.size() + 1 == want.size());
  for (std::size_t i = 0; i < streamed_scores.size(); ++i)
    CHECK(streamed_scores[i] == want[i + 1].number());
}

TEST_CASE("serve: a model of bytes writes what sample writes, streamed too", "[cli][serve]") {
  const Server server("", " --tokenizer bpe --vocab-size 300");
  const std::string body = "{\"prompt\":\"the\",\"n\":5,\"seed\":3,\"temperature\":1.5";
  std::vector<std::string> want;
  for (const std::string& line :
       lines_of(server.output("sample M -p the --num-samples 5 --seed 3 --temp 1.5 --json")))
    want.push_back(Json::parse(line, "line", 16).find("text")->string());
  CHECK(texts_of(server.complete(body + ",\"echo\":true}")) == want);
  std::size_t events = 0;
  CHECK(streamed(server.complete(body + ",\"echo\":true,\"stream\":true}"), 5, events) == want);
  const Json next = server.ask("POST", "/look/next", "{\"text\":\"the la\"}").json();
  for (const Json& one : next.find("next")->array())
    CHECK(one.find("text")->string().rfind("the la", 0) == 0);
}

TEST_CASE("serve: a text can be scored: max_tokens 0 with echo", "[cli][serve]") {
  const Server server;
  const Json answer =
      server.complete("{\"prompt\":\"the lamp\",\"max_tokens\":0,\"echo\":true,\"logprobs\":0}")
          .json();
  const Json& choice = answer.find("choices")->array()[0];
  CHECK(choice.find("text")->string() == "the lamp");
  CHECK(choice.find("logprobs")->find("token_logprobs")->array().size() == 2);
  CHECK(answer.find("usage")->find("completion_tokens")->integer() == 0);
}

TEST_CASE("serve: what can't be answered is refused as JSON with its status", "[cli][serve]") {
  const Server server("--max-pending 3");
  const auto refused = [&](int status, const Answer& answer, const char* part) {
    CAPTURE(answer.body, part);
    CHECK(answer.status == status);
    const Json json = answer.json();
    CHECK_THAT(json.find("error")->find("message")->string(), text_contains(part));
    CHECK(json.find("error")->find("type")->kind() == Json::Kind::string);
  };
  refused(404, server.ask("GET", "/nothing"), "/v1/completions");
  refused(405, server.ask("GET", "/v1/completions"), "expected POST");
  refused(405, server.ask("DELETE", "/health"), "expected GET");
  refused(400, server.complete("{"), "JSON");
  refused(400, server.complete("[]"), "object");
  refused(400, server.complete("{\"prompt\":\"the zebraxyz\"}"), "zebraxyz");
  refused(400, server.complete("{\"prompt\":7}"), "prompt");
  refused(400, server.complete("{\"prompt\":[99]}"), "from 0 to 46");
  refused(400, server.complete("{\"hotness\":1}"), "hotness");
  refused(400, server.complete("{\"temperature\":-1}"), "temperature");
  refused(400, server.complete("{\"n\":0}"), "n: expected");
  refused(400, server.complete("{\"max_tokens\":0}"), "max_tokens");
  refused(400, server.complete("{\"stop\":[\"\"]}"), "stop");
  refused(400, server.complete("{\"presence_penalty\":1}"), "repetition_penalty");
  refused(400, server.complete("{\"prompt\":\"a\",\"prompt\":\"a\"}"), "prompt");
  refused(404, server.complete("{\"model\":\"gpt-4\"}"), "gpt-4");
  refused(413, server.complete(std::string(1'200'000, ' ')), "1048576");
  refused(429, server.complete("{\"n\":4}"), "at most 3");
  std::string long_prompt = "the";
  for (int i = 0; i < 15; ++i) long_prompt += " the";
  refused(400, server.complete("{\"prompt\":\"" + long_prompt + "\"}"), "at most 15");
  // Null is as if it were not there; three are as many as may be.
  CHECK(server.complete("{\"stop\":null,\"n\":3,\"model\":\"M\"}").status == 200);
  CHECK(server.ask("GET", "/health").status == 200);
  CHECK(server.ask("GET", "/v1/models").json().find("data")->array()[0].find("id")->string() ==
        "M");
}

TEST_CASE("serve: clients that are slow, gone or endless hold nobody up", "[cli][serve]") {
  const Server server("--max-pending 100000");
  const std::string much =
      request_text("POST", "/v1/completions",
                   "{\"n\":100,\"max_tokens\":20000,\"temperature\":1000,\"stream\":true}");
  std::vector<int> open;
  for (int i = 0; i < 4; ++i) {
    open.push_back(connect_to(server.port()));
    send_all(open.back(), much);  // and never reads
    const int gone = connect_to(server.port());
    send_all(gone, much);
    ::close(gone);
    open.push_back(connect_to(server.port()));
    send_all(open.back(),
             "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n{");
  }
  for (int i = 0; i < 20; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    CHECK(server.complete("{\"prompt\":\"the\",\"max_tokens\":3}").status == 200);
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(60));
  }
  for (const int fd : open) ::close(fd);
}

TEST_CASE("serve: ends with SIGTERM and SIGINT, and requests under way are answered",
          "[cli][serve]") {
  for (const int signal : {SIGTERM, SIGINT}) {
    Server server;
    const int fd = connect_to(server.port());
    send_all(fd, request_text("POST", "/v1/completions",
                              "{\"prompt\":\"the\",\"n\":100,\"seed\":1,\"stream\":true}"));
    char first = 0;
    REQUIRE(::recv(fd, &first, 1, MSG_PEEK) == 1);  // it is under way
    CHECK(server.end(signal) == 0);
    const Answer answer = read_answer(fd);
    CHECK(answer.status == 200);
    CHECK_THAT(answer.body, text_contains("data: [DONE]"));
    CHECK(connect_to(server.port()) < 0);
  }
}

TEST_CASE("serve: its options are obeyed, and a port that is taken is told", "[cli][serve]") {
  const Server one("--threads 1"), three("--threads 3 --host 127.0.0.1");
  // Those that wait for connections are made last.
  for (const Server* server : {&one, &three})
    for (int i = 0; i < 600 && server->threads() < 257; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(three.threads() == one.threads() + 2);
  const Outcome taken = one("serve M --port " + std::to_string(one.port()));
  CHECK(taken.status == 1);
  CHECK_THAT(taken.err, text_contains("--port"));
  CHECK(one("serve M --host 300.1.1.1 --port 0").status == 1);
  CHECK(one("serve nothing --port 0").status == 1);
  CHECK(one("serve TINY.txt --port 0").status == 1);
  CHECK(one("serve").status == 2);
  CHECK(one("serve M --port 70000").status == 2);
}

TEST_CASE("serve: the page shows the next words, the heads and a logit's parts",
          "[cli][serve][chromium]") {
  const Server server;
  const Json next = server.ask("POST", "/look/next", "{\"text\":\"the\",\"temperature\":0}").json();
  double drawn = 0;
  for (const Json& one : next.find("next")->array()) {
    drawn += one.find("drawn")->number();
    if (!one.find("end")->boolean())
      CHECK(one.find("text")->string() == "the " + one.find("token")->string());
  }
  CHECK(next.find("before")->string().empty());
  CHECK(drawn == 1);  // greedy
  const Json look = server.ask("POST", "/look", "{\"text\":\"the\",\"token\":\"lamp\"}").json();
  double sum = 0;
  for (const Json& part : look.find("logit")->find("parts")->array())
    sum += part.find("amount")->number();
  CHECK(std::abs(sum - look.find("logit")->find("value")->number()) < 1e-9);
  CHECK(look.find("attention")->array().size() == 2);

  CHECK_THAT(server.ask("GET", "/").body, text_contains("<title>glassbox</title>"));
  if (server.shell("command -v chromium >/dev/null").status != 0) {
    WARN("passed over: chromium is not installed");
    return;
  }
  const Outcome page = server.shell(
      "timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
      "--user-data-dir=profile --virtual-time-budget=5000 --dump-dom 'http://127.0.0.1:" +
      std::to_string(server.port()) + "/#the%20lamp'");
  CHECK_THAT(page.out, text_contains("data-token"));
  CHECK_THAT(page.out, text_contains("M: type a beginning"));
  CHECK_THAT(page.out, text_contains("<th scope=\"row\">lamp</th>"));
  CHECK_THAT(page.out, text_contains("layer 0, head 1"));
}
