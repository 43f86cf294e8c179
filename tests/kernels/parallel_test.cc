// The pool of threads: every part once, by the thread whose it is.
#include "kernels/parallel.h"

#include <atomic>
#include <numeric>
#include <stdexcept>

#include "tests/catch_compat.hpp"

namespace glassbox::kernels {
namespace {

TEST_CASE("Threads: every part is computed once", "[kernels][parallel]") {
  for (const std::size_t count : {1, 2, 3, 7, 64}) {
    Threads threads(count);
    REQUIRE(threads.size() == count);
    for (std::size_t parts : {0, 1, 2, 5, 64, 200}) {
      std::vector<int> calls(parts, 0);
      threads.parallel_for(parts, [&](std::size_t part) { ++calls[part]; });
      REQUIRE(calls == std::vector<int>(parts, 1));
    }
  }
}

TEST_CASE("Threads: those that are done take the parts of one that is not", "[kernels][parallel]") {
  Threads threads(2);
  std::atomic<int> done{0};
  threads.parallel_for(8, [&](std::size_t part) {
    while (part == 1 && done < 7)
      std::this_thread::yield();  // until all the others have been computed
    ++done;
  });
  REQUIRE(done == 8);
}

TEST_CASE("Threads: what parts wrote is read after the call, thousands of times, awake or asleep",
          "[kernels][parallel]") {
  Threads threads(3);
  std::vector<long> sums(3, 0);
  for (long round = 1; round <= 3000; ++round) {
    threads.parallel_for(3, [&](std::size_t part) { sums[part] += round; });
    REQUIRE(std::accumulate(sums.begin(), sums.end(), 0L) == 3 * round * (round + 1) / 2);
    if (round % 1000 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // they fall asleep
  }
}

TEST_CASE("Threads: the exception of the lowest part comes out and the pool stays usable",
          "[kernels][parallel]") {
  Threads threads(3);
  for (int round = 0; round < 100; ++round) {
    std::string caught;
    try {
      threads.parallel_for(9, [](std::size_t part) {
        if (part == 4 || part == 5) throw std::runtime_error("part " + std::to_string(part));
      });
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    REQUIRE(caught == "part 4");
    int calls = 0;
    threads.parallel_for(1, [&](std::size_t) { ++calls; });
    REQUIRE(calls == 1);
  }
}

TEST_CASE(
    "Threads: a pool ends at once if it never worked, and if its threads have just been called",
    "[kernels][parallel]") {
  for (int i = 0; i < 50; ++i) Threads threads(4);
  for (int i = 0; i < 200; ++i) {
    Threads threads(4);
    std::atomic<int> calls{0};
    threads.parallel_for(4, [&](std::size_t) { ++calls; });
    REQUIRE(calls == 4);
  }
}

TEST_CASE("allowed_cores is at least 1 and no more than the machine has", "[kernels][parallel]") {
  REQUIRE(allowed_cores() >= 1);
  REQUIRE(allowed_cores() <= std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace glassbox::kernels
