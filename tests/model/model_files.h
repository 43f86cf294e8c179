// For the tests of files: files made by hand, edited, and read back for the message they provoke.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/model_file.h"
#include "tests/catch_compat.hpp"
#include "tests/support/temporary_folder.h"

namespace glassbox {

// Length, header, numbers.
inline std::string container(std::string_view header, std::string_view numbers = "") {
  std::string bytes;
  append_little_endian<std::uint64_t>(header.size(), bytes);
  return bytes.append(header).append(numbers);
}

// The file with one piece of its header replaced, and the length made to fit.
inline std::string edited(const std::string& file, std::string_view from, std::string_view to) {
  const auto length = from_little_endian<std::uint64_t>(file.data());
  std::string header = file.substr(8, length);
  const std::size_t at = header.find(from);
  REQUIRE(at != std::string::npos);
  header.replace(at, from.size(), to);
  return container(header, std::string_view(file).substr(8 + length));
}

// The FormatError that reading the bytes throws, less the path that it must begin with; "accepted"
// if there is none.
template <class Read>
std::string file_refusal(std::string_view bytes, Read read) {
  const TemporaryFolder folder;
  const std::string path = folder / "m.safetensors";
  put_file(path, bytes);
  try {
    read(path);
  } catch (const FormatError& error) {
    const std::string message = error.what();
    CHECK(message.starts_with(path + ": "));
    CHECK(message.find('\n') == std::string::npos);
    return message.substr(path.size() + 2);
  }
  return "accepted";
}
inline std::string container_error(std::string_view bytes) {
  return file_refusal(bytes, [](const std::string& path) { SafetensorsReader reader(path); });
}
inline std::string model_error(std::string_view bytes) {
  return file_refusal(bytes, [](const std::string& path) { read_model(path); });
}

// The smallest model with every kind of parameter: words `a` and `b`, 1 layer, 2 wide, block 2.
template <class T>
std::string tiny_model_file(const std::string& training = R"({"seed":7})") {
  Weights<T> weights({.vocab_size = 3, .block_size = 2, .n_layer = 1, .n_head = 1, .n_embd = 2});
  Random random(7);
  initialize_weights(weights.layout(), weights.data(), random);
  const TemporaryFolder folder;
  write_model(folder / "m.safetensors", weights.view(),
              Tokenizer::from_words({"a", "b"}, true, "test"), training);
  return file_bytes(folder / "m.safetensors");
}

}  // namespace glassbox
