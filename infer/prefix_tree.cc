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
void PrefixTree<T>::push_node(Place parent, const KvCache<T>& cache, const DrawTable& table) {
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
void PrefixTree<T>::push_branch(Place at, const Draw& draw, Place place) {
  Branch branch{static_cast<float>(draw.from), static_cast<float>(draw.to), draw.token, place};
  if (branch.from < draw.from) branch.from = std::nextafter(branch.from, 2.0f);
  if (branch.to > draw.to) branch.to = std::nextafter(branch.to, -1.0f);
  std::vector<Branch>& all = nodes_[at].branches;
  all.insert(std::lower_bound(all.begin(), all.end(), draw.token,
                              [](const Branch& b, TokenId token) { return b.token < token; }),
             branch);
  bytes_ += sizeof branch;
}

template <class T>
void PrefixTree<T>::add(Place at, const Draw& draw, const KvCache<T>& cache,
                        const DrawTable& table) {
  push_branch(at, draw, static_cast<Place>(nodes_.size()));
  push_node(at, cache, table);
}

template <class T>
void PrefixTree<T>::expect(Place at) const {
  constexpr std::size_t kLine = static_cast<std::size_t>(kernels::kCacheLine), kMost = 8 * kLine;
  const Node& node = nodes_[at];
  __builtin_prefetch(node.branches.data());
  __builtin_prefetch(node.table.read_first());
  const auto entries = std::as_bytes(node.entries);
  for (std::size_t i = 0; i < std::min(entries.size(), kMost); i += kLine)
    __builtin_prefetch(entries.data() + i);
}

template <class T>
const typename PrefixTree<T>::Branch* PrefixTree<T>::find(Place at, double coin) const {
  const std::vector<Branch>& all = nodes_[at].branches;
  const auto found = std::upper_bound(all.begin(), all.end(), coin,
                                      [](double c, const Branch& b) { return c < b.to; });
  return found == all.end() || coin < found->from ? nullptr : &*found;
}

template <class T>
const typename PrefixTree<T>::Branch* PrefixTree<T>::find(Place at, TokenId token) const {
  const std::vector<Branch>& all = nodes_[at].branches;
  const auto found = std::lower_bound(all.begin(), all.end(), token,
                                      [](const Branch& b, TokenId t) { return b.token < t; });
  return found == all.end() || found->token != token ? nullptr : &*found;
}

template <class T>
void PrefixTree<T>::fill(Place at, KvCache<T>& cache) const {
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
