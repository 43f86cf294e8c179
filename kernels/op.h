// What an operation is. Everything that glassbox computes is a row of one table: the graph records
// it, inference runs it, and both run the same code.
//
// Kernels know arrays, not nodes. This folder includes the standard library and Highway, nothing of
// ours.
//
// To add an operation: its functions in a family file (kernels/*.cc), its name in GLASSBOX_OPS
// below, its row in tests/kernels/ops_test.cc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace glassbox::kernels {

// leaf stands for scalars that nothing computed. fused_mul and fused_add are what expand() shows of
// a multiply-add that rounds once; copy is a node of its own, so that sums over its users have an
// order.
// clang-format off
#define GLASSBOX_OPS(X)                                                                        \
  X(leaf)                                                                                      \
  X(add) X(sub) X(mul) X(div) X(neg) X(pow) X(sqrt) X(rsqrt) X(abs) X(max) X(min)              \
  X(exp) X(log) X(tanh) X(sigmoid) X(relu) X(gelu) X(silu) X(copy) X(fused_mul) X(fused_add) \
  X(sum) X(mean) X(dot) X(gather) X(embedding) X(matmul) X(rmsnorm) X(attention)               \
  X(cached_attention) X(cross_entropy)
// clang-format on

enum class Op : std::uint8_t {
#define GLASSBOX_OP(name) name,
  GLASSBOX_OPS(GLASSBOX_OP)
#undef GLASSBOX_OP
};

inline constexpr std::size_t kOpCount = 0
#define GLASSBOX_OP(name) +1
    GLASSBOX_OPS(GLASSBOX_OP);
#undef GLASSBOX_OP

// Rows are padded to a multiple of this many scalars. Sums along a row run in this many virtual
// lanes on every target, so that their order does not depend on the width of the machine's vectors.
inline constexpr std::size_t kLanes = 16;
constexpr std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

// An operand or the output: `rows` rows of `cols` scalars, `pitch` apart. `pitch` is a multiple of
// kLanes; what lies between cols and pitch belongs to the block, may be written, and means nothing.
// Only where pads of d_out are 0, backward() leaves 0 in those of the operands' gradients: so pads
// of weights stay 0.
template <class T>
struct MatrixView {
  T* data = nullptr;
  T* grad = nullptr;  // null where nothing is to be derived
  std::uint32_t rows = 0, cols = 0, pitch = 0;
  bool first_writer = false;  // backward overwrites grad, as if it had been 0, instead of adding
};

inline constexpr std::size_t kMaxOperands = 3;

// What some operations need to know besides their operands; the others ignore it.
struct Settings {
  double epsilon = 0;     // of rmsnorm: added to the mean square under the root
  std::size_t heads = 0;  // of attention: they share the width
};

template <class T>
struct Args {
  MatrixView<T> out;
  std::array<MatrixView<T>, kMaxOperands> in;
  std::span<const std::uint32_t> ids;  // which rows, targets, starts: the operation says
  T* saved = nullptr;                  // what forward keeps for backward: OpRow::saved scalars
  Settings settings;
  // Of attention: which sentences to compute.
  std::uint32_t first_sentence = 0, end_sentence = 0xFFFFFFFF;
};

// Into what an operation may be cut for threads. rows: every row of the output needs the same row
// of the operands, its ids one a row, its saved scalars row by row. product: a row needs that of
// in[0] and all of in[1], the weight, whose gradient is cut by columns.
enum class Partition : std::uint8_t { none, rows, sentences, product };

// Where expand() writes one output row of a matrix as the plain graph that gives the same bits, in
// value and, walked backward from the last node to the first, in gradient.
template <class T>
class Emitter {
 public:
  using Node = std::uint32_t;
  virtual ~Emitter() = default;
  virtual Node operand(int which, std::size_t offset) = 0;  // scalar in[which].data[offset]
  virtual Node constant(T value) = 0;
  virtual Node apply(Op op, Node a, Node b) = 0;
  Node apply(Op op, Node a) { return apply(op, a, a); }
  // a * b + c, rounded once: a fused_mul and a fused_add.
  virtual Node multiply_add(Node a, Node b, Node c) = 0;
  virtual void output(std::size_t col, Node node) = 0;  // `node` is the row's output `col`
  // Makes an inner node findable: "weights", head 1, position 0.
  virtual void name(Node node, const char* what, std::size_t i, std::size_t j) = 0;
};

