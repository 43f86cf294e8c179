#include "model/onnx.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "model/format_error.h"
#include "model/forward.h"
#include "model/model_file.h"

namespace glassbox {

namespace {

// A message of Google's protocol buffers, field by field (developers.google.com/protocol-buffers,
// "Encoding"): a tag, then a varint, or a length and so many bytes. The numbers of the fields are
// those of onnx.proto.
class Message {
 public:
  Message& number(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  Message& bytes(int field, std::string_view content) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(content.size());
    text_ += content;
    return *this;
  }
  Message& message(int field, const Message& content) { return bytes(field, content.text_); }
  const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

constexpr std::uint64_t kFloat = 1, kInt64 = 7, kDouble = 11;  // TensorProto.DataType

template <class Number>
constexpr std::uint64_t type_of() {
  if constexpr (std::is_same_v<Number, float>) return kFloat;
  if constexpr (std::is_same_v<Number, double>) return kDouble;
  return kInt64;
}

// Little endian, whatever the machine is.
template <class Number>
void append_bytes(std::string& text, Number value) {
  using Bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
  const auto bits = std::bit_cast<Bits>(value);
  for (std::size_t i = 0; i < sizeof bits; ++i) text += static_cast<char>(bits >> 8 * i);
}

// The operations of the forward pass as nodes. An array is known by its name and its width.
template <class T>
class OnnxOps {
 public:
  struct Array {
    std::string name;
    std::size_t cols = 0;
  };

  OnnxOps(WeightsView<T> weights, const std::string& path) : weights_(weights), path_(path) {
    const GptConfig& config = weights.layout->config();
    // T, and positions 0 to T - 1.
    length_ = node("Shape", {"tokens"}, "length");
    std::vector<T> mask(config.block_size * config.block_size);
    for (std::size_t q = 0; q < config.block_size; ++q)
      for (std::size_t k = q + 1; k < config.block_size; ++k)
        mask[q * config.block_size + k] = -std::numeric_limits<T>::max();
    constant("mask", mask, {config.block_size, config.block_size});
    const std::string square = concat({length_, length_}, "square");
    mask_ = node("Slice", {"mask", integers({0, 0}), square, integers({0, 1})}, "causal_mask");
  }

