#include "autograd/graph.h"

#include <algorithm>
#include <utility>

namespace glassbox {

template <class T>
const ScalarRecord* Graph<T>::maker(NodeId id) const {
  const std::span<const ScalarRecord> all = records;
  const auto after = std::upper_bound(all.begin(), all.end(), id,
                                      [](NodeId x, const ScalarRecord& r) { return x < r.out; });
  if (after == all.begin()) return nullptr;
  const ScalarRecord& record = *(after - 1);
  const bool made = record.is_matrix ? matrices[record.b].covers(id) : record.out == id;
  return made ? &record : nullptr;
}

template <class T>
MatrixId Graph<T>::matrix_of(NodeId id) const {
  const auto after = std::upper_bound(matrices.begin(), matrices.end(), id,
                                      [](NodeId x, const MatrixInfo& m) { return x < m.out; });
  if (after == matrices.begin() || !(after - 1)->covers(id)) return kNoMatrix;
  return static_cast<MatrixId>(after - 1 - matrices.begin());
}

template <class T>
std::string Graph<T>::label(NodeId id) const {
  if (const auto found = node_labels.find(id); found != node_labels.end()) return found->second;
  const MatrixId at = matrix_of(id);
  if (at == kNoMatrix || !matrices[at].label.format) return {};
  const MatrixInfo& matrix = matrices[at];
  const std::size_t row = (id - matrix.out) / matrix.pitch, col = (id - matrix.out) % matrix.pitch;
  return matrix.label.format(matrix.label.context, matrix.label.tag, row, col);
}

template <class T>
kernels::Args<T> Graph<T>::args(const MatrixInfo& matrix) const {
  const auto view = [&](const MatrixInfo& m) {
    return kernels::MatrixView<T>{.data = arena.data() + m.out,
                                  .grad = arena.grad() + m.out,
                                  .rows = m.rows,
                                  .cols = m.cols,
                                  .pitch = m.pitch};
  };
  kernels::Args<T> x;
  x.out = view(matrix);
  if (table[matrix.op].reads_anywhere)
    x.in[0] = {.data = arena.data(),
               .grad = arena.grad(),
               .rows = static_cast<std::uint32_t>(arena.size())};
  else
    matrix.for_each_operand([&](std::size_t k, MatrixId in) { x.in[k] = view(matrices[in]); });
  x.ids = {ids.data() + matrix.ids_begin, matrix.ids_count};
  x.saved = arena.data() + matrix.saved;
  x.settings = matrix.settings;
  return x;
}

template <class T>
bool Graph<T>::fits(const Section& section, const MatrixInfo& matrix) const {
  using kernels::Partition;
  if (matrix.rows != section.chunks.back().end_row) return false;
  const Partition partition = table[matrix.op].partition;
  if (partition == Partition::product) return matrices[matrix.operands[1]].op == Op::leaf;
  if (partition != Partition::sentences) return partition == Partition::rows;
  const std::uint32_t* const starts = ids.data() + matrix.ids_begin;
  const auto begins = [&](std::uint32_t sentence, std::uint32_t row) {
    return sentence < matrix.ids_count && starts[sentence] == row;
  };
  return std::all_of(section.chunks.begin(), section.chunks.end(), [&](const Chunk& chunk) {
    return begins(chunk.first_sentence, chunk.first_row) &&
           begins(chunk.end_sentence, chunk.end_row);
  });
}

template <class T>
std::vector<std::size_t> Graph<T>::out_of_date(std::span<const Lifetimes::Change> changes,
                                               std::size_t size) const {
  std::vector<std::size_t> below(size);
  for (const Lifetimes::Change& change : changes)
    for (std::size_t id = change.begin; id < std::min(change.end, size); ++id)
      below[id] = std::max(below[id], change.size);
  const auto of_matrix = [&](MatrixId id) {
    const auto begin = below.begin() + matrices[id].out;
    return *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(matrices[id].size()));
  };
  for (const ScalarRecord& record : std::span<const ScalarRecord>(records)) {
    if (record.out >= size) break;
    if (!record.is_matrix) {
      below[record.out] = std::max(below[record.a], below[record.b]);
      continue;
    }
    const MatrixInfo& matrix = matrices[record.b];
    std::size_t most = 0;
    if (table[matrix.op].reads_anywhere) {
      for (const NodeId id : std::span(ids).subspan(matrix.ids_begin, matrix.ids_count)) {
        const MatrixId in = matrix_of(id);
        most = std::max(most, in == kNoMatrix ? below[id] : of_matrix(in));
      }
    } else {
      matrix.for_each_operand(
          [&](std::size_t, MatrixId in) { most = std::max(most, of_matrix(in)); });
    }
    std::fill_n(below.begin() + matrix.out, matrix.size(), most);
  }
  return below;
}

template <class T>
void Graph<T>::clear_unwritten_gradients(NodeId id) {
  for (MatrixInfo& matrix : matrices) {
    if (matrix.op != Op::leaf || matrix.out + matrix.size() <= id || matrix.gradient_ready)
      continue;
    std::fill_n(arena.grad() + matrix.out, matrix.size(), T(0));
    matrix.gradient_ready = true;
  }
}

template <class T>
void Graph<T>::truncate(const Size& size) {
  for (std::size_t i = size.matrices; i < matrices.size(); ++i)
    matrices[i].for_each_operand([&](std::size_t, MatrixId in) { --matrices[in].readers; });
  for (; !element_uses_.empty() && element_uses_.back().record >= size.records;
       element_uses_.pop_back())
    matrices[element_uses_.back().matrix].has_elements = false;
  arena.truncate(size.nodes);
  records.truncate(size.records);
  matrices.resize(size.matrices);
  ids.resize(size.ids);
  while (!sections.empty() && sections.back().end > size.records) sections.pop_back();
  while (!groups.empty() && groups.back().end > size.records) groups.pop_back();
  if (!node_labels.empty())
    node_labels.erase(node_labels.lower_bound(static_cast<NodeId>(size.nodes)), node_labels.end());
}

template <class T>
void Graph<T>::use_elements(MatrixId id) {
  if (std::exchange(matrices[id].has_elements, true)) return;
  element_uses_.push_back({records.size(), id});
}

template struct Graph<float>;
template struct Graph<double>;

}  // namespace glassbox
