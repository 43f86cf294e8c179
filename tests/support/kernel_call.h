// A kernel run on blocks as the tape lays them out, with NaN in every pad and in everything that it
// has to fill before it reads it.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/catch_compat.hpp"
#include "tests/support/bits.h"
#include "tests/support/reference.h"

namespace glassbox::reference {

// Calls f for every SIMD target that this machine has, widest first; then the best one is in use
// again.
template <class F>
void for_each_simd_target(F f) {
  struct Restore {
    ~Restore() { kernels::choose_simd_target(nullptr); }
  } restore;
  for (const char* name : {"AVX3_DL", "AVX3", "AVX2", "SSE4", "NEON", "EMU128", "SCALAR"})
    if (kernels::choose_simd_target(name)) {
      INFO("target " << name);
      f(std::string(name));
    }
}

template <class T>
class KernelCall {
 public:
  explicit KernelCall(const Case<T>& x)
      : x_(x), row_(kernels::table<T>()[x.op]), out_(x.rows, x.cols) {
    for (const Matrix<T>& m : x.in) {
      in_.emplace_back(m.rows, m.cols, !row_.reads_anywhere);
      in_.back().write(in_.back().data, m);
    }
    if (row_.saved) saved_.assign(row_.saved(args()), kNaN);
  }
  Matrix<T> forward() {
    row_.forward(args());
    return out_.read(out_.data);
  }
  // After forward(). `grad` holds what each operand's gradient begins from, and its sum afterwards.
  // A first writer finds NaN instead. An operand of `without` has no gradient.
  void backward(const Matrix<T>& d_out, std::vector<Matrix<T>>& grad, bool first_writer,
                std::size_t without = 9) {
    out_.grad.assign(out_.grad.size(), T(0));  // the caller's promise: pads of d_out are 0
    out_.write(out_.grad, d_out);
    kernels::Args<T> x = args();
    for (std::size_t k = 0; k < in_.size() && k < x.in.size(); ++k) {
      in_[k].grad.assign(in_[k].grad.size(), first_writer ? kNaN : T(0));
      if (!first_writer) in_[k].write(in_[k].grad, grad[k]);
      x.in[k].first_writer = first_writer;
      if (k == without) x.in[k].grad = nullptr;
    }
    row_.backward(x);
    for (std::size_t k = 0; k < in_.size(); ++k) {
      if (k == without) continue;
      grad[k] = in_[k].read(in_[k].grad);
      for (std::size_t i = 0; i < in_[k].grad.size(); ++i)
        if (i % in_[k].pitch >= in_[k].cols) pads_are_zero_ = pads_are_zero_ && in_[k].grad[i] == 0;
    }
  }
  // Of all the gradients that backward() has written.
  bool pads_are_zero() const { return pads_are_zero_; }

 private:
  static constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  struct Buffer {
    Buffer(std::size_t r, std::size_t c, bool pad = true)
        : rows(r),
          cols(c),
          pitch(pad ? kernels::padded(c) : c),
          data(r * pitch, kNaN),
          grad(r * pitch, kNaN) {}
    void write(std::vector<T>& to, const Matrix<T>& m) const {
      for (std::size_t i = 0; i < m.data.size(); ++i) to[i / cols * pitch + i % cols] = m.data[i];
    }
    Matrix<T> read(const std::vector<T>& from) const {
      Matrix<T> m(rows, cols);
      for (std::size_t i = 0; i < m.data.size(); ++i) m.data[i] = from[i / cols * pitch + i % cols];
      return m;
    }
    std::size_t rows, cols, pitch;
    std::vector<T> data, grad;
  };
  static kernels::MatrixView<T> block(Buffer& b) {
    return {.data = b.data.data(),
            .grad = b.grad.data(),
            .rows = static_cast<std::uint32_t>(b.rows),
            .cols = static_cast<std::uint32_t>(b.cols),
            .pitch = static_cast<std::uint32_t>(b.pitch)};
  }
  kernels::Args<T> args() {
    kernels::Args<T> x;
    x.out = block(out_);
    for (std::size_t k = 0; k < in_.size(); ++k) x.in[k] = block(in_[k]);
    x.ids = x_.ids;
    x.saved = saved_.data();
    x.settings = x_.settings;
    return x;
  }
  const Case<T>& x_;
  const kernels::OpRow<T>& row_;
  Buffer out_;
  std::vector<Buffer> in_;
  std::vector<T> saved_;
  bool pads_are_zero_ = true;
};

template <class T>
std::vector<Matrix<T>> zeros_like(const std::vector<Matrix<T>>& in) {
  std::vector<Matrix<T>> zeros;
  for (const Matrix<T>& m : in) zeros.emplace_back(m.rows, m.cols);
  return zeros;
}

template <class T>
std::size_t differences(const Matrix<T>& a, const Matrix<T>& b) {
  return different_bits<T>(a.data, b.data);
}

// The claim of rung 1 for one use: output and gradients have the plain loop's bits, on every SIMD
// target, for a first writer and for a later one, with any operand's gradient left out, and pads do
// not matter.
template <class T>
void require_plain_bits(const Case<T>& x, std::mt19937_64& bits, Matrix<T> (*plain)(const Case<T>&),
                        void (*plain_backward)(const Case<T>&, const Matrix<T>&,
                                               std::vector<Matrix<T>>&)) {
  const auto d_out = random_matrix<T>(bits, x.rows, x.cols);
  std::vector<Matrix<T>> start;
  for (const Matrix<T>& m : x.in) start.push_back(random_matrix<T>(bits, m.rows, m.cols));
  for_each_simd_target([&](const std::string&) {
    KernelCall<T> kernel(x);
    REQUIRE(differences(kernel.forward(), plain(x)) == 0);
    for (const bool first_writer : {false, true}) {
      if (first_writer && kernels::table<T>()[x.op].reads_anywhere) continue;  // always adds
      auto want = first_writer ? zeros_like(x.in) : start;
      plain_backward(x, d_out, want);
      const std::size_t first = kernels::table<T>()[x.op].reads_anywhere ? x.in.size() : 0;
      for (std::size_t without = first; without <= x.in.size(); ++without) {
        CAPTURE(first_writer, without);
        auto got = start;
        kernel.backward(d_out, got, first_writer, without);
        for (std::size_t k = 0; k < x.in.size(); ++k)
          if (k != without) REQUIRE(differences(got[k], want[k]) == 0);
      }
    }
    REQUIRE(kernel.pads_are_zero());
  });
}

}  // namespace glassbox::reference
