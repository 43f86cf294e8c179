#include "infer/prefix_tree.h"

#include <algorithm>
#include <cmath>

namespace glassbox {

template <class T>
PrefixTree<T>::PrefixTree(const KvCache<T>& cache, const DrawTable& table, std::size_t bytes)
    : most_bytes_(bytes) {
  push_node(kNone, cache, table);
}

template <class T>
template <class U>
std::span<const U> PrefixTree<T>::keep(std::span<const U> array) {
  constexpr std::size_t kLine = static_cast<std::size_t>(kernels::kCacheLine),
                        kChunk = std::size_t{1} << 16;
  const auto bytes = std::as_bytes(array);
  const std::size_t size = (bytes.size() + kLine - 1) / kLine * kLine;
  if (chunks_.empty() || chunks_.back().capacity() - chunks_.back().size() < size)
    chunks_.emplace_back().reserve(std::max(size, kChunk));
  kernels::AlignedVector<std::byte>& chunk = chunks_.back();
  const std::byte* const copy = chunk.data() + chunk.size();
  chunk.insert(chunk.end(), bytes.begin(), bytes.end());
  chunk.resize(chunk.size() + size - bytes.size());
  bytes_ += size;
  return {reinterpret_cast<const U*>(copy), array.size()};
}

template <class T>
void PrefixTree<T>::push_node(NodeId parent, const KvCache<T>& cache, const DrawTable& table) {
  const std::size_t first = parent == kNone ? 0 : nodes_[parent].size, size = cache.entry_size();
  entries_.resize((cache.size() - first) * size);
  for (std::size_t i = first; i < cache.size(); ++i)
    cache.get(i, entries_.data() + (i - first) * size);
  nodes_.push_back({{},
                    keep(std::span<const T>(entries_)),
                    parent,
                    static_cast<std::uint32_t>(cache.size()),
                    table.kept([this](auto array) { return keep(array); })});
  bytes_ += sizeof(Node);
}

template <class T>
void PrefixTree<T>::push_edge(NodeId at, const DrawnToken& draw, NodeId child) {
  Edge edge{static_cast<float>(draw.from), static_cast<float>(draw.to), draw.token, child};
  if (edge.from < draw.from) edge.from = std::nextafter(edge.from, 2.0f);
  if (edge.to > draw.to) edge.to = std::nextafter(edge.to, -1.0f);
  std::vector<Edge>& all = nodes_[at].edges;
  all.insert(std::ranges::lower_bound(all, draw.token, {}, &Edge::token), edge);
  bytes_ += sizeof edge;
}

template <class T>
void PrefixTree<T>::add(NodeId at, const DrawnToken& draw, const KvCache<T>& cache,
                        const DrawTable& table) {
  push_edge(at, draw, static_cast<NodeId>(nodes_.size()));
  push_node(at, cache, table);
}

template <class T>
void PrefixTree<T>::expect(NodeId at) const {
  constexpr std::size_t kLine = static_cast<std::size_t>(kernels::kCacheLine), kMost = 8 * kLine;
  const Node& node = nodes_[at];
  __builtin_prefetch(node.edges.data());
  __builtin_prefetch(node.table.sums.data());
  const auto entries = std::as_bytes(node.entries);
  for (std::size_t i = 0; i < std::min(entries.size(), kMost); i += kLine)
    __builtin_prefetch(entries.data() + i);
}

template <class T>
const typename PrefixTree<T>::Edge* PrefixTree<T>::find(NodeId at, double u) const {
  const std::vector<Edge>& all = nodes_[at].edges;
  const auto found = std::ranges::upper_bound(all, u, {}, &Edge::to);
  return found == all.end() || u < found->from ? nullptr : &*found;
}

template <class T>
const typename PrefixTree<T>::Edge* PrefixTree<T>::find(NodeId at, TokenId token) const {
  const std::vector<Edge>& all = nodes_[at].edges;
  const auto found = std::ranges::lower_bound(all, token, {}, &Edge::token);
  return found == all.end() || found->token != token ? nullptr : &*found;
}

template <class T>
void PrefixTree<T>::fill(NodeId at, KvCache<T>& cache) const {
  cache.clear();
  for (; at != kNone; at = nodes_[at].parent) {
    const Node& node = nodes_[at];
    const std::size_t count = node.entries.size() / cache.entry_size();
    for (std::size_t i = 0; i < count; ++i)
      cache.set(node.size - count + i, node.entries.data() + i * cache.entry_size());
  }
}

template class PrefixTree<float>;
template class PrefixTree<double>;

}  // namespace glassbox
