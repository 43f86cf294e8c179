// What sentences begin with, computed once: a tree of passes of the model, the prompt first. A
// sentence walks down it for as long as its words are there, and one that leaves it may leave a
// branch behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "infer/kv_cache.h"
#include "infer/sampler.h"
#include "kernels/aligned.h"

namespace glassbox {

template <class T>
class PrefixTree {
 public:
  using Place = std::uint32_t;
  static constexpr Place kRoot = 0, kNone = 0xFFFFFFFF;
  // UniformStream in [from, to) draw `token`, and the beginning that is longer by it is at `place`,
  // if it is there.
  struct Branch {
    float from, to;
    TokenId token;
    Place place;
  };

  // The root is all that `cache` holds, and `table` is for what comes next. The tree is full when
  // its memory reaches `bytes`.
  PrefixTree(const KvCache<T>& cache, const DrawTable& table, std::size_t bytes);
  PrefixTree(PrefixTree&&) =
      default;  // a copy's nodes would look into the memory of what it was copied from
  PrefixTree& operator=(PrefixTree&&) = default;

  const DrawTable& table(Place at) const { return nodes_[at].table; }
  std::size_t size(Place at) const { return nodes_[at].size; }  // tokens that a cache of it holds
  // `cache` then holds the beginning and nothing else.
  void fill(Place at, KvCache<T>& cache) const;
  // Begins to fetch what find(), a draw and fill() will read first, of large models a part.
  void expect(Place at) const;
  // The branch of that coin or of that token, null if there is none. Valid until the next add.
  const Branch* find(Place at, double coin) const;
  const Branch* find(Place at, TokenId token) const;

  bool full() const { return bytes_ >= most_bytes_; }
  std::size_t bytes() const { return bytes_; }
  // Adds what is longer by draw.token, or its place alone. `cache` holds just that beginning.
  // REQUIRES: no branch of that token.
  void add(Place at, const Draw& draw, const KvCache<T>& cache, const DrawTable& table);
  void add(Place at, const Draw& draw) { push_branch(at, draw, kNone); }

 private:
  struct alignas(64) Node {
    std::vector<Branch> branches;  // by token, and so by coins
    std::span<const T> entries;    // of the cache, those that the parent has not
    Place parent;
    std::uint32_t size;
    DrawTable table;
  };
  void push_node(Place parent, const KvCache<T>& cache, const DrawTable& table);
  void push_branch(Place at, const Draw& draw, Place place);

  // A copy that lasts.
  template <class U>
  std::span<const U> keep(std::span<const U> array);

  kernels::AlignedVector<Node> nodes_;
  std::vector<kernels::AlignedVector<std::byte>>
      chunks_;              // the nodes' arrays: one allocation for many
  std::vector<T> entries_;  // scratch
  std::size_t bytes_ = 0, most_bytes_;
};

}  // namespace glassbox
