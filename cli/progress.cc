#include "cli/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "cli/output.h"
#include "cli/view/text.h"

namespace glassbox::cli {

namespace {

constexpr std::uint64_t kLines = 10;  // of a run that is not on a terminal
constexpr std::chrono::seconds kLongestSilence(
    15);                                           // between them, so that a log never looks frozen
constexpr std::chrono::milliseconds kRedraw(100);  // the eye needs no more

bool wants_bar() {
  const char* const term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && term != nullptr && std::strcmp(term, "dumb") != 0 &&
         std::getenv("CI") == nullptr;
}

// Columns of the terminal: asked each time, since a window can change.
std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  std::size_t columns = 0;
  if (const char* const text = std::getenv("COLUMNS")) {
    std::from_chars(text, text + std::strlen(text), columns);
  }
  return columns > 0 ? columns : 80;
}

// Of a step: "31 us", "2.4 ms".
std::string short_time(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.1f} ms", seconds * 1e3) : fmt::format("{:.1f} s", seconds);
}

// Of what is left: "0.1s", "12min 5s", "3h 20min".
std::string long_time(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f}s", seconds);
  const double minutes = std::floor(seconds / 60);
  if (minutes < 60)
    return fmt::format("{:.0f}min {:.0f}s", minutes, std::floor(seconds - 60 * minutes));
  const double hours = std::floor(minutes / 60);
  return fmt::format("{:.0f}h {:.0f}min", hours, minutes - 60 * hours);
}

// exp(loss): among how many words the model hesitates.
std::string perplexity(double loss) {
  const double value = std::exp(loss);
  return value < 1e6 ? fmt::format("{:.1f}", value) : fmt::format("{:.1e}", value);
}

// In place of what stood in the line.
void redraw(std::string_view line) {
  line = line.substr(0, terminal_width() - 1);  // a full last column would begin a new line
  fmt::print(stderr, "\r{}\x1b[K", line);       // and clear what a longer line left behind
  std::fflush(stderr);
}

}  // namespace

Progress::Progress(std::uint64_t steps, std::uint64_t done)
    : steps_(steps),
      done_before_(done),
      bar_(wants_bar()),
      started_(Clock::now()),
      shown_(started_),
      spacing_(steps / kLines + (steps % kLines > 0 ? 1 : 0)),
      next_line_(spacing_ == 0 ? 0 : (done / spacing_ + 1) * spacing_) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - started_).count();
}

void Progress::step(const StepStats& stats) {
  loss_sum_ += stats.loss;
  ++loss_count_;
  const Clock::time_point now = Clock::now();
  const bool last = stats.step == steps_;
  const bool due =
      bar_ ? now - shown_ >= kRedraw : stats.step >= next_line_ || now - shown_ >= kLongestSilence;
  if (due || last) draw(stats, now);
}

void Progress::draw(const StepStats& stats, Clock::time_point now) {
  const double a_step = std::chrono::duration<double>(now - started_).count() /
                        static_cast<double>(stats.step - done_before_);
  const double loss = loss_sum_ / static_cast<double>(loss_count_);
  const double done = static_cast<double>(stats.step) / static_cast<double>(steps_);
  const std::string count =
      fmt::format("{}/{} {:.0f}%", stats.step, steps_, std::floor(100 * done));
  std::string figures = fmt::format(
      "{}/step ETA {} loss {:.2f} (perplexity {})", short_time(a_step),
      long_time(a_step * static_cast<double>(steps_ - stats.step)), loss, perplexity(loss));
  if (val_loss_) figures += fmt::format(" validation {:.2f}", *val_loss_);
  const std::string rate = fmt::format(" lr {:.1e}", stats.learning_rate);
  shown_ = now;
  loss_sum_ = 0;
  loss_count_ = 0;
  if (!bar_) {
    print_status(fmt::format("step {} {}{}", count, figures, rate));
    next_line_ = (stats.step / spacing_ + 1) * spacing_;
    return;
  }
  constexpr std::size_t kShortest = 8, kLongest = 30;  // columns of the bar
  const std::size_t width = terminal_width() - 1;
  constexpr std::size_t kSeparators = 4;  // brackets and blanks around it
  if (count.size() + kSeparators + kShortest + figures.size() + rate.size() <= width)
    figures += rate;
  const std::size_t used = count.size() + kSeparators + figures.size();
  const std::size_t columns = std::clamp(width > used ? width - used : 0, kShortest, kLongest);
  const auto filled = static_cast<std::size_t>(done * static_cast<double>(columns));
  std::string bar = std::string(filled, '=') + std::string(columns - filled, ' ');
  if (filled < columns) bar[filled] = '>';
  const std::string line = fmt::format("{} [{}] {}", count, bar, figures);
  redraw(line);
  drawn_ = true;
}

void Progress::leave() {
  if (!drawn_) return;
  std::fputc('\n', stderr);
  drawn_ = false;
}

Countdown::Countdown(std::size_t all, bool lines)
    : all_(all), bar_(wants_bar()), lines_(lines), started_(Clock::now()), shown_(started_) {}

Countdown::~Countdown() {
  if (drawn_) redraw("");
  if (drawn_) fmt::print(stderr, "\r");
}

void Countdown::show(std::size_t done) {
  const Clock::time_point now = Clock::now();
  if (now - shown_ < (bar_ ? kRedraw : kLongestSilence)) return;
  if (done == 0 || (!bar_ && !lines_)) return;
  shown_ = now;
  const double left = std::chrono::duration<double>(now - started_).count() *
                      static_cast<double>(all_ - done) / static_cast<double>(done);
  const std::string line =
      fmt::format("{} of {} {}% ETA {}", grouped(static_cast<std::int64_t>(done)),
                  grouped(static_cast<std::int64_t>(all_)), 100 * done / all_, long_time(left));
  if (!bar_) return print_status(line);
  redraw(line);
  drawn_ = true;
}

}  // namespace glassbox::cli
