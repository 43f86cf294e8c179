// safetensors, the container of a model file: 8 bytes N (little endian), N bytes of JSON header,
// then the numbers of all tensors, little endian, row by row, without holes.
//
// A reader believes nothing. When it is made, header and file size have been checked against each
// other; what the format forbids is refused, and so is what no program of ours writes (numbers like
// 1e3, deep nesting, odd names). docs/formats.md numbers the rules.
#pragma once

#include <bit>
#include <cstdint>
#include <istream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace glassbox {

// "F32" or "F64".
template <class T>
inline constexpr const char* kDtype = std::is_same_v<T, float> ? "F32" : "F64";

// A scalar's bytes in a file, on any host.
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
void append_little_endian(T value, std::string& bytes) {
  const auto bits = std::bit_cast<BitsOf<T>>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(bits >> (8 * i) & 0xFF);
}
template <class T>
T from_little_endian(const char* bytes) {
  BitsOf<T> bits = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bits |= BitsOf<T>{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return std::bit_cast<T>(bits);
}

class SafetensorsReader {
 public:
  struct Tensor {
    std::string name;
    std::string dtype;                 // one the format knows
    std::vector<std::uint64_t> shape;  // empty for a scalar
    std::uint64_t begin, end;          // its bytes, counted from the end of the header
  };

  // Reads and checks the header. Memory: up to some 50 times the header, whatever the file's size.
  // Throws FileError, or FormatError for whatever breaks a rule.
  explicit SafetensorsReader(const std::string& path);
  // Of a file that has been read already, as a pipe can be only once. Messages name `path`.
  SafetensorsReader(std::string bytes, const std::string& path);

  const std::string& path() const { return path_; }
  // Sorted by name.
  const std::vector<Tensor>& tensors() const { return tensors_; }
  // The tensor of that name, or nullptr.
  const Tensor* find(std::string_view name) const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // The tensor's bytes, read now. Throws FileError if the file has changed meanwhile.
  std::string read(const Tensor& tensor) const;

 private:
  std::string read_at(std::uint64_t offset, std::uint64_t size) const;
  void read_header();
  void parse(const std::string& header, std::uint64_t buffer_size);

  std::string path_;
  std::unique_ptr<std::istream> file_;
  std::uint64_t buffer_ = 0;  // where the numbers begin
  std::vector<Tensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

// The bytes of a file that is read once, for the second constructor: a pipe, or a file that is to
// be fingerprinted. A file of another kind is refused at its head, however large. Throws FileError,
// or FormatError.
std::string read_safetensors_bytes(const std::string& path);

struct TensorToWrite {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::string bytes;  // little endian
};

// The whole file. Tensors are sorted by the size of their dtype, large first, then by name, and
// metadata by key; the header is padded with blanks to a multiple of 8. So the same content gives
// the same bytes, and every tensor is aligned to its scalars. REQUIRES: names are unique, dtypes
// known, bytes match shapes.
std::string safetensors_bytes(std::vector<TensorToWrite> tensors,
                              const std::map<std::string, std::string>& metadata);

}  // namespace glassbox
