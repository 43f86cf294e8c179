#include "autograd/backward.h"

#include <algorithm>

#include "kernels/scalar.h"

namespace glassbox {

using kernels::Partition;

template <class T>
Backward<T>::Backward(Graph<T>& graph, const Executor<T>& executor)
    : graph_(graph), executor_(executor) {
  for (std::size_t op = 0; op < kernels::kOpCount; ++op)
    backward1_[op] = graph_.table.ops[op].backward1;
}

template <class T>
void Backward<T>::run(std::span<const Seed<T>> seeds, LeafHook<T>* hook) {
  std::size_t from = 0;
  for (const Seed<T>& seed : seeds) {
    if (const MatrixId matrix = graph_.matrix_of(seed.node); matrix != kNoMatrix)
      graph_.use_elements(matrix);
    if (const ScalarRecord* record = graph_.maker(seed.node))
      from = std::max<std::size_t>(from, static_cast<std::size_t>(record - &graph_.records[0]) + 1);
  }
  clear_inner_gradients();
  for (const Seed<T>& seed : seeds) graph_.arena.grad()[seed.node] += seed.grad;
  dirty_records_ = std::max(dirty_records_, from);
  hook_ = hook;
  walk(from);
}

template <class T>
void Backward<T>::clear_inner_gradients() {
  T* const grad = graph_.arena.grad();
  for (std::size_t i = 0; i < dirty_records_; ++i)
    if (!graph_.records[i].is_matrix) grad[graph_.records[i].out] = T(0);
  for (MatrixInfo& matrix : graph_.matrices) {
    if (matrix.op != Op::leaf) matrix.gradient_ready = matrix.is_used = false;
    if (matrix.has_elements && !matrix.gradient_ready) {
      std::fill_n(grad + matrix.out, matrix.size(), T(0));
      matrix.gradient_ready = true;
    }
  }
}

template <class T>
void Backward<T>::zero_grad() {
  T* const grad = graph_.arena.grad();
  std::size_t after = 0;  // single scalars lie between matrices; a matrix that nothing wrote is 0
  for (MatrixInfo& matrix : graph_.matrices) {
    matrix.gradient_ready = matrix.gradient_consumed = false;
    std::fill(grad + after, grad + matrix.out, T(0));
    after = matrix.out + matrix.size();
  }
  std::fill(grad + after, grad + graph_.arena.size(), T(0));
}

// What walking a matrix's record back takes, as if all that was asked for earlier had been done.
// REQUIRES: is_reached(matrix).
template <class T>
Task<T> Backward<T>::task_of(const MatrixInfo& matrix) {
  const auto& row = graph_.table[matrix.op];
  Task<T> task{&row, graph_.args(matrix)};
  if (row.reads_anywhere) return task;
  matrix.for_each_operand([&](std::size_t k, MatrixId operand) {
    MatrixInfo& in = graph_.matrices[operand];
    kernels::MatrixView<T>& view = task.args.in[k];
    const bool is_complete = in.readers == 1 && !in.has_elements && !in.gradient_ready;
    view.first_writer = !in.gradient_ready;
    in.gradient_ready = in.is_used = true;
    if (!hook_ || in.op != Op::leaf || row.updates[k] == kernels::FusedUpdate::none) return;
    const LeafGradient answer = hook_->gradient_of(in, row, k, is_complete, task.update);
    task.updates |= answer == LeafGradient::update;
    if (answer == LeafGradient::skip) view.grad = nullptr;
    in.gradient_consumed |= answer == LeafGradient::skip ||
                            (answer == LeafGradient::update && !task.update.keep_gradients);
  });
  return task;
}

template <class T>
void Backward<T>::walk(std::size_t from) {
  if (!graph_.groups.empty()) return walk_groups(from);
  for (auto section = graph_.sections.rbegin(); section != graph_.sections.rend(); ++section) {
    if (from < section->end) continue;
    walk_records(from, section->end);
    walk_section(*section);
    from = section->begin;
  }
  walk_records(from, 0);
}

template <class T>
void Backward<T>::walk_groups(std::size_t from) {
  const T* const grad = graph_.arena.grad();
  std::vector<bool> is_used(graph_.groups.size());
  for (std::size_t g = graph_.groups.size(); g-- > 0;) {
    const Group& group = graph_.groups[g];
    if (group.begin >= from) continue;
    from = std::max(from, group.end);  // a root inside takes the whole group with it
    dirty_records_ = std::max(dirty_records_, from);
    walk_records(from, group.end);
    from = group.begin;
    const auto inside =
        std::span<const ScalarRecord>(graph_.records).subspan(from, group.end - from);
    if (!is_used[g] && std::all_of(inside.begin(), inside.end(),
                                   [&](const ScalarRecord& r) { return grad[r.out] == T(0); }))
      continue;
    for (const std::size_t operand : group.operands) is_used[operand] = true;
    walk_records(group.end, group.begin, !group.is_elementwise);
  }
  walk_records(from, 0);
}

template <class T>
void Backward<T>::walk_section(const Section& section) {
  tasks_.clear();
  std::vector<MatrixId> late;  // weights and tables: their gradients come last, so whoever else
                               // adds to one has to wait
  const auto compute = [&] {
    if (!tasks_.empty()) executor_.backward(tasks_, section.chunks);
    tasks_.clear();
    late.clear();
  };
  const auto adds_to_late = [&](const MatrixInfo& matrix) {
    return std::find_first_of(late.begin(), late.end(), matrix.operands.begin(),
                              matrix.operands.end()) != late.end();
  };
  const auto reads_leaves = [&](const MatrixInfo& matrix) {
    return !graph_.table[matrix.op].reads_anywhere &&
           std::all_of(matrix.operands.begin(), matrix.operands.end(), [&](MatrixId in) {
             return in == kNoMatrix || graph_.matrices[in].op == Op::leaf;
           });
  };
  for (std::size_t r = section.end; r-- > section.begin;) {
    const ScalarRecord& record = graph_.records[r];
    const MatrixInfo* const matrix = record.is_matrix ? &graph_.matrices[record.b] : nullptr;
    const bool is_cut = matrix && graph_.fits(section, *matrix),
               waits = matrix && !matrix->has_elements && (is_cut || reads_leaves(*matrix));
    if (!waits || adds_to_late(*matrix)) compute();
    if (!waits) {
      walk_records(r + 1, r);
    } else if (is_reached(*matrix)) {
      tasks_.push_back(task_of(*matrix));
      tasks_.back().whole = !is_cut;
      const bool is_product = tasks_.back().row->partition == Partition::product;
      matrix->for_each_operand([&](std::size_t k, MatrixId in) {
        if (!is_cut || (is_product && k == 1)) late.push_back(in);
      });
    }
  }
  compute();
}

// Whether the root depends on an output of the matrix: the gradients of one with elements begin
// with 0, which tells nothing.
template <class T>
bool Backward<T>::is_reached(const MatrixInfo& matrix) const {
  if (!matrix.has_elements || matrix.is_used) return matrix.gradient_ready;
  const T* const grad = graph_.arena.grad() + matrix.out;
  return std::any_of(grad, grad + matrix.size(), [](T g) { return g != T(0); });
}

template <class T>
void Backward<T>::walk_records(std::size_t from, std::size_t to, bool zeros_too) {
  const std::span<const ScalarRecord> records = graph_.records;
  const ScalarRecord* const first = records.data() + to;
  const T* const data = graph_.arena.data();
  T* const grad = graph_.arena.grad();
  NodeId last = kNoNode;  // the node whose gradient was set last, and what it is: the chain's next
  T last_grad(0);
  for (const ScalarRecord* r = records.data() + from; r != first;) {
    --r;
    if (r->is_matrix) {
      last = kNoNode;
      if (const MatrixInfo& matrix = graph_.matrices[r->b]; is_reached(matrix))
        executor_.backward(task_of(matrix));
      continue;
    }
    const T g = r->out == last ? last_grad : grad[r->out];
    if (g == T(0) && !zeros_too) continue;
    last = r->a;
    last_grad = kernels::backward_scalar(backward1_, r->op, data[r->out], g, data[r->a], data[r->b],
                                         grad + r->a, grad + r->b);
  }
}

template class Backward<float>;
template class Backward<double>;

}  // namespace glassbox