  Array embedding(const ParameterBlock& tokens, const ParameterBlock& positions, Place place) {
    const std::string words = node("Gather", {parameter(tokens), "tokens"}, "token_rows");
    // A slice ends where its table does; the shape is what a sentence beyond the block runs into.
    const std::string rows = node(
        "Slice", {parameter(positions), integers({0}), length_, integers({0})}, "position_slice");
    const std::string shape = concat({length_, integers({tokens.cols})}, "position_shape");
    const std::string checked = node("Reshape", {rows, shape}, "position_rows");
    return {node("Add", {words, checked}, name_of(place)), tokens.cols};
  }
  Array rmsnorm(const Array& x, double epsilon, Place place) {
    const std::string name = name_of(place);
    const std::string square = node("Mul", {x.name, x.name}, name + ".square");
    Message axes;  // AttributeProto: name, ints, type
    axes.bytes(1, "axes").number(8, static_cast<std::uint64_t>(-1)).number(20, 7);
    const std::string mean = node("ReduceMean", {square}, name + ".mean", {axes});
    const std::string sum = node("Add", {mean, scalar(epsilon)}, name + ".shifted");
    return {node("Div", {x.name, node("Sqrt", {sum}, name + ".root")}, name), x.cols};
  }
  Array linear(const Array& x, const ParameterBlock& weight, Place place) {
    return {node("MatMul", {x.name, parameter(weight)}, name_of(place)), weight.cols};
  }
  Array attention(const Array& x, std::size_t heads, Place place) {
    const std::string name = name_of(place);
    const std::size_t width = x.cols / 3, head = width / heads;
    // (T, C) of the three to (H, T, D), or (H, D, T).
    const auto part = [&](std::size_t which, const char* what, std::vector<std::uint64_t> order) {
      const std::string prefix = name + '.' + what;
      const std::string flat =
          node("Slice",
               {x.name, integers({which * width}), integers({(which + 1) * width}), integers({1})},
               prefix);
      const std::string shape = concat({length_, integers({heads, head})}, prefix + ".shape");
      return node("Transpose", {node("Reshape", {flat, shape}, prefix + ".split")},
                  prefix + ".heads", {permutation(order)});
    };
    const std::string q = part(0, "query", {1, 0, 2}), k = part(1, "key", {1, 2, 0}),
                      v = part(2, "value", {1, 0, 2});
    const std::string products = node("MatMul", {q, k}, name + ".products");
    const std::string scores =
        node("Mul", {products, scalar(1 / std::sqrt(static_cast<double>(head)))}, name + ".scores");
    const std::string masked = node("Add", {scores, mask_}, name + ".masked");
    Message axis;
    axis.bytes(1, "axis").number(3, static_cast<std::uint64_t>(-1)).number(20, 2);
    const std::string weights = node("Softmax", {masked}, name + ".weights", {axis});
    const std::string mixed = node("MatMul", {weights, v}, name + ".mixed");
    const std::string back = node("Transpose", {mixed}, name + ".joined", {permutation({1, 0, 2})});
    const std::string shape = concat({length_, integers({width})}, name + ".shape");
    return {node("Reshape", {back, shape}, name), width};
  }
  Array dropout(const Array& x) { return x; }
  Array apply(kernels::Op op, const Array& x, Place place) {
    const std::string name = name_of(place);
    if (op == kernels::Op::relu) return {node("Relu", {x.name}, name), x.cols};
    if (op == kernels::Op::tanh) return {node("Tanh", {x.name}, name), x.cols};
    if (op == kernels::Op::sigmoid) return {node("Sigmoid", {x.name}, name), x.cols};
    if (op == kernels::Op::silu) {
      const std::string share = node("Sigmoid", {x.name}, name + ".share");
      return {node("Mul", {x.name, share}, name), x.cols};
    }
    if (op == kernels::Op::gelu) {  // as kernels/activation.cc has it
      const std::string square = node("Mul", {x.name, x.name}, name + ".square");
      const std::string cube = node("Mul", {square, x.name}, name + ".cube");
      const std::string part = node("Mul", {cube, scalar(0.044715)}, name + ".part");
      const std::string sum = node("Add", {x.name, part}, name + ".sum");
      const std::string z = node("Mul", {sum, scalar(1.5957691216057308)}, name + ".z");
      const std::string share = node("Sigmoid", {z}, name + ".share");
      return {node("Mul", {x.name, share}, name), x.cols};
    }
    throw unknown(op);
  }
  Array apply(kernels::Op op, const Array& x, const Array& y, Place place) {
    if (op == kernels::Op::add) return {node("Add", {x.name, y.name}, name_of(place)), x.cols};
    if (op == kernels::Op::mul) return {node("Mul", {x.name, y.name}, name_of(place)), x.cols};
    throw unknown(op);
  }

  // The file.
  std::string model(const Array& logits, const Tokenizer& tokenizer) const {
    Message graph;
    for (const Message& node : nodes_) graph.message(1, node);
    graph.bytes(2, "glassbox");
    for (const Message& tensor : tensors_) graph.message(5, tensor);
    graph.message(11, value("tokens", kInt64, {{"T", 0}}));
    graph.message(12, value(logits.name, type_of<T>(), {{"T", 0}, {"", logits.cols}}));
    Message operators;
    operators.bytes(1, "").number(2, 13);
    Message model;
    model.number(1, 8).bytes(2, "glassbox").message(7, graph).message(8, operators);
    for (const auto& [key, text] : model_metadata(weights_.layout->config(), tokenizer, "{}")) {
      Message entry;
      model.message(14, entry.bytes(1, key).bytes(2, text));
    }
    return model.text();
  }

 private:
  // `what` of a Stage is named by its number among them, which is unique within its layer.
  static std::string name_of(Place place) {
    if (place.stage == Stage::logits) return "logits";
    const auto stage = fmt::format("stage{}", static_cast<int>(place.stage));
    return place.stage < Stage::attention_norm ? stage
                                               : fmt::format("layer{}.{}", place.layer, stage);
  }
  ConfigError unknown(kernels::Op op) const {
    return ConfigError(
        fmt::format("{}: expected operations that the ONNX export has, found "
                    "number {} of kernels/op.h; write a .safetensors file instead",
                    path_, static_cast<int>(op)));
  }

