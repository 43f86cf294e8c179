// Which handles are still good. A handle remembers the generation in which it was made. A new
// generation begins when nodes are dropped or when leaves are changed; a handle of an older one is
// stale if its place has been dropped since, whatever lies there now, or if it was computed from
// leaves that have changed since.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "autograd/record.h"

namespace glassbox {

class Lifetimes {
 public:
  std::uint32_t generation() const { return generation_; }

  // All nodes from `size` on and all matrices from `matrices` on are dropped.
  void drop(std::size_t size, std::size_t matrices) {
    ++generation_;
    // Whoever is older than an earlier drop is older than this one: those that drop no more than
    // this one does say nothing any longer. So sizes rise from the oldest to the latest.
    while (!drops_.empty() && drops_.back().size >= size && drops_.back().matrices >= matrices)
      drops_.pop_back();
    drops_.push_back({generation_, size, matrices});
    computed_ = std::min(computed_, size);
    safe_nodes_ = std::min({safe_nodes_, size});
    safe_matrices_ = std::min(safe_matrices_, matrices);
  }
  // The leaves from `begin` up to `end` have changed: of the nodes below `size`, those that were
  // computed from them are out of date. The first that was computed at all is `first_computed`, in
  // a matrix not below `first_matrix`.
  void change(std::size_t begin, std::size_t end, std::size_t size, std::size_t first_computed,
              std::size_t first_matrix) {
    ++generation_;
    changes_[{begin, end}] = {generation_, size};
    computed_ = size;
    safe_nodes_ = std::min(safe_nodes_, first_computed);
    safe_matrices_ = std::min(safe_matrices_, first_matrix);
  }

  // There is nothing that was computed.
  void forget_changes() {
    changes_.clear();
    computed_ = 0;
  }

  // Most handles are good at a glance.
  bool node_is_good(NodeId id, std::uint32_t generation) const {
    return generation == generation_ || id < safe_nodes_;
  }
  bool matrix_is_good(MatrixId id, std::uint32_t generation) const {
    return generation == generation_ || id < safe_matrices_;
  }
  bool node_was_dropped(NodeId id, std::uint32_t generation) const {
    const auto drop = first_after(generation);
    return drop != drops_.end() && id >= drop->size;
  }
  bool matrix_was_dropped(MatrixId id, std::uint32_t generation) const {
    const auto drop = first_after(generation);
    return drop != drops_.end() && id >= drop->matrices;
  }
  // Nodes from there on are up to date.
  std::size_t computed() const { return computed_; }
  // Leaves that have changed. A node below `size` that was computed from them is out of date.
  struct Change {
    std::size_t begin, end, size;
  };
  std::vector<Change> changes() const {
    std::vector<Change> all;
    for (const auto& [leaves, change] : changes_) {
      const auto drop = first_after(change.first);
      const std::size_t size =
          drop == drops_.end() ? change.second : std::min(change.second, drop->size);
      if (leaves.first < size) all.push_back({leaves.first, leaves.second, size});
    }
    return all;
  }

 private:
  struct Drop {
    std::uint32_t generation;  // the one that began with it
    std::size_t size, matrices;
  };
  std::vector<Drop>::const_iterator first_after(std::uint32_t generation) const {
    return std::upper_bound(drops_.begin(), drops_.end(), generation,
                            [](std::uint32_t g, const Drop& d) { return g < d.generation; });
  }

  std::uint32_t generation_ = 0;
  std::vector<Drop> drops_;
  // By leaves, from begin to end: the generation that began with the last change, and its `size`.
  std::map<std::pair<std::size_t, std::size_t>, std::pair<std::uint32_t, std::size_t>> changes_;
  std::size_t computed_ = 0;  // none above it is out of date
  // Below these places nothing was ever dropped, nor computed before a change.
  std::size_t safe_nodes_ = SIZE_MAX, safe_matrices_ = SIZE_MAX;
};

}  // namespace glassbox
