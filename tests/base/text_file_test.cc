#include "base/text_file.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/support/error_message.h"
#include "tests/support/temporary_folder.h"

using namespace glassbox;

namespace {
std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> all;
  for (std::size_t offset = 0; offset < text.size();) all.emplace_back(next_line(text, offset));
  return all;
}
using Lines = std::vector<std::string>;
}  // namespace

TEST_CASE("next_line: LF, CR LF and CR end a line", "[base][text_file]") {
  CHECK(lines("a\nb\r\nc\rd") == Lines{"a", "b", "c", "d"});
  CHECK(lines("a\n\n\r\n\r\rb\n") == Lines{"a", "", "", "", "", "b"});
  CHECK(lines("").empty());
  CHECK(lines("\r") == Lines{""});
  const std::string piece(4096, 'x');  // ends where the search looks anew
  CHECK(lines(piece + "\r\n" + piece + piece + "y\r") == Lines{piece, piece + piece + "y"});
  CHECK(lines(piece.substr(1) + "\r\nz") == Lines{piece.substr(1), "z"});
}

TEST_CASE("read_text returns characters that lie across two readings, and no byte order mark",
          "[base][text_file]") {
  const TemporaryFolder folder;
  for (const std::size_t before : {65535, 65534, 65533, 65536}) {
    const std::string text = std::string(before, 'a') + "😀猫\n" + std::string(70'000, 'b');
    put_file(folder / "x", "\uFEFF" + text);
    CHECK(read_text(folder / "x") == text);
    put_file(folder / "x", text);
    CHECK(read_text(folder / "x") == text);
  }
}

TEST_CASE("read_text names the line of the first byte that is no text", "[base][text_file]") {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  const auto refusal = [&](const std::string& text) {
    put_file(path, text);
    const std::string message = error_message<FormatError>([&] { read_text(path); });
    return message.substr(std::min(message.size(), path.size() + 2));
  };
  CHECK(refusal(std::string("a\r\nb\rc\0", 7)) ==
        "line 3: expected UTF-8 text, found a NUL byte: is this a text file?");
  CHECK(refusal("a\n\xC3") ==
        "line 2: expected UTF-8 text, found the byte 0xC3; save the file as UTF-8");
  const std::string block(65535, 'a');  // the cut character is at the end of the first reading
  CHECK(refusal(block + "\xE2\x82") ==
        "line 1: expected UTF-8 text, found the byte 0xE2; save the file as UTF-8");
  CHECK(refusal(block + "\n\xE2\x82" + block) ==
        "line 2: expected UTF-8 text, found the byte 0xE2; save the file as UTF-8");
}

TEST_CASE("read_text reads no further than to the first byte that is no text",
          "[base][text_file]") {
  const TemporaryFolder folder;
  // A hole in a file takes no room on the disk; read whole, it would be 100 GB of NUL bytes.
  put_file(folder / "x", "");
  REQUIRE(::truncate((folder / "x").c_str(), 100'000'000'000) == 0);
  CHECK_THAT(error_message<FormatError>([&] { read_text(folder / "x"); }),
             text_contains("line 1: expected UTF-8 text, found a NUL byte"));
  // A pipe that does not end before its writer is told that nobody reads on.
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  ::signal(SIGPIPE, SIG_IGN);
  std::thread writer([&] {
    std::ofstream pipe(folder / "pipe");
    const std::string nuls(65536, '\0');
    while (pipe << nuls) continue;
  });
  CHECK_THAT(error_message<FormatError>([&] { read_text(folder / "pipe"); }),
             text_contains("found a NUL byte"));
  writer.join();
}