  // Appends a node; returns its output's name, which is also its own.
  std::string node(const char* type, const std::vector<std::string>& inputs,
                   const std::string& output, const std::vector<Message>& attributes = {}) {
    Message message;
    for (const std::string& input : inputs) message.bytes(1, input);
    message.bytes(2, output).bytes(3, output).bytes(4, type);
    for (const Message& attribute : attributes) message.message(5, attribute);
    nodes_.push_back(message);
    return output;
  }
  std::string concat(const std::vector<std::string>& parts, const std::string& name) {
    Message axis;
    axis.bytes(1, "axis").number(3, 0).number(20, 2);
    return node("Concat", parts, name, {axis});
  }
  static Message permutation(const std::vector<std::uint64_t>& order) {
    Message message;
    message.bytes(1, "perm");
    for (const std::uint64_t axis : order) message.number(8, axis);
    return message.number(20, 7);
  }

  template <class Number>
  void constant(const std::string& name, const std::vector<Number>& values,
                const std::vector<std::size_t>& shape) {
    Message tensor;
    for (const std::size_t size : shape) tensor.number(1, size);
    tensor.number(2, type_of<Number>()).bytes(8, name);
    std::string raw;
    raw.reserve(values.size() * sizeof(Number));
    for (const Number value : values) append_bytes(raw, value);
    tensors_.push_back(tensor.bytes(9, raw));
  }
  std::string integers(const std::vector<std::size_t>& values) {
    std::string name = fmt::format("integers_{}", fmt::join(values, "_"));
    if (!known_[name]) {
      known_[name] = true;
      constant(name, std::vector<std::int64_t>(values.begin(), values.end()), {values.size()});
    }
    return name;
  }
  std::string scalar(double value) {
    std::string name = fmt::format("number_{}", value);
    if (!known_[name]) {
      known_[name] = true;
      constant(name, std::vector<T>{static_cast<T>(value)}, {1});
    }
    return name;
  }
  // A parameter's block as it lies in memory, without its pads.
  std::string parameter(const ParameterBlock& block) {
    std::string name = fmt::format("weights_{}", block.offset);
    if (known_[name]) return name;
    known_[name] = true;
    std::vector<T> values;
    values.reserve(block.rows * block.cols);
    for (std::size_t row = 0; row < block.rows; ++row)
      for (std::size_t col = 0; col < block.cols; ++col) {
        const std::size_t at = block.offset + row * block.pitch + col;
        if (!std::isfinite(weights_.data[at]))
          throw NumericError(fmt::format("{}: {}: expected a finite number, found {}", path_,
                                         weights_.layout->label(at), weights_.data[at]));
        values.push_back(weights_.data[at]);
      }
    constant(name, values, {block.rows, block.cols});
    return name;
  }

  // ValueInfoProto: a name for the length that is not fixed, or a size.
  static Message value(const std::string& name, std::uint64_t type,
                       const std::vector<std::pair<const char*, std::size_t>>& dimensions) {
    Message shape, tensor, kind, message;
    for (const auto& [symbol, size] : dimensions) {
      Message dimension;
      if (*symbol != 0)
        dimension.bytes(2, symbol);
      else
        dimension.number(1, size);
      shape.message(1, dimension);
    }
    tensor.number(1, type).message(2, shape);
    kind.message(1, tensor);
    return message.bytes(1, name).message(2, kind);
  }

  WeightsView<T> weights_;
  const std::string& path_;
  std::vector<Message> nodes_, tensors_;
  std::map<std::string, bool> known_;
  std::string length_, mask_;
};

}  // namespace

template <class T>
void write_onnx(const std::string& path, WeightsView<T> weights, const Tokenizer& tokenizer) {
  const GptConfig& config = weights.layout->config();
  const double bytes =
      sizeof(T) * (static_cast<double>(config.parameter_count()) +
                   static_cast<double>(config.block_size) * static_cast<double>(config.block_size));
  if (bytes > 2e9)
    throw ConfigError(fmt::format(
        "{}: expected a model of less than 2 GB, which is all that an ONNX file may have, found "
        "{:.1f} GB; write a .safetensors file instead",
        path, bytes / 1e9));
  OnnxOps<T> ops(weights, path);
  const auto logits = forward_pass(ops, *weights.layout);
  write_file(path, ops.model(logits, tokenizer));
}

template void write_onnx(const std::string&, WeightsView<float>, const Tokenizer&);
template void write_onnx(const std::string&, WeightsView<double>, const Tokenizer&);

}  // namespace glassbox
