#include "model/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/quote.h"
#include "model/format_error.h"

namespace glassbox {
namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;  // the reference implementation's limit
constexpr std::size_t kMaxName = 1024;
constexpr std::size_t kMaxDimensions = 64;  // PyTorch's limit
constexpr int kMaxDepth = 8;
constexpr const char* kMetadata = "__metadata__";

// Bits of an element; 0 if the format does not know the dtype.
unsigned dtype_bits(std::string_view dtype) {
  static const std::map<std::string_view, unsigned> kBits = {
      {"F4", 4},   {"F6_E2M3", 6},     {"F6_E3M2", 6},     {"BOOL", 8}, {"U8", 8},
      {"I8", 8},   {"F8_E5M2", 8},     {"F8_E4M3", 8},     {"U16", 16}, {"F8_E8M0", 8},
      {"I16", 16}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F16", 16}, {"BF16", 16},
      {"U32", 32}, {"I32", 32},        {"F32", 32},        {"U64", 64}, {"I64", 64},
      {"F64", 64}, {"C64", 64}};
  const auto found = kBits.find(dtype);
  return found == kBits.end() ? 0 : found->second;
}

// A plain integer from 0 to 2^63 - 1.
std::uint64_t whole_number(const Json& value, const std::string& where) {
  if (value.kind() != Json::Kind::integer || value.integer() < 0) {
    throw format_error(where, "a whole number from 0 to 2^63 - 1", describe_json(&value));
  }
  return static_cast<std::uint64_t>(value.integer());
}

// Bytes of that many elements; refused if they overflow 64 bits or end within a byte.
std::uint64_t byte_count(const SafetensorsReader::Tensor& tensor, unsigned bits,
                         const std::string& where) {
  std::uint64_t count = 1;
  bool overflow = false;
  for (const std::uint64_t size : tensor.shape) {
    overflow |= __builtin_mul_overflow(count, size, &count);
  }
  overflow |= __builtin_mul_overflow(count, std::uint64_t{bits}, &count);
  if (overflow) {
    throw format_error(where + ": shape", "a size within 64 bits", shape_text(tensor.shape));
  }
  if (count % 8 != 0) {
    throw format_error(
        where + ": shape", "a whole number of bytes",
        fmt::format("{} bits ({} of {})", count, shape_text(tensor.shape), tensor.dtype));
  }
  return count / 8;
}

// U+0000 to U+001F and U+007F to U+009F: what a terminal could obey when the name is shown.
bool has_control_character(std::string_view utf8) {
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    const auto next = static_cast<unsigned char>(i + 1 < utf8.size() ? utf8[i + 1] : 0);
    if (byte < 0x20 || byte == 0x7F || (byte == 0xC2 && next < 0xA0)) return true;
  }
  return false;
}

SafetensorsReader::Tensor parse_tensor(const std::string& name, const Json& entry,
                                       const std::string& path) {
  if (has_control_character(name) || name.size() > kMaxName) {
    throw format_error(
        path + ": header", "names of at most 1024 bytes without control characters",
        name.size() > kMaxName ? fmt::format("one of {} bytes", name.size()) : "another");
  }
  const std::string where = path + ": " + shortened(name);
  SafetensorsReader::Tensor tensor{name, "", {}, 0, 0};
  const FileObject object(entry, where, {"dtype", "shape", "data_offsets"});
  tensor.dtype = object.get("dtype", Json::Kind::string, "a text").string();
  const unsigned bits = dtype_bits(tensor.dtype);
  if (bits == 0) throw object.error("dtype", "one of the format's, like F32");
  const auto& shape = object.get("shape", Json::Kind::array, "a list").array();
  if (shape.size() > kMaxDimensions) {
    throw format_error(where + ": shape", fmt::format("at most {} sizes", kMaxDimensions),
                       std::to_string(shape.size()));
  }
  for (const Json& size : shape) {
    tensor.shape.push_back(whole_number(size, where + ": shape"));
  }
  const auto& offsets = object.get("data_offsets", Json::Kind::array, "a list").array();
  if (offsets.size() != 2) {
    throw format_error(where + ": data_offsets", "two numbers", std::to_string(offsets.size()));
  }
  tensor.begin = whole_number(offsets[0], where + ": data_offsets");
  tensor.end = whole_number(offsets[1], where + ": data_offsets");
  if (tensor.end < tensor.begin) {
    throw format_error(where + ": data_offsets", "an end not before the beginning",
                       fmt::format("[{}, {}]", tensor.begin, tensor.end));
  }
  const std::uint64_t bytes = byte_count(tensor, bits, where);
  if (tensor.end - tensor.begin != bytes) {
    throw format_error(
        where + ": data_offsets",
        fmt::format("{} bytes for shape {} of {}", bytes, shape_text(tensor.shape), tensor.dtype),
        std::to_string(tensor.end - tensor.begin));
  }
  return tensor;
}

// The tensors must lie one behind the other and fill the buffer. Sorts them by their places.
void check_coverage(std::vector<SafetensorsReader::Tensor>& tensors, std::uint64_t buffer_size,
                    const std::string& path) {
  std::ranges::sort(tensors, {}, [](const auto& t) { return std::pair(t.begin, t.end); });
  std::uint64_t next = 0;
  for (const auto& tensor : tensors) {
    if (tensor.begin != next) {
      throw format_error(
          path + ": " + shortened(tensor.name) + ": data_offsets",
          fmt::format("a beginning at {}, where the tensor before ends", next),
          fmt::format("{} ({})", tensor.begin, tensor.begin < next ? "an overlap" : "a gap"));
    }
    next = tensor.end;
  }
  if (next != buffer_size) {
    throw format_error(
        path + ": size", fmt::format("{} bytes of numbers behind the header", next),
        fmt::format("{} ({})", buffer_size, buffer_size < next ? "cut short" : "trailing bytes"));
  }
}

