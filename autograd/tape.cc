#include "autograd/tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "autograd/errors.h"
#include "autograd/run.h"
#include "autograd/value.h"

namespace glassbox {

namespace {
using kernels::Parts;
constexpr std::align_val_t kAlignment{64};
constexpr std::size_t kFirstCapacity = 1024;
constexpr NodeId kNoNode = 0xFFFFFFFF;
constexpr std::size_t kMostNodes = kNoNode;  // node ids have 32 bits
}  // namespace

template <class T>
Tape<T>::Tape() : table_(&kernels::table<T>()) {
  for (std::size_t op = 0; op < kernels::kOpCount; ++op) {
    forward1_[op] = table_->ops[op].forward1;
    backward1_[op] = table_->ops[op].backward1;
  }
}

template <class T>
Tape<T>::~Tape() {
  ::operator delete[](data_, kAlignment);
  ::operator delete[](grad_, kAlignment);
}

template <class T>
void Tape<T>::grow(std::size_t more) {
  const std::size_t capacity = std::max({kFirstCapacity, 2 * capacity_, size_ + more});
  if (size_ + more > kMostNodes)
    throw TapeError(fmt::format("tape: expected at most {} scalars, found {} more; clear() it, or record fewer",
                                kMostNodes, size_ + more - kMostNodes));
  for (T** array : {&data_, &grad_}) {
    T* larger = static_cast<T*>(::operator new[](capacity * sizeof(T), kAlignment));
    if (size_) std::memcpy(larger, *array, size_ * sizeof(T));
    std::fill(larger + size_, larger + capacity, T(0));
    ::operator delete[](*array, kAlignment);
    *array = larger;
  }
  capacity_ = capacity;
}

template <class T>
void Tape<T>::make_record_room() {
  const std::size_t count = records().size();
  if (count < record_capacity_) return;
  const std::size_t capacity = std::max(kFirstCapacity, 2 * record_capacity_);
  auto larger = std::make_unique_for_overwrite<Record[]>(capacity);
  std::copy_n(records_.get(), count, larger.get());
  records_ = std::move(larger);
  record_capacity_ = capacity;
  next_record_ = records_.get() + count;
}

template <class T>
T Tape<T>::make_room(T value) {
  compute_waiting();  // a scalar does not wait, and those that do are the last records
  if (size_ == capacity_) grow(1);
  make_record_room();
  room_ = std::min(capacity_, size_ + record_capacity_ - records().size());
  return value;
}

template <class T>
NodeId Tape<T>::next_block(std::size_t size) {
  const std::size_t begin = kernels::padded(size_);
  if (begin + size > capacity_) grow(begin + size - size_);
  size_ = begin + size;
  return static_cast<NodeId>(begin);
}

template <class T>
Value<T> Tape<T>::leaf(T data, std::string label) {
  const NodeId id = next_scalar(data);
  if (!label.empty()) set_label(id, std::move(label));
  return Value<T>(*this, id);
}

template <class T>
Run<T> Tape<T>::leaf_run(std::size_t rows, std::size_t cols, RunLabel label) {
  const std::size_t pitch = kernels::padded(cols);
  const NodeId out = next_block(rows * pitch);
  std::fill_n(data_ + out, rows * pitch, T(0));
  RunInfo run;
  run.rows = static_cast<std::uint32_t>(rows);
  run.cols = static_cast<std::uint32_t>(cols);
  run.pitch = static_cast<std::uint32_t>(pitch);
  run.out = out;
  run.label = label;
  runs_.push_back(run);
  return Run<T>(*this, static_cast<RunId>(runs_.size() - 1));
}

template <class T>
kernels::Args<T> Tape<T>::args(const RunInfo& run) {
  kernels::Args<T> x;
  x.out = {.data = data_ + run.out, .grad = grad_ + run.out, .rows = run.rows, .cols = run.cols,
           .pitch = run.pitch};
  if ((*table_)[run.op].reads_anywhere) {
    x.in[0] = {.data = data_, .grad = grad_};
  } else {
    for (std::size_t k = 0; k < kernels::kMaxOperands && run.operands[k] != kNoRun; ++k) {
      const RunInfo& in = runs_[run.operands[k]];
      x.in[k] = {.data = data_ + in.out, .grad = grad_ + in.out, .rows = in.rows, .cols = in.cols,
                 .pitch = in.pitch};
    }
  }
  x.ids = {ids_.data() + run.ids_begin, run.ids_count};
  x.saved = data_ + run.saved;
  x.number = run.number;
  return x;
}

template <class T>
Run<T> Tape<T>::record(Op op, std::initializer_list<Run<T>> operands, std::size_t rows,
                       std::size_t cols, std::span<const std::uint32_t> ids, double number) {
  const auto& row = (*table_)[op];
  RunInfo run;
  run.op = op;
  run.rows = static_cast<std::uint32_t>(rows);
  run.cols = static_cast<std::uint32_t>(cols);
  run.pitch = static_cast<std::uint32_t>(kernels::padded(cols));
  run.ids_begin = static_cast<std::uint32_t>(ids_.size());
  run.ids_count = static_cast<std::uint32_t>(ids.size());
  run.number = number;
  std::size_t k = 0;
  for (const Run<T>& operand : operands) {
    operand.check();
    if (&operand.tape() != this)
      throw TapeError(fmt::format("{}: expected operands of one tape, found two tapes", row.name));
    run.operands[k++] = operand.id();
    ++runs_[operand.id()].uses;
  }
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  if (row.reads_anywhere)
    for (const NodeId id : ids)
      if (const RunId touched = run_of(id); touched != kNoRun) mark_elements(touched);
  run.out = next_block(rows * run.pitch);
  if (row.saved) run.saved = next_block(row.saved(args(run)));
  runs_.push_back(run);
  const bool waits = in_sentences_ && cut_as(sentences_.back(), run);
  if (!waits) compute_waiting();
  make_record_room();
  *next_record_++ = {op, true, 0, run.out, 0, static_cast<RunId>(runs_.size() - 1)};
  room_ = 0;
  if (waits)
    ++waiting_;
  else
    runner_.forward({&row, args(run)});
  return Run<T>(*this, static_cast<RunId>(runs_.size() - 1));
}

template <class T>
bool Tape<T>::begin_sentences(std::span<const std::uint32_t> starts) {
  if (in_sentences_) return false;
  std::vector<PartBegin> parts = runner_.cut(starts);
  if (parts.empty()) return false;
  sentences_.push_back({records().size(), records().size(), std::move(parts)});
  in_sentences_ = true;
  return true;
}

template <class T>
void Tape<T>::end_sentences() {
  if (!in_sentences_) return;  // clear() has gone back to before it
  sentences_.back().end = records().size();
  in_sentences_ = false;
  waiting_ = 0;  // some are left if the caller threw
}

template <class T>
void Tape<T>::compute_waiting() {
  if (waiting_ == 0) return;
  works_.clear();
  for (std::size_t r = records().size() - std::exchange(waiting_, 0); r < records().size(); ++r) {
    const RunInfo& run = runs_[records_[r].b];
    works_.push_back({&(*table_)[run.op], args(run)});
  }
  runner_.forward(works_, sentences_.back().parts);
}

// Whether an operation can be computed in those parts, from operands that are computed in them or before.
template <class T>
bool Tape<T>::cut_as(const Sentences& s, const RunInfo& run) const {
  if (run.rows != s.parts.back().row) return false;
  const Parts parts = (*table_)[run.op].parts;
  if (parts == Parts::product) return runs_[run.operands[1]].op == Op::leaf;
  if (parts != Parts::sentences) return parts == Parts::rows;
  const std::uint32_t* const starts = ids_.data() + run.ids_begin;
  return std::all_of(s.parts.begin(), s.parts.end(), [&](const PartBegin& part) {
    return part.sentence < run.ids_count && starts[part.sentence] == part.row;
  });
}

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
  const auto compute = [&] {
    if (!works_.empty()) runner_.backward(works_, s.parts);
    works_.clear();
  };
  // The gradients of weights and tables come last: whoever else adds to one has to wait for it.
  const auto adds_to_one = [&](const RunInfo& run) {
    for (std::size_t k = 0; k < kernels::kMaxOperands && run.operands[k] != kNoRun; ++k) {
      const RunInfo& in = runs_[run.operands[k]];
      if (in.op != Op::leaf) continue;
      for (const Work<T>& work : works_)
        for (std::size_t j = 0; j < kernels::kMaxOperands; ++j)
          if ((work.whole || (work.row->parts == Parts::product && j == 1)) && work.args.in[j].grad == grad_ + in.out)
            return true;
    }
    return false;
  };
  const auto reads_leaves = [&](const RunInfo& run) {
    return !(*table_)[run.op].reads_anywhere &&
           std::all_of(run.operands.begin(), run.operands.end(),
                       [&](RunId in) { return in == kNoRun || runs_[in].op == Op::leaf; });
  };
  for (std::size_t r = s.end; r-- > s.begin;) {
    const RunInfo* const run = records_[r].is_run ? &runs_[records_[r].b] : nullptr;
    const bool is_cut = run && cut_as(s, *run), waits = run && (is_cut || reads_leaves(*run));
    if (!waits || adds_to_one(*run)) compute();
    if (!waits) {
      walk_records(r + 1, r, update);
    } else if (run->written) {
      works_.push_back(backward_work(*run, update));
      works_.back().whole = !is_cut;
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

template <class T>
typename Tape<T>::Mark Tape<T>::keep() {
  if (kept_.size <= always_kept_.size) kept_since_ = cleared_;
  kept_ = {size_, records().size(), runs_.size(), ids_.size()};
  if (cleared_ == 0) always_kept_ = kept_;
  return kept_;
}

template <class T>
void Tape<T>::clear(const Mark& mark) {
  waiting_ -= std::min(waiting_, records().size() - mark.records);
  kept_ = mark;
  size_ = mark.size;
  next_record_ = records_.get() + mark.records;
  room_ = 0;
  runs_.resize(mark.runs);
  ids_.resize(mark.ids);
  if (!labels_.empty())
    labels_.erase(labels_.lower_bound(static_cast<NodeId>(mark.size)), labels_.end());
  for (; !sentences_.empty() && sentences_.back().end > mark.records; in_sentences_ = false) sentences_.pop_back();
  dirty_records_ = std::min(dirty_records_, mark.records);
  if (mark.records == 0)  // what is kept are leaves alone, and no record reads them any more
    for (RunInfo& run : runs_) run.uses = 0;
  if (mark.size < always_kept_.size) always_kept_ = mark;
  cleared_ = ++generation_;
  moved_ = false;
}

template <class T>
void Tape<T>::weights_moved() {
  ++generation_;
  moved_ = true;
}

template <class T>
void Tape<T>::throw_stale() const {
  throw TapeError(moved_ ? "value: the weights have moved since it was computed; read it before the "
                           "optimiser's step, or record it again"
                         : "value: its step was cleared from the tape; read it before, or record it again");
}

template <class T>
std::size_t Tape<T>::memory() const {
  return 2 * capacity_ * sizeof(T) + record_capacity_ * sizeof(Record) +
         runs_.capacity() * sizeof(RunInfo) + ids_.capacity() * sizeof(std::uint32_t);
}

template <class T>
T Tape<T>::grad(NodeId id) const {
  const RunId at = run_of(id);
  if (at == kNoRun) return grad_[id];
  if (runs_[at].used_up)
    throw TapeError("grad: the optimiser's step used this gradient up; ask for the step that keeps gradients");
  return runs_[at].written ? grad_[id] : T(0);
}

template <class T>
T* Tape<T>::grad_from(NodeId id) {
  for (RunInfo& run : runs_) {
    const std::size_t size = std::size_t{run.rows} * run.pitch;
    if (run.op != Op::leaf || run.out + size <= id || run.written) continue;
    std::fill_n(grad_ + run.out, size, T(0));
    run.written = true;
  }
  return grad_ + id;
}

template <class T>
void Tape<T>::set_data(NodeId id, T value) {
  if (maker(id))
    throw TapeError(fmt::format("set_data: expected a leaf, found the result of {}; set the leaves it "
                                "comes from", (*table_)[maker(id)->op].name));
  data_[id] = value;
}

template <class T>
const Record* Tape<T>::maker(NodeId id) const {
  const auto all = records();
  const auto after = std::upper_bound(all.begin(), all.end(), id,
                                      [](NodeId x, const Record& r) { return x < r.out; });
  if (after == all.begin()) return nullptr;
  const Record& record = *(after - 1);
  const bool made = record.is_run ? runs_[record.b].covers(id) : record.out == id;
  return made ? &record : nullptr;
}

template <class T>
RunId Tape<T>::run_of(NodeId id) const {
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), id,
                                      [](NodeId x, const RunInfo& r) { return x < r.out; });
  if (after == runs_.begin() || !(after - 1)->covers(id)) return kNoRun;
  return static_cast<RunId>(after - 1 - runs_.begin());
}

template <class T>
std::string Tape<T>::label(NodeId id) const {
  if (const auto found = labels_.find(id); found != labels_.end()) return found->second;
  const RunId at = run_of(id);
  if (at == kNoRun || !runs_[at].label.format) return {};
  const RunInfo& run = runs_[at];
  const std::size_t row = (id - run.out) / run.pitch, col = (id - run.out) % run.pitch;
  return run.label.format(run.label.context, run.label.tag, row, col);
}

template <class T>
void Tape<T>::set_label(NodeId id, std::string label) {
  labels_[id] = std::move(label);
}

template class Tape<float>;
template class Tape<double>;

}  // namespace glassbox
