// Threads that stay: the one place of the library that starts any.
//
// Who computes what is fixed by number, never by who happens to be free, so each part's data stays with its
// core. No result may depend on how many threads there are: parts write apart, and no sum is split among them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace glassbox::kernels {

// Cores this process may use: by its affinity and by the time its control group grants it. At least 1.
std::size_t allowed_cores();

class Threads {
 public:
  // The caller and `count` - 1 threads beside it. Throws std::system_error if the system has no more.
  explicit Threads(std::size_t count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  std::size_t size() const { return workers_.size() + 1; }

  // Calls f(part) for every part below `parts`, part p on thread p % size(), each thread's in rising order; the
  // caller is thread 0. Returns when all are done, and what they wrote can be read. If calls throw, the
  // exception of the lowest thread that has one is thrown here; a thread that threw leaves out its later parts.
  // Not from within f, and from one thread at a time.
  template <class F>
  void parallel_for(std::size_t parts, F&& f) {
    using Function = std::remove_reference_t<F>;
    run(parts, [](void* context, std::size_t part) { (*static_cast<Function*>(context))(part); },
        const_cast<std::remove_const_t<Function>*>(&f));
  }

 private:
  using Call = void (*)(void* context, std::size_t part);
  void run(std::size_t parts, Call call, void* context);
  void work(std::size_t thread);      // what each thread does until the end
  void own_parts(std::size_t thread);  // the parts of one call that are a thread's
  void stop();

  // Set by run() before `round_` moves, read by the threads after they see it move.
  std::size_t parts_ = 0;
  Call call_ = nullptr;
  void* context_ = nullptr;
  bool stop_ = false;
  std::vector<std::exception_ptr> failed_;  // of each thread

  std::atomic<std::uint64_t> round_{0};   // calls of run() so far
  std::atomic<std::size_t> busy_{0};      // threads that have not finished this round
  std::mutex mutex_;                      // for those who sleep
  std::condition_variable begin_, end_;
  std::vector<std::thread> workers_;
};

}  // namespace glassbox::kernels
