// What single scalars need of an operation: its path of length 1, and the formulas of add, sub, mul
// and neg.
//
// Included where the names Add, Sub, Mul, Neg, Set and GetLane mean something: by
// kernels/elementwise-inl.h in each SIMD target's namespace, where they are Highway's, and by
// kernels/scalar.h, where they are plain C++. So a formula is written once, and both give the same
// bits. See elementwise-inl.h for what a formula is.

#define GLASSBOX_FORMULA      \
  template <class D, class V> \
  [[gnu::always_inline]] static inline V

// d (a + b) = da + db
struct add_formula {
  static constexpr int operands = 2;
  GLASSBOX_FORMULA forward(D, V a, V b) { return Add(a, b); }
  GLASSBOX_FORMULA d_a(D, V, V g, V, V) { return g; }
  GLASSBOX_FORMULA d_b(D, V, V g, V, V) { return g; }
};

// d (a - b) = da - db
struct sub_formula {
  static constexpr int operands = 2;
  GLASSBOX_FORMULA forward(D, V a, V b) { return Sub(a, b); }
  GLASSBOX_FORMULA d_a(D, V, V g, V, V) { return g; }
  GLASSBOX_FORMULA d_b(D, V, V g, V, V) { return Neg(g); }
};

// d (a b) = b da + a db
struct mul_formula {
  static constexpr int operands = 2;
  GLASSBOX_FORMULA forward(D, V a, V b) { return Mul(a, b); }
  GLASSBOX_FORMULA d_a(D, V, V g, V, V b) { return Mul(g, b); }
  GLASSBOX_FORMULA d_b(D, V, V g, V a, V) { return Mul(g, a); }
};

// d (-a) = -da
struct neg_formula {
  static constexpr int operands = 1;
  GLASSBOX_FORMULA forward(D, V a, V) { return Neg(a); }
  GLASSBOX_FORMULA d_a(D, V, V g, V, V) { return Neg(g); }
};

#undef GLASSBOX_FORMULA

// D is the vector of one.
template <class D, class F, class T>
inline T scalar_forward(T a, T b) {
  const D d;
  return GetLane(F::forward(d, Set(d, a), Set(d, b)));
}

// REQUIRES: g is not 0. The caller skips such nodes.
template <class D, class F, class T>
inline T scalar_backward(T out, T g, T a, T b, T* d_a, T* d_b) {
  const D d;
  const auto y = Set(d, out), vg = Set(d, g), va = Set(d, a), vb = Set(d, b);
  const T new_a = *d_a + GetLane(F::d_a(d, y, vg, va, vb));
  *d_a = new_a;
  if constexpr (F::operands == 2) {
    *d_b += GetLane(F::d_b(d, y, vg, va, vb));
    if (d_a == d_b) return *d_a;
  }
  return new_a;
}