// How fused_step() updates an operand: all of it, or lazily, by rows (kernels/lazy_rows-inl.h).
enum class FusedUpdate : std::uint8_t { none, all, lazy_rows };

// See kernels/optimizer.h.
template <class T>
struct AdamSettings;
template <class T>
struct OptimizerState;
template <class T>
struct ParameterUpdate;
template <class T>
struct UpdatePass;

template <class T>
struct OpRow {
  const char* name = nullptr;
  const char* symbol = nullptr;  // as a drawing shows it: "+"
  int operands = 0;
  // Why it cannot compute what a caller gives, "expected ..., found ..."; empty if it can. `saved`
  // is not there yet. Null: the operands must have the output's shape.
  std::string (*mismatch)(const Args<T>&) = nullptr;
  // Over a run.
  void (*forward)(const Args<T>&) = nullptr;
  void (*backward)(const Args<T>&) = nullptr;  // adds to in[k].grad where it is not null
  // backward() and the optimiser's step in one, the same bits: for parameters that nothing else
  // uses. REQUIRES: operands that are updated are first writers.
  void (*fused_step)(const Args<T>&, const ParameterUpdate<T>&) = nullptr;
  void (*expand)(const Args<T>&, Emitter<T>&, std::size_t row) = nullptr;
  std::size_t (*saved)(const Args<T>&) = nullptr;      // scalars needed at Args::saved; null: none
  std::array<FusedUpdate, kMaxOperands> updates = {};  // which operands fused_step() can update
  Partition partition = Partition::none;
  bool reads_anywhere = false;  // in[0] is the whole arena, a row a scalar; ids are places in it
  // Of one scalar: the same bits as a matrix of one element. A unary operation ignores b.
  T (*forward1)(T a, T b) = nullptr;
  // Returns what *d_a then is, so that a chain need not wait for memory.
  T (*backward1)(T out, T d_out, T a, T b, T* d_a, T* d_b) = nullptr;
};

// One query of attention against `positions` keys and values. Everything is per head h, whose
// columns are h * head_dim on.
template <class T>
struct AttendArgs {
  const T* query;  // (C)
  const T* keys;   // [C][keys_pitch]: column t is position t's key; what is beyond is not used
  std::size_t keys_pitch;  // at least padded(positions)
  const T* const* values;  // values[t] is position t's value (C)
  std::size_t positions, heads, head_dim;
  T* out;           // (C); null: the weights alone are asked for
  T* exponentials;  // (heads, padded(positions)): filled, for backward
  T* weights;       // (heads, padded(positions)): filled
  T* inverse_sums;  // (heads): filled, for backward
};

struct ExpWeightsArgs;  // kernels/sampling.h

// All kernels for one precision, for the SIMD target chosen at start.
template <class T>
struct Table {
  std::array<OpRow<T>, kOpCount> ops;
  T (*multiply_add)(T a, T b, T c) = nullptr;  // rounds once where the target can
  void (*attend)(const AttendArgs<T>&) = nullptr;
  // The optimiser's step for weights whose gradients are complete.
  void (*update)(const UpdatePass<T>&) = nullptr;
  // Brings the state of `size` weights up to step settings.step where lazy updates skipped steps.
  void (*catch_up)(const OptimizerState<T>&, std::size_t size, const AdamSettings<T>&) = nullptr;
  // The largest of `size` scalars, -infinity if there are none; NaN if one of them is NaN.
  T (*max)(const T* x, std::size_t size) = nullptr;
  void (*exp_weights)(const ExpWeightsArgs&) = nullptr;  // the weights of a draw

  const OpRow<T>& operator[](Op op) const { return ops[static_cast<std::size_t>(op)]; }
};

// The table for this process, filled at the first call. T is float or double.
template <class T>
const Table<T>& table();

// "AVX3", "AVX2", "SSE4", ...
const char* simd_target();

// For tests: as if the processor had the named target only ("AVX2"); null: whatever it has. Returns
// false and changes nothing if the processor lacks it. Not while other threads compute.
bool choose_simd_target(const char* name);

}  // namespace glassbox::kernels
