#include "cli/interrupt.h"

#include <sys/time.h>
#include <unistd.h>

#include <string_view>

namespace glassbox::cli {

namespace {

volatile std::sig_atomic_t g_signal = 0;    // the first
volatile std::sig_atomic_t g_repeated = 0;  // another came
volatile std::sig_atomic_t g_stepping = 0;  // a step may be running
volatile std::sig_atomic_t g_terminal = 0;  // a bar may have been drawn

void write_line(std::string_view line) {
  if (g_terminal != 0) static_cast<void>(!write(STDERR_FILENO, "\n", 1));
  static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
}

void set_alarm(long milliseconds) {
  const itimerval once{{0, 0}, {milliseconds / 1000, milliseconds % 1000 * 1000}};
  setitimer(ITIMER_REAL, &once, nullptr);
}

// Most steps are over long before the alarm, even when both signals came at once.
void on_signal(int signal) {
  if (g_signal == 0) {
    g_signal = signal;
    set_alarm(1000);
  } else {
    g_repeated = 1;
    set_alarm(100);
  }
}

void on_alarm(int) {
  if (g_stepping == 0) return;
  if (g_repeated == 0) {
    write_line("glassbox: finishing the step; a second signal ends it at once and loses it\n");
    return;
  }
  write_line("glassbox: ended in the middle of a step; the files that were written are whole\n");
  _exit(128 + g_signal);
}

}  // namespace

Interrupts::Interrupts() {
  g_signal = 0;
  g_repeated = 0;
  g_terminal = isatty(STDERR_FILENO);
  g_stepping = 1;
  struct sigaction action {};
  action.sa_flags = SA_RESTART;
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, &alarm_);
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, &interrupt_);
  sigaction(SIGTERM, &action, &terminate_);
  sigaction(SIGHUP, nullptr, &hang_up_);
  if (hang_up_.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // else nohup began us
}

Interrupts::~Interrupts() {
  no_more_steps();
  set_alarm(0);
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
  sigaction(SIGHUP, &hang_up_, nullptr);
  sigaction(SIGALRM, &alarm_, nullptr);
}

int Interrupts::signal() { return g_signal; }

const char* Interrupts::name() {
  return g_signal == SIGINT ? "SIGINT" : g_signal == SIGTERM ? "SIGTERM" : "SIGHUP";
}

void Interrupts::no_more_steps() { g_stepping = 0; }

}  // namespace glassbox::cli
