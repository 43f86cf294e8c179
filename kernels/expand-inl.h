// How expand() shows a sum over the sixteen virtual lanes, and a scalar that all lanes use: the
// nodes stand in the order for which a reverse walk adds gradients as the kernels do.
#if defined(GLASSBOX_KERNELS_EXPAND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASSBOX_KERNELS_EXPAND_INL_H_
#undef GLASSBOX_KERNELS_EXPAND_INL_H_
#else
#define GLASSBOX_KERNELS_EXPAND_INL_H_
#endif

#include <algorithm>
#include <array>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace glassbox::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
using Node = typename Emitter<T>::Node;

// The running sums of LaneSums, one node a lane; a lane that nothing was added to stays out of the
// tree.
template <class T>
class LaneNodes {
 public:
  explicit LaneNodes(Emitter<T>& e) : e_(e), zero_(e.constant(0)) { lane_.fill(zero_); }
  void add(std::size_t i, Node<T> term) { set(i, e_.apply(Op::add, lane_[i % kLanes], term)); }
  void multiply_add(std::size_t i, Node<T> a, Node<T> b) {
    set(i, e_.multiply_add(a, b, lane_[i % kLanes]));
  }
  // REQUIRES: something was added.
  Node<T> total() {
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
      for (std::size_t j = 0; j < half; ++j)
        if (present_[j + half]) lane_[j] = e_.apply(Op::add, lane_[j], lane_[j + half]);
    return lane_[0];
  }

 private:
  void set(std::size_t i, Node<T> node) {
    lane_[i % kLanes] = node;
    present_[i % kLanes] = true;
  }
  Emitter<T>& e_;
  Node<T> zero_;
  std::array<Node<T>, kLanes> lane_;
  std::array<bool, kLanes> present_{};
};

// Copies of a node, one a lane, made by a tree: walked backward, their gradients meet as
// LaneSums::total() adds lanes. `count` lanes are used.
template <class T>
std::array<Node<T>, kLanes> fan_out(Emitter<T>& e, Node<T> node, std::size_t count) {
  std::array<Node<T>, kLanes> level;
  level.fill(node);
  for (std::size_t width = 2; width <= kLanes; width *= 2) {
    const auto above = level;
    for (std::size_t j = 0; j < std::min(width, count); ++j)
      level[j] = e.apply(Op::copy, above[j % (width / 2)]);
  }
  return level;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace glassbox::kernels
HWY_AFTER_NAMESPACE();
#endif
