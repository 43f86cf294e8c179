#include "autograd/expand.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "autograd/errors.h"
#include "autograd/matrix.h"

namespace glassbox {

// Writes a matrix's rows into an expansion.
template <class T>
class TapeEmitter : public kernels::Emitter<T> {
 public:
  using Node = typename kernels::Emitter<T>::Node;

  TapeEmitter(Tape<T>& from, Expansion<T>& to) : from_(from), to_(to) {}

  // The image of an original node; a leaf if it has none yet.
  Node image(NodeId original) {
    const auto [at, is_new] = to_.image_.try_emplace(original, Expansion<T>::kNone);
    if (is_new) {
      at->second = to_.tape_->leaf(from_.data(original), from_.label(original)).id();
      remember(at->second, original);
    }
    return at->second;
  }
  void set_image(NodeId original, Node node) {
    to_.image_[original] = node;
    std::string label = from_.label(original);
    if (!label.empty()) to_.tape_->set_label(node, std::move(label));
  }

  // `col`: of that column alone, in a product, whose columns have nothing in common but an operand.
  void expand_row(const MatrixInfo& matrix, std::size_t row, std::optional<std::size_t> col = {}) {
    matrix_ = &matrix;
    row_ = row;
    first_col_ = col.value_or(0);
    kernels::Args<T> x = from_.args(matrix);
    if (col) x.out.cols = x.in[1].cols = 1;
    from_.table()[matrix.op].expand(x, *this, row);
  }

  Node operand(int which, std::size_t offset) override {
    const MatrixId in = matrix_->operands[static_cast<std::size_t>(which)];
    const NodeId base = in == kNoMatrix ? 0 : from_.matrices()[in].out;
    return image(static_cast<NodeId>(base + offset + (which == 1 ? first_col_ : 0)));
  }
  Node constant(T value) override {
    const Node node = to_.tape_->leaf(value).id();
    remember(node, Expansion<T>::kNone);
    return node;
  }
  Node apply(Op op, Node a, Node b) override {
    const Node node = to_.tape_->record(op, a, b).id();
    remember(node, Expansion<T>::kNone);
    return node;
  }
  Node multiply_add(Node a, Node b, Node c) override {
    const Tape<T>& tape = *to_.tape_;
    const T value = from_.table().multiply_add(tape.data(a), tape.data(b), tape.data(c));
    const Node product = apply(Op::fused_mul, a, b);
    const Node sum = to_.tape_->record(Op::fused_add, product, c, value).id();
    remember(sum, Expansion<T>::kNone);
    return sum;
  }
  void output(std::size_t col, Node node) override {
    set_image(static_cast<NodeId>(matrix_->out + row_ * matrix_->pitch + first_col_ + col), node);
  }
  void name(Node node, const char* what, std::size_t i, std::size_t j) override {
    to_.inner_nodes_.push_back(
        {static_cast<NodeId>(matrix_->out + row_ * matrix_->pitch), what, i, j, node});
  }

