#include "kernels/parallel.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace glassbox::kernels {

namespace {

// To sleep and be woken costs some 10 to 50 us, so a wait shorter than that is better spun away;
// longer ones should leave the core to others.
constexpr std::chrono::microseconds kSpin{20};

constexpr std::uint64_t kHalf = 0xFFFFFFFF;  // of a queue's word: where its next part is

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Whether done() came true within kSpin.
template <class Done>
bool spin(Done done) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

// Cores' worth of time a control group (version 2) grants itself and all below it; infinity if
// unbounded.
double granted_by(const std::string& folder) {
  std::ifstream file(folder +
                     "/cpu.max");  // "max 100000" or "150000 100000": time, of which period
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || !(period > 0)) return INFINITY;
  double time = 0;
  const auto [end, error] = std::from_chars(quota.data(), quota.data() + quota.size(), time);
  return error == std::errc() ? time / period : INFINITY;
}

double granted_cores() {
  std::ifstream file("/proc/self/cgroup");
  double least = INFINITY;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("0::", 0) != 0) continue;
    for (std::string group = line.substr(3);; group.resize(group.rfind('/'))) {
      least = std::min(least, granted_by("/sys/fs/cgroup" + group));
      if (group.find('/') == std::string::npos) break;
    }
  }
  return least;
}

}  // namespace

std::size_t allowed_cores() {
  std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    cores = std::max<std::size_t>(1, static_cast<std::size_t>(CPU_COUNT(&set)));
#endif
  const double granted = std::max(1.0, std::floor(granted_cores()));
  return granted < static_cast<double>(cores) ? static_cast<std::size_t>(granted) : cores;
}

Threads::Threads(std::size_t count) : queues_(std::max<std::size_t>(count, 1)) {
  try {
    for (std::size_t thread = 1; thread < count; ++thread)
      workers_.emplace_back([this, thread] { work(thread); });
  } catch (const std::system_error& error) {
    const std::size_t started = workers_.size() + 1;
    stop();
    throw std::system_error(error.code(), "the system starts " + std::to_string(started) + " of " +
                                              std::to_string(count) + " threads");
  }
}

Threads::~Threads() { stop(); }

void Threads::stop() {
  stop_.store(true);
  {
    const std::lock_guard lock(mutex_);
    round_.fetch_add(1, std::memory_order_release);
  }
  begin_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Threads::compute(std::size_t part) {
  try {
    call_(context_, part);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failed_ || part < failed_part_) failed_ = std::current_exception(), failed_part_ = part;
  }
  if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    const std::lock_guard lock(mutex_);  // the caller is either before its look at left_ or asleep
    end_.notify_one();
  }
}

bool Threads::take_part_of(std::size_t owner) {
  std::atomic<std::uint64_t>& parts = queues_[owner].parts;
  for (std::uint64_t seen = parts.load(std::memory_order_acquire); (seen & kHalf) < seen >> 32;)
    if (parts.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel)) {
      compute((seen & kHalf) * queues_.size() + owner);
      return true;
    }
  return false;
}

void Threads::take_parts(std::size_t thread) {
  for (std::size_t i = 0; i < queues_.size(); ++i)
    while (take_part_of((thread + i) % queues_.size())) {
    }
}

void Threads::work(std::size_t thread) {
  for (std::uint64_t seen = 0;;) {
    const auto moved = [&] { return round_.load(std::memory_order_acquire) != seen; };
    if (!spin(moved)) {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, moved);
    }
    seen = round_.load(std::memory_order_acquire);  // before stop_: who has seen the round that
                                                    // stop() begins sees it
    if (stop_.load()) return;
    take_parts(thread);
  }
}

void Threads::run(std::size_t parts, Call call, void* context) {
  if (parts == 0) return;
  call_ = call;
  context_ = context;
  left_.store(parts, std::memory_order_relaxed);
  const std::size_t threads = queues_.size();
  for (std::size_t owner = 0; owner < threads; ++owner)
    queues_[owner].parts.store(std::uint64_t{(parts + threads - 1 - owner) / threads} << 32,
                               std::memory_order_release);
  if (threads > 1 && parts > 1) {
    {
      const std::lock_guard lock(mutex_);
      round_.fetch_add(1, std::memory_order_release);
    }
    begin_.notify_all();
  }
  take_parts(0);
  const auto done = [&] { return left_.load(std::memory_order_acquire) == 0; };
  if (!spin(done)) {
    std::unique_lock lock(mutex_);
    end_.wait(lock, done);
  }
  if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
}

}  // namespace glassbox::kernels
