// The walk back over a tape, alone or with an optimiser's step in it. tape.cc has what is recorded.
#include <algorithm>

#include "autograd/tape.h"
#include "kernels/scalar.h"

namespace glassbox {

using kernels::Parts;

namespace {
constexpr NodeId kNoNode = 0xFFFFFFFF;
}  // namespace

template <class T>
void Tape<T>::begin_backward() {
  for (std::size_t i = 0; i < dirty_records_; ++i)
    if (!records_[i].is_run) grad_[records_[i].out] = T(0);
  for (RunInfo& run : runs_) {
    if (run.op != Op::leaf) run.written = false;
    if (run.has_elements && !run.written) {
      std::fill_n(grad_ + run.out, std::size_t{run.rows} * run.pitch, T(0));
      run.written = true;
    }
  }
}

// Whether a record may move its own parameters, which are all its operands but the input of a product:
// nothing else has used or will use them in this pass.
template <class T>
bool Tape<T>::updates_itself(const RunInfo& run, const LeafUpdate* update) const {
  const auto& row = (*table_)[run.op];
  if (!update || !row.backward_update) return false;
  for (std::size_t k = 0; k < kernels::kMaxOperands && run.operands[k] != kNoRun; ++k) {
    const RunInfo& in = runs_[run.operands[k]];
    const bool is_parameter = in.op == Op::leaf && in.out < update->size;
    const bool is_input = row.parts == Parts::product && k == 0;
    if (is_parameter == is_input) return false;
    if (is_parameter && (in.uses != 1 || in.has_elements || in.written)) return false;
  }
  return true;
}

// What walking a run's record back takes, as if all that was asked for earlier had been done. REQUIRES: run.written.
template <class T>
Work<T> Tape<T>::backward_work(const RunInfo& run, const LeafUpdate* update) {
  const auto& row = (*table_)[run.op];
  Work<T> work{&row, args(run)};
  if (row.reads_anywhere) return work;
  const bool updates = updates_itself(run, update), is_product = row.parts == Parts::product;
  kernels::Update<T>& own = work.update;
  for (std::size_t k = 0; k < kernels::kMaxOperands && run.operands[k] != kNoRun; ++k) {
    RunInfo& in = runs_[run.operands[k]];
    work.args.in[k].first_writer = !in.written;
    in.written = true;
    if (!updates || (is_product && k == 0)) continue;
    own.m[k] = update->m + in.out;
    own.v[k] = update->v + in.out;
    const std::size_t group = in.out / kernels::kLanes;
    own.rest[k] = {update->rest_since + group, update->rest_awake + group,
                   update->rest_count + group};
    in.used_up = !update->keep_gradients;
    updated_.push_back(run.operands[k]);
    if (is_product && in.may_rest)  // its kernel knows nothing of rest
      wake(*update, in.out, in.out + std::size_t{in.rows} * in.pitch);
    in.may_rest = !is_product;
  }
  work.updates = updates;
  if (updates) {
    own.settings = update->settings;
    own.keep_gradients = update->keep_gradients;
  }
  return work;
}

template <class T>
void Tape<T>::walk_back(std::size_t from_record, const LeafUpdate* update) {
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
void Tape<T>::walk_sentences(const Sentences& s, const LeafUpdate* update) {
  works_.clear();
  std::vector<RunId> late;  // weights and tables: their gradients come last, so whoever else adds to one has to wait
  const auto compute = [&] {
    if (!works_.empty()) runner_.backward(works_, s.parts);
    works_.clear();
    late.clear();
  };
  const auto adds_to_late = [&](const RunInfo& run) {
    return std::find_first_of(late.begin(), late.end(), run.operands.begin(), run.operands.end()) != late.end();
  };
  const auto reads_leaves = [&](const RunInfo& run) {
    return !(*table_)[run.op].reads_anywhere &&
           std::all_of(run.operands.begin(), run.operands.end(),
                       [&](RunId in) { return in == kNoRun || runs_[in].op == Op::leaf; });
  };
  for (std::size_t r = s.end; r-- > s.begin;) {
    const RunInfo* const run = records_[r].is_run ? &runs_[records_[r].b] : nullptr;
    const bool is_cut = run && cut_as(s, *run), waits = run && (is_cut || reads_leaves(*run));
    if (!waits || adds_to_late(*run)) compute();
    if (!waits) {
      walk_records(r + 1, r, update);
    } else if (run->written) {
      works_.push_back(backward_work(*run, update));
      works_.back().whole = !is_cut;
      for (std::size_t k = 0; k < run->operands.size() && run->operands[k] != kNoRun; ++k)
        if (!is_cut || (works_.back().row->parts == Parts::product && k == 1)) late.push_back(run->operands[k]);
    }
  }
  compute();
}

// The records below `from` down to `to`, one after another.
template <class T>
void Tape<T>::walk_records(std::size_t from, std::size_t to, const LeafUpdate* update) {
  const Record* const first = records_.get() + to;
  const T* const data = data_;
  T* const grad = grad_;
  NodeId last = kNoNode;  // the node whose gradient was set last, and what it is: the chain's next link
  T last_grad(0);
  for (const Record* r = records_.get() + from; r != first;) {
    --r;
    if (r->is_run) {
      last = kNoNode;
      if (const RunInfo& run = runs_[r->b]; run.written) runner_.backward(backward_work(run, update));
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
void Tape<T>::backward(std::span<const Seed> seeds, const LeafUpdate* update) {
  std::size_t from = 0;
  for (const Seed& seed : seeds) {
    if (const RunId run = run_of(seed.node); run != kNoRun) mark_elements(run);
    if (const Record* record = maker(seed.node))
      from = std::max<std::size_t>(from, static_cast<std::size_t>(record - records_.get()) + 1);
  }
  begin_backward();
  for (const Seed& seed : seeds) grad_[seed.node] += seed.grad;
  walk_back(from, update);
}

template <class T>
void Tape<T>::backward_update(NodeId root, const LeafUpdate& step) {
  const Seed seed{root, T(1)};
  updated_.clear();
  backward({&seed, 1}, &step);
  update(step);
}

// Moments at rest among the scalars from `begin` to `end` become those of the step before this one.
template <class T>
void Tape<T>::wake(const LeafUpdate& step, std::size_t begin, std::size_t end) {
  const std::size_t group = begin / kernels::kLanes, groups = (end - begin) / kernels::kLanes;
  kernels::AdamSettings<T> before = step.settings;
  --before.step;
  table_->wake(step.m + begin, step.v + begin, step.rest_since + group, groups, before);
  std::fill_n(step.rest_count + group, groups, 0);
}

template <class T>
void Tape<T>::update(const LeafUpdate& step) {
  grad_from(0);
  std::sort(updated_.begin(), updated_.end());
  const auto adam = [&](std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    wake(step, begin, end);
    table_->adam({data_ + begin, grad_ + begin, step.m + begin, step.v + begin, end - begin,
                  step.settings});
  };
  std::size_t begin = 0;
  for (const RunId id : updated_) {
    const RunInfo& run = runs_[id];
    adam(begin, run.out);
    begin = run.out + std::size_t{run.rows} * run.pitch;
  }
  adam(begin, step.size);
  updated_.clear();
  ++generation_;
  moved_ = true;
}

template <class T>
void Tape<T>::zero_grad() {
  std::size_t after = 0;  // what lies between runs are single scalars; a run that nothing wrote counts as 0
  for (RunInfo& run : runs_) {
    run.written = run.used_up = false;
    std::fill(grad_ + after, grad_ + run.out, T(0));
    after = run.out + std::size_t{run.rows} * run.pitch;
  }
  std::fill(grad_ + after, grad_ + size_, T(0));
}

// What of Tape this file defines; tape.cc instantiates the rest.
#define GLASSBOX_BACKWARD(T)                                                                     \
  template void Tape<T>::backward(NodeId);                                                       \
  template void Tape<T>::backward(std::span<const Seed>);                                        \
  template void Tape<T>::backward(std::span<const Seed>, const LeafUpdate*);                     \
  template void Tape<T>::backward_update(NodeId, const LeafUpdate&);                             \
  template void Tape<T>::begin_backward();                                                       \
  template bool Tape<T>::updates_itself(const RunInfo&, const LeafUpdate*) const;                \
  template Work<T> Tape<T>::backward_work(const RunInfo&, const LeafUpdate*);                    \
  template void Tape<T>::walk_back(std::size_t, const LeafUpdate*);                              \
  template void Tape<T>::walk_sentences(const Sentences&, const LeafUpdate*);                    \
  template void Tape<T>::walk_records(std::size_t, std::size_t, const LeafUpdate*);              \
  template void Tape<T>::wake(const LeafUpdate&, std::size_t, std::size_t);                      \
  template void Tape<T>::update(const LeafUpdate&);                                              \
  template void Tape<T>::zero_grad();
GLASSBOX_BACKWARD(float)
GLASSBOX_BACKWARD(double)

}  // namespace glassbox
