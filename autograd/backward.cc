// The walk back over a tape, alone or with an optimiser's step in it. tape.cc has what is recorded.
#include <algorithm>

#include "autograd/tape.h"
#include "kernels/scalar.h"

namespace glassbox {

using kernels::Partition;

namespace {
constexpr NodeId kNoNode = 0xFFFFFFFF;
}  // namespace

template <class T>
void Tape<T>::begin_backward() {
  for (std::size_t i = 0; i < dirty_records_; ++i)
    if (!records_[i].is_matrix) grad_[records_[i].out] = T(0);
  for (MatrixInfo& matrix : matrices_) {
    if (matrix.op != Op::leaf) matrix.gradient_ready = false;
    if (matrix.has_elements && !matrix.gradient_ready) {
      std::fill_n(grad_ + matrix.out, std::size_t{matrix.rows} * matrix.pitch, T(0));
      matrix.gradient_ready = true;
    }
  }
}

// Whether a record may move its own parameters, which are all its operands but the input of a
// product: nothing else has used or will use them in this pass.
template <class T>
bool Tape<T>::updates_itself(const MatrixInfo& matrix, const ParameterUpdate* update) const {
  const auto& row = (*table_)[matrix.op];
  if (!update || !row.fused_step) return false;
  for (std::size_t k = 0; k < kernels::kMaxOperands && matrix.operands[k] != kNoMatrix; ++k) {
    const MatrixInfo& in = matrices_[matrix.operands[k]];
    const bool is_parameter = in.op == Op::leaf && in.out < update->size;
    const bool is_input = row.partition == Partition::product && k == 0;
    if (is_parameter == is_input) return false;
    if (is_parameter && (in.readers != 1 || in.has_elements || in.gradient_ready)) return false;
  }
  return true;
}

// What walking a run's record back takes, as if all that was asked for earlier had been done.
// REQUIRES: matrix.gradient_ready.
template <class T>
Task<T> Tape<T>::backward_task(const MatrixInfo& matrix, const ParameterUpdate* update) {
  const auto& row = (*table_)[matrix.op];
  Task<T> task{&row, args(matrix)};
  if (row.reads_anywhere) return task;
  const bool updates = updates_itself(matrix, update),
             is_product = row.partition == Partition::product;
  kernels::Update<T>& own = task.update;
  for (std::size_t k = 0; k < kernels::kMaxOperands && matrix.operands[k] != kNoMatrix; ++k) {
    MatrixInfo& in = matrices_[matrix.operands[k]];
    task.args.in[k].first_writer = !in.gradient_ready;
    in.gradient_ready = true;
    if (!updates || (is_product && k == 0)) continue;
    own.m[k] = update->m + in.out;
    own.v[k] = update->v + in.out;
    const std::size_t group = in.out / kernels::kLanes;
    own.rest[k] = {update->rest_since + group, update->rest_awake + group,
                   update->rest_count + group};
    in.gradient_consumed = !update->keep_gradients;
    updated_.push_back(matrix.operands[k]);
    if (is_product && in.may_rest)  // its kernel knows nothing of rest
      wake(*update, in.out, in.out + std::size_t{in.rows} * in.pitch);
    in.may_rest = !is_product;
  }
  task.updates = updates;
  if (updates) {
    own.settings = update->settings;
    own.keep_gradients = update->keep_gradients;
  }
  return task;
}

template <class T>
void Tape<T>::walk_back(std::size_t from_record, const ParameterUpdate* update) {
  dirty_records_ = std::max(dirty_records_, from_record);
  for (auto s = sentences_.rbegin(); s != sentences_.rend(); ++s) {
    if (from_record < s->end) continue;
    walk_records(from_record, s->end, update);
    walk_sentences(*s, update);
    from_record = s->begin;
  }
  walk_records(from_record, 0, update);
}

template <class T>
void Tape<T>::walk_sentences(const Sentences& s, const ParameterUpdate* update) {
  tasks_.clear();
  std::vector<MatrixId> late;  // weights and tables: their gradients come last, so whoever else
                               // adds to one has to wait
  const auto compute = [&] {
    if (!tasks_.empty()) executor_.backward(tasks_, s.parts);
    tasks_.clear();
    late.clear();
  };
  const auto adds_to_late = [&](const MatrixInfo& matrix) {
    return std::find_first_of(late.begin(), late.end(), matrix.operands.begin(),
                              matrix.operands.end()) != late.end();
  };
  const auto reads_leaves = [&](const MatrixInfo& matrix) {
    return !(*table_)[matrix.op].reads_anywhere &&
           std::all_of(matrix.operands.begin(), matrix.operands.end(), [&](MatrixId in) {
             return in == kNoMatrix || matrices_[in].op == Op::leaf;
           });
  };
  for (std::size_t r = s.end; r-- > s.begin;) {
    const MatrixInfo* const matrix = records_[r].is_matrix ? &matrices_[records_[r].b] : nullptr;
    const bool is_cut = matrix && cut_as(s, *matrix),
               waits = matrix && (is_cut || reads_leaves(*matrix));
    if (!waits || adds_to_late(*matrix)) compute();
    if (!waits) {
      walk_records(r + 1, r, update);
    } else if (matrix->gradient_ready) {
      tasks_.push_back(backward_task(*matrix, update));
      tasks_.back().whole = !is_cut;
      for (std::size_t k = 0; k < matrix->operands.size() && matrix->operands[k] != kNoMatrix; ++k)
        if (!is_cut || (tasks_.back().row->partition == Partition::product && k == 1))
          late.push_back(matrix->operands[k]);
    }
  }
  compute();
}

// The records below `from` down to `to`, one after another.
template <class T>
void Tape<T>::walk_records(std::size_t from, std::size_t to, const ParameterUpdate* update) {
  const Record* const first = records_.get() + to;
  const T* const data = data_;
  T* const grad = grad_;
  NodeId last =
      kNoNode;  // the node whose gradient was set last, and what it is: the chain's next link
  T last_grad(0);
  for (const Record* r = records_.get() + from; r != first;) {
    --r;
    if (r->is_matrix) {
      last = kNoNode;
      if (const MatrixInfo& matrix = matrices_[r->b]; matrix.gradient_ready)
        executor_.backward(backward_task(matrix, update));
      continue;
    }
    const T g = r->out == last ? last_grad : grad[r->out];
    if (g == T(0)) continue;
    last = r->a;
    last_grad = kernels::backward_scalar(backward1_, r->op, data[r->out], g, data[r->a], data[r->b],
                                         grad + r->a, grad + r->b);
  }
}

template <class T>
void Tape<T>::backward(NodeId root) {
  const Seed seed{root, T(1)};
  backward({&seed, 1}, nullptr);
}

template <class T>
void Tape<T>::backward(std::span<const Seed> seeds) {
  backward(seeds, nullptr);
}

template <class T>
void Tape<T>::backward(std::span<const Seed> seeds, const ParameterUpdate* update) {
  std::size_t from = 0;
  for (const Seed& seed : seeds) {
    if (const MatrixId matrix = matrix_of(seed.node); matrix != kNoMatrix) mark_elements(matrix);
    if (const Record* record = maker(seed.node))
      from = std::max<std::size_t>(from, static_cast<std::size_t>(record - records_.get()) + 1);
  }
  begin_backward();
  for (const Seed& seed : seeds) grad_[seed.node] += seed.grad;
  walk_back(from, update);
}

template <class T>
void Tape<T>::fused_step(NodeId root, const ParameterUpdate& step) {
  const Seed seed{root, T(1)};
  updated_.clear();
  backward({&seed, 1}, &step);
  update(step);
}

// Moments at rest among the scalars from `begin` to `end` become those of the step before this one.
template <class T>
void Tape<T>::wake(const ParameterUpdate& step, std::size_t begin, std::size_t end) {
  const std::size_t group = begin / kernels::kLanes, groups = (end - begin) / kernels::kLanes;
  kernels::AdamSettings<T> before = step.settings;
  --before.step;
  table_->wake(step.m + begin, step.v + begin, step.rest_since + group, groups, before);
  std::fill_n(step.rest_count + group, groups, 0);
}

template <class T>
void Tape<T>::update(const ParameterUpdate& step) {
  grad_from(0);
  std::sort(updated_.begin(), updated_.end());
  const auto adam = [&](std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    wake(step, begin, end);
    table_->adam(
        {data_ + begin, grad_ + begin, step.m + begin, step.v + begin, end - begin, step.settings});
  };
  std::size_t begin = 0;
  for (const MatrixId id : updated_) {
    const MatrixInfo& matrix = matrices_[id];
    adam(begin, matrix.out);
    begin = matrix.out + std::size_t{matrix.rows} * matrix.pitch;
  }
  adam(begin, step.size);
  updated_.clear();
  ++generation_;
  moved_ = true;
}

template <class T>
void Tape<T>::zero_grad() {
  std::size_t after =
      0;  // what lies between matrices are single scalars; a run that nothing wrote counts as 0
  for (MatrixInfo& matrix : matrices_) {
    matrix.gradient_ready = matrix.gradient_consumed = false;
    std::fill(grad_ + after, grad_ + matrix.out, T(0));
    after = matrix.out + std::size_t{matrix.rows} * matrix.pitch;
  }
  std::fill(grad_ + after, grad_ + size_, T(0));
}

// What of Tape this file defines; tape.cc instantiates the rest.
#define GLASSBOX_BACKWARD(T)                                                              \
  template void Tape<T>::backward(NodeId);                                                \
  template void Tape<T>::backward(std::span<const Seed>);                                 \
  template void Tape<T>::backward(std::span<const Seed>, const ParameterUpdate*);         \
  template void Tape<T>::fused_step(NodeId, const ParameterUpdate&);                      \
  template void Tape<T>::begin_backward();                                                \
  template bool Tape<T>::updates_itself(const MatrixInfo&, const ParameterUpdate*) const; \
  template Task<T> Tape<T>::backward_task(const MatrixInfo&, const ParameterUpdate*);     \
  template void Tape<T>::walk_back(std::size_t, const ParameterUpdate*);                  \
  template void Tape<T>::walk_sentences(const Sentences&, const ParameterUpdate*);        \
  template void Tape<T>::walk_records(std::size_t, std::size_t, const ParameterUpdate*);  \
  template void Tape<T>::wake(const ParameterUpdate&, std::size_t, std::size_t);          \
  template void Tape<T>::update(const ParameterUpdate&);                                  \
  template void Tape<T>::zero_grad();
GLASSBOX_BACKWARD(float)
GLASSBOX_BACKWARD(double)

}  // namespace glassbox