constexpr std::uint64_t kHead = 9;  // bytes: the header's length and its first

// What can be told of a file from its head.
void check_head(std::string_view head, const std::string& path) {
  constexpr const char* kAdvice = "the file is damaged or no safetensors file";
  if (head.size() < 8) return;
  const auto length = from_little_endian<std::uint64_t>(head.data());
  if (length > kMaxHeader) {
    throw format_error(path + ": header", fmt::format("a length of at most {} bytes", kMaxHeader),
                       std::to_string(length), kAdvice);
  }
  if (length == 0 || (head.size() >= kHead && head[8] != '{')) {
    throw format_error(path + ": header", "a JSON object",
                       length == 0 ? "nothing" : "something else", kAdvice);
  }
}

}  // namespace

std::string read_safetensors_bytes(const std::string& path) {
  return read_file(path, [&](std::string_view so_far) { check_head(so_far, path); });
}

SafetensorsReader::SafetensorsReader(const std::string& path) : path_(path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) {
    file_ = std::make_unique<std::ifstream>(path, std::ios::binary);
  }
  if (!file_ || !*file_) {
    // A pipe is read whole; what can't be opened throws here, with the system's reason.
    file_ = std::make_unique<std::istringstream>(read_safetensors_bytes(path));
  }
  read_header();
}

SafetensorsReader::SafetensorsReader(std::string bytes, const std::string& path)
    : path_(path), file_(std::make_unique<std::istringstream>(std::move(bytes))) {
  read_header();
}

void SafetensorsReader::read_header() {
  file_->seekg(0, std::ios::end);
  const auto size = static_cast<std::uint64_t>(file_->tellg());
  if (size < 8)
    throw format_error(path_ + ": header", "a file of at least 8 bytes", std::to_string(size));
  const std::string head = read_at(0, std::min(size, kHead));
  check_head(head, path_);
  const auto length = from_little_endian<std::uint64_t>(head.data());
  if (length > size - 8) {
    throw format_error(path_ + ": header", fmt::format("{} bytes", length),
                       fmt::format("{} (cut short)", size - 8));
  }
  buffer_ = 8 + length;
  parse(read_at(8, length), size - buffer_);
}

void SafetensorsReader::parse(const std::string& header, std::uint64_t buffer_size) {
  const std::string where = path_ + ": header";
  const Json root = Json::parse(header, where, kMaxDepth);
  if (header[header.find_last_not_of(' ')] != '}') {
    throw format_error(where, "nothing but blanks behind the object", "something else");
  }
  for (const auto& [name, entry] : root.object()) {
    if (name == kMetadata) {
      const std::string place = path_ + ": " + kMetadata;
      if (entry.kind() != Json::Kind::object)
        throw format_error(place, "an object", describe_json(&entry));
      for (const auto& [key, value] : entry.object()) {
        if (value.kind() != Json::Kind::string) {
          throw format_error(place + ": " + quotation(key), "a text", describe_json(&value));
        }
        metadata_.emplace(key, value.string());
      }
    } else {
      tensors_.push_back(parse_tensor(name, entry, path_));
    }
  }
  check_coverage(tensors_, buffer_size, path_);
  std::ranges::sort(tensors_, {}, &Tensor::name);
}

const SafetensorsReader::Tensor* SafetensorsReader::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(tensors_, name, {}, &Tensor::name);
  return found == tensors_.end() || found->name != name ? nullptr : &*found;
}

std::string SafetensorsReader::read(const Tensor& tensor) const {
  return read_at(buffer_ + tensor.begin, tensor.end - tensor.begin);
}

std::string SafetensorsReader::read_at(std::uint64_t offset, std::uint64_t size) const {
  std::string bytes(size, '\0');
  file_->seekg(static_cast<std::streamoff>(offset));
  if (!file_->read(bytes.data(), static_cast<std::streamsize>(size))) {
    throw FileError(
        fmt::format("{}: expected {} bytes at {}, found fewer; the file was changed "
                    "while it was read: try again",
                    path_, size, offset));
  }
  return bytes;
}

std::string safetensors_bytes(std::vector<TensorToWrite> tensors,
                              const std::map<std::string, std::string>& metadata) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    const unsigned a_bits = dtype_bits(a.dtype), b_bits = dtype_bits(b.dtype);
    return a_bits != b_bits ? a_bits > b_bits : a.name < b.name;
  });
  JsonWriter json;
  json.begin_object();
  if (!metadata.empty()) {
    json.key(kMetadata).begin_object();
    for (const auto& [key, value] : metadata) json.member(key, value);
    json.end_object();
  }
  std::size_t end = 0;
  for (const TensorToWrite& tensor : tensors) {
    const std::size_t begin = end;
    end += tensor.bytes.size();
    json.key(tensor.name).begin_object().member("dtype", tensor.dtype);
    json.key("shape").values(tensor.shape);
    json.key("data_offsets").values(std::array{begin, end}).end_object();
  }
  std::string header = json.end_object().take();
  header.append((8 - header.size() % 8) % 8, ' ');

  std::string file;
  file.reserve(8 + header.size() + end);
  append_little_endian<std::uint64_t>(header.size(), file);
  file += header;
  for (const TensorToWrite& tensor : tensors) file += tensor.bytes;
  return file;
}

}  // namespace glassbox
