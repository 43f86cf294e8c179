// Threads that stay: the one place of the library that starts any.
//
// Each part has an owner, so that its data stays with a core; a thread that is done helps those
// that are not, so that a thread whose core is busy with something else costs little. No result may
// depend on who computes what nor on how many threads there are: parts write apart, and no sum is
// split among them.
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

// Cores this process may use: by its affinity and by the time its control group grants it. At
// least 1.
std::size_t allowed_cores();

class Threads {
 public:
  // The caller and `count` - 1 threads beside it. Throws std::system_error if the system has no
  // more.
  explicit Threads(std::size_t count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  std::size_t size() const { return workers_.size() + 1; }

  // Calls f(part) for every part below `parts`: thread t begins with the parts p of which p %
  // size() is t, in rising order, and goes on with those of others that nobody has begun; the
  // caller is thread 0. Returns when all are done, and what they wrote can be read. If calls throw,
  // the exception of the lowest part is thrown here. Not from within f, and from one thread at a
  // time.
  template <class F>
  void parallel_for(std::size_t parts, F&& f) {
    using Function = std::remove_reference_t<F>;
    run(
        parts, [](void* context, std::size_t part) { (*static_cast<Function*>(context))(part); },
        const_cast<std::remove_const_t<Function>*>(&f));
  }

 private:
  using Call = void (*)(void* context, std::size_t part);
  void run(std::size_t parts, Call call, void* context);
  void work(std::size_t thread);        // what each thread does until the end
  void take_parts(std::size_t thread);  // its own, then those of others
  bool take_part_of(std::size_t owner);
  void compute(std::size_t part);
  void stop();

  // The parts of an owner that nobody has begun: `next` in the lower half, the end in the upper. A
  // thread that takes one by compare-and-exchange holds the round open: run() waits for every part.
  // So what it reads after that belongs to this round, even if it was late and looked for parts of
  // one before.
  struct alignas(64) Queue {
    std::atomic<std::uint64_t> parts{0};
  };
  std::vector<Queue> queues_;  // one a thread
  Call call_ = nullptr;
  void* context_ = nullptr;
  std::atomic<bool> stop_{false};
  std::exception_ptr failed_;  // of the lowest part that threw, and which it was; guarded by mutex_
  std::size_t failed_part_ = 0;

  std::atomic<std::uint64_t> round_{0};  // calls of run() so far
  std::atomic<std::size_t> left_{0};     // parts of this round that are not done
  std::mutex mutex_;                     // for those who sleep
  std::condition_variable begin_, end_;
  std::vector<std::thread> workers_;
};

}  // namespace glassbox::kernels
