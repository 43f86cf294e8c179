// The beginnings that sentences share, computed once: a tree whose root is the prompt, and each
// edge one more token. A sentence walks down it for as long as its words are there, and one that
// leaves it may leave an edge behind.
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
  using NodeId = std::uint32_t;
  static constexpr NodeId kRoot = 0, kNone = 0xFFFFFFFF;
  // Uniform numbers in [from, to) draw `token`, and `child` is the beginning that is longer by it,
  // kNone if that is not in the tree.
  struct Edge {
    float from, to;
    TokenId token;
    NodeId child;
  };

  // The root is all that `cache` holds, and `table` is for what comes next. The tree is full when
  // its memory reaches `bytes`.
  PrefixTree(const KvCache<T>& cache, const DrawTable& table, std::size_t bytes);
  // It moves and is not copied: nodes look into the memory of their tree.
  PrefixTree(PrefixTree&&) = default;
  PrefixTree& operator=(PrefixTree&&) = default;

  const DrawTable& table(NodeId at) const { return nodes_[at].table; }
  std::size_t size(NodeId at) const { return nodes_[at].size; }  // tokens that a cache of it holds
  // `cache` then holds the beginning and nothing else.
  void fill(NodeId at, KvCache<T>& cache) const;
  // Begins to fetch what find(), a draw and fill() will read first, of large models a part.
  void expect(NodeId at) const;
  // The edge of that uniform number or of that token, null if there is none. Valid until the next
  // add.
  const Edge* find(NodeId at, double u) const;
  const Edge* find(NodeId at, TokenId token) const;

  bool full() const { return bytes_ >= most_bytes_; }
  std::size_t bytes() const { return bytes_; }
  // Adds the beginning that is longer by draw.token, which `cache` holds, or the edge alone where a
  // sentence ends. REQUIRES: no edge of that token.
  void add(NodeId at, const DrawnToken& draw, const KvCache<T>& cache, const DrawTable& table);
  void add(NodeId at, const DrawnToken& draw) { push_edge(at, draw, kNone); }

 private:
  struct alignas(64) Node {
    std::vector<Edge> edges;     // by token, and so by uniform number
    std::span<const T> entries;  // of the cache, those that the parent has not
    NodeId parent;
    std::uint32_t size;
    DrawTable table;
  };
  void push_node(NodeId parent, const KvCache<T>& cache, const DrawTable& table);
  void push_edge(NodeId at, const DrawnToken& draw, NodeId child);

  // A copy that lasts.
  template <class U>
  std::span<const U> keep(std::span<const U> array);

  kernels::AlignedVector<Node> nodes_;
  // The nodes' arrays: one allocation for many.
  std::vector<kernels::AlignedVector<std::byte>> chunks_;
  std::vector<T> entries_;  // scratch
  std::size_t bytes_ = 0, most_bytes_;
};

}  // namespace glassbox
