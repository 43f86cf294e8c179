// SIGINT, SIGTERM and SIGHUP while a training runs. The first lets the step end, so that the run
// can be saved; a second one does not wait for a step that takes long.
#pragma once

#include <csignal>

namespace glassbox::cli {

// From its making to its end the signals are ours. One at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // The signal that asked for an end, or 0.
  static int signal();
  // "SIGINT", of that signal.
  static const char* name();
  // No more steps: what is left is to save, and no signal breaks that off.
  static void no_more_steps();

 private:
  struct sigaction interrupt_, terminate_, hang_up_, alarm_;
};

}  // namespace glassbox::cli