 private:
  void remember(Node node, NodeId original) {
    to_.original_.resize(node + std::size_t{1}, Expansion<T>::kNone);
    to_.original_[node] = original;
  }
  Tape<T>& from_;
  Expansion<T>& to_;
  const MatrixInfo* matrix_ = nullptr;
  std::size_t row_ = 0, first_col_ = 0;
};

template <class T>
Expansion<T> Expansion<T>::of_tape(Tape<T>& tape) {
  Expansion expansion;
  TapeEmitter<T> emitter(tape, expansion);
  Graph<T>& plain = expansion.tape_->graph_;
  std::map<MatrixId, std::size_t> group_of;
  for (const ScalarRecord& record : tape.records()) {
    if (!record.is_matrix) {
      const NodeId a = emitter.image(record.a), b = emitter.image(record.b);
      emitter.set_image(record.out, emitter.apply(record.op, a, b));
      continue;
    }
    const MatrixInfo& matrix = tape.matrices()[record.b];
    const auto& row = tape.table()[matrix.op];
    Group group{plain.records.size(), 0, row.forward1 != nullptr, {}};
    for (std::size_t n = matrix.rows; n-- > 0;)
      emitter.expand_row(matrix, n);  // falling: see kernels/
    group.end = plain.records.size();
    if (!row.reads_anywhere)
      matrix.for_each_operand([&](std::size_t, MatrixId in) {
        if (const auto made = group_of.find(in); made != group_of.end())
          group.operands.push_back(made->second);
      });
    group_of[record.b] = plain.groups.size();
    plain.groups.push_back(std::move(group));
  }
  return expansion;
}

template <class T>
Expansion<T> Expansion<T>::of_node(Tape<T>& tape, NodeId node) {
  Expansion expansion;
  expansion.root_ = node;
  TapeEmitter<T> emitter(tape, expansion);
  Graph<T>& plain = expansion.tape_->graph_;
  std::vector<typename Tape<T>::Seed> seeds;
  const ScalarRecord* record = tape.maker(node);
  if (!record) {
    seeds.push_back({emitter.image(node), tape.grad(node)});
  } else if (!record->is_matrix) {
    const NodeId a = emitter.image(record->a), b = emitter.image(record->b);
    emitter.set_image(node, emitter.apply(record->op, a, b));
    seeds.push_back({expansion.image_[node], tape.grad(node)});
  } else {
    const MatrixInfo& matrix = tape.matrices()[record->b];
    const bool is_product = tape.table()[matrix.op].partition == kernels::Partition::product;
    const std::size_t row = (node - matrix.out) / matrix.pitch,
                      col = (node - matrix.out) % matrix.pitch;
    emitter.expand_row(matrix, row, is_product ? std::optional(col) : std::nullopt);
    plain.groups.push_back(
        {0, plain.records.size(), tape.table()[matrix.op].forward1 != nullptr, {}});
    for (std::size_t m = 0; m < matrix.cols; ++m) {
      const auto original = static_cast<NodeId>(matrix.out + row * matrix.pitch + m);
      if (is_product && m != col) continue;
      seeds.push_back({expansion.image_[original], tape.grad(original)});
    }
  }
  expansion.tape_->backward(seeds);
  plain.groups.clear();  // from here on a root is a single scalar of the row
  return expansion;
}

template <class T>
bool Expansion<T>::contains(NodeId original) const {
  return image_.contains(original);
}

template <class T>
Value<T> Expansion<T>::at(NodeId original) const {
  if (!contains(original))
    throw TapeError(
        fmt::format("expansion: expected a node that it covers, found node {}", original));
  return Value<T>(*tape_, image_.at(original));
}

template <class T>
NodeId Expansion<T>::original(NodeId leaf) const {
  return leaf < original_.size() ? original_[leaf] : kNone;
}

template <class T>
const char* Value<T>::op() const {
  const ScalarRecord* record = checked().maker(id_);
  return tape_->table()[record ? record->op : Op::leaf].name;
}

template <class T>
Expansion<T> Value<T>::expand() const {
  return Expansion<T>::of_node(checked(), id_);
}

template <class T>
std::vector<Child<T>> Value<T>::children() const {
  const ScalarRecord* record = checked().maker(id_);
  if (!record) return {};
  if (!record->is_matrix) {
    const auto& row = tape_->table()[record->op];
    T local_a(0), local_b(0);
    row.backward1(tape_->data(id_), T(1), tape_->data(record->a), tape_->data(record->b), &local_a,
                  &local_b);
    std::vector<Child<T>> children = {{Value(*tape_, record->a), local_a}};
    if (row.operands == 2) children.push_back({Value(*tape_, record->b), local_b});
    return children;
  }
  const MatrixInfo& matrix = tape_->matrices()[record->b];
  if (tape_->table()[record->op].partition == kernels::Partition::product &&
      matrix.operands[0] != matrix.operands[1]) {
    const MatrixInfo &x = tape_->matrices()[matrix.operands[0]],
                     &w = tape_->matrices()[matrix.operands[1]];
    const NodeId x_row = x.out + (id_ - matrix.out) / matrix.pitch * x.pitch,
                 w_col = w.out + (id_ - matrix.out) % matrix.pitch;
    std::vector<Child<T>> children;
    for (NodeId k = 0; k < w.rows; ++k)
      children.push_back({Value(*tape_, x_row + k), tape_->data(w_col + k * w.pitch)});
    for (NodeId k = 0; k < w.rows; ++k)
      children.push_back({Value(*tape_, w_col + k * w.pitch), tape_->data(x_row + k)});
    return children;
  }
  const Expansion<T> row = expand();
  Tape<T>& plain = row.tape();
  plain.zero_grad();
  row.root().backward();
  std::vector<bool> read(plain.size());  // by this scalar, not by others of its row
  read[row.root().id()] = true;
  for (auto maker = plain.records().rbegin(); maker != plain.records().rend(); ++maker)
    if (read[maker->out]) read[maker->a] = read[maker->b] = true;
  std::vector<Child<T>> children;
  for (NodeId node = 0; node < plain.size(); ++node)
    if (const NodeId child = row.original(node); child != Expansion<T>::kNone && read[node])
      children.push_back({Value(*tape_, child), plain.grad(node)});
  return children;
}

template class Expansion<float>;
template class Expansion<double>;
template class Value<float>;
template class Value<double>;

}  // namespace glassbox
