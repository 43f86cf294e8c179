#include "base/file.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "tests/support/error_message.h"
#include "tests/support/full_device.h"
#include "tests/support/temporary_folder.h"

using namespace glassbox;

TEST_CASE("read_file returns every byte, NULs and the lack of a last newline included",
          "[base][file]") {
  const TemporaryFolder folder;
  const std::string bytes("a\0b\r\n\xff no newline", 16);
  put_file(folder / "x", bytes);
  CHECK(read_file(folder / "x") == bytes);
}

TEST_CASE("read_file reads a pipe to its end", "[base][file]") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const std::string bytes(200'000, 'x');
  std::thread writer([&] { std::ofstream(folder / "pipe") << bytes; });
  const std::string read = read_file(folder / "pipe");
  writer.join();
  CHECK(read == bytes);
}

TEST_CASE("read_file names a missing file and the system's reason", "[base][file]") {
  const TemporaryFolder folder;
  const std::string path = folder / "cats.txt";
  CHECK(error_message<FileError>([&] { read_file(path); }) ==
        path + ": can't be read: No such file or directory; check the path");
}

TEST_CASE("read_file refuses a folder as a folder", "[base][file]") {
  const TemporaryFolder folder;
  CHECK(error_message<FileError>([&] { read_file(folder.path()); }) ==
        folder.path() + ": can't be read: it is a folder; name a file in it");
}

TEST_CASE("write_file replaces a file and leaves nothing beside it", "[base][file]") {
  const TemporaryFolder folder;
  put_file(folder / "x", "a longer old text");
  put_file(folder / "x.tmp", "left over by a run that was killed");
  write_file(folder / "x", "new");
  CHECK(file_bytes(folder / "x") == "new");
  CHECK(folder.count() == 1);
}

TEST_CASE("write_file leaves the old file whole to who has it open", "[base][file]") {
  const TemporaryFolder folder;
  put_file(folder / "x", "old");
  std::ifstream reader(folder / "x");
  write_file(folder / "x", "new");
  std::string text;
  reader >> text;
  CHECK(text == "old");
}

TEST_CASE("write_file keeps the permissions of the file that it replaces", "[base][file]") {
  const TemporaryFolder folder;
  put_file(folder / "x", "old");
  REQUIRE(::chmod((folder / "x").c_str(), 0600) == 0);
  write_file(folder / "x", "new");
  struct stat status {};
  REQUIRE(::stat((folder / "x").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("write_file never writes through what has the name of its temporary file",
          "[base][file]") {
  const TemporaryFolder folder;
  put_file(folder / "other", "precious");
  std::filesystem::create_symlink("other", folder / "x.tmp");
  write_file(folder / "x", "new");
  CHECK(file_bytes(folder / "other") == "precious");
  CHECK(file_bytes(folder / "x") == "new");
  CHECK_FALSE(std::filesystem::is_symlink(folder / "x"));
  std::filesystem::create_hard_link(folder / "other", folder / "x.tmp");
  write_file(folder / "x", "newer");
  CHECK(file_bytes(folder / "other") == "precious");
  REQUIRE(::mkfifo((folder / "x.tmp").c_str(), 0600) == 0);
  write_file(folder / "x", "newest");  // does not wait for a reader
  CHECK(file_bytes(folder / "x") == "newest");
}

TEST_CASE("temporary_of follows links as write_file does", "[base][file]") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("there", folder / "link");
  CHECK(temporary_of(folder / "link") == folder / "there.tmp");
  CHECK(temporary_of(folder / "plain") == folder / "plain.tmp");
}

TEST_CASE("read_file stops where its check throws", "[base][file]") {
  const TemporaryFolder folder;
  put_file(folder / "x", "");
  REQUIRE(::truncate((folder / "x").c_str(), 100'000'000'000) == 0);
  const auto check = [](std::string_view so_far) {
    if (so_far.size() > 1000) throw FormatError("no more");
  };
  CHECK(error_message<FormatError>([&] { read_file(folder / "x", check); }) == "no more");
}

TEST_CASE("write_file makes the file that a symbolic link names, and leaves the link",
          "[base][file]") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  fs::create_directory(folder / "d");
  fs::create_symlink("d/x", folder / "one");           // from the link's folder
  fs::create_symlink(folder / "one", folder / "two");  // a link to a link
  check_writable(folder / "two");
  write_file(folder / "two", "new");
  CHECK(fs::is_symlink(folder / "one"));
  CHECK(fs::is_symlink(folder / "two"));
  CHECK(file_bytes(folder / "d/x") == "new");
  fs::create_symlink("missing/x", folder / "three");
  CHECK_THAT(error_message<FileError>([&] { write_file(folder / "three", "new"); }),
             text_contains("missing/x: can't be written: No such file or directory"));
  CHECK_THAT(error_message<FileError>([&] { check_writable(folder / "three"); }),
             text_contains("missing/x: can't be written: No such file or directory"));
}

TEST_CASE("write_file keeps a symbolic link and replaces what it names", "[base][file]") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "d");
  put_file(folder / "d/real", "old");
  std::filesystem::create_symlink("d/real", folder / "link");
  write_file(folder / "link", "new");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(file_bytes(folder / "d/real") == "new");
  CHECK(folder.count() == 2);
}

TEST_CASE("write_file that fails half-way leaves the old file and no other", "[base][file]") {
  const TemporaryFolder folder;
  put_file(folder / "x", "old");
  // A limit on the size of files stands for a full disk.
  const auto old_action = ::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const rlimit limit{8192, old_limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  const std::string message =
      error_message<FileError>([&] { write_file(folder / "x", std::string(100'000, 'n')); });
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  ::signal(SIGXFSZ, old_action);
  CHECK(message ==
        (folder / "x") + ": can't be written: File too large; make room or choose another disk");
  CHECK(file_bytes(folder / "x") == "old");
  CHECK(folder.count() == 1);
}

TEST_CASE("write_file to a full device is an error, and the device is one afterwards",
          "[base][file]") {
  if (!has_full_device()) {
    WARN("skipped: the full disk, for want of /dev/full");
    return;
  }
  CHECK(error_message<FileError>([] { write_file("/dev/full", "x"); }) ==
        "/dev/full: can't be written: No space left on device; make room or choose another disk");
  CHECK(is_device("/dev/full"));
}

TEST_CASE("write_file writes to a pipe in place", "[base][file]") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::string read;
  std::thread reader([&] { read = file_bytes(folder / "pipe"); });
  write_file(folder / "pipe", "through");
  reader.join();
  CHECK(read == "through");
  CHECK(folder.count() == 1);
}

TEST_CASE("check_writable accepts what write_file can write and creates nothing", "[base][file]") {
  const TemporaryFolder folder;
  CHECK_NOTHROW(check_writable(folder / "new file \xC3\xA4.safetensors"));
  CHECK_NOTHROW(check_writable("/dev/null"));
  CHECK(folder.count() == 0);
  put_file(folder / "x.tmp", "left by a run that was killed");
  CHECK_NOTHROW(check_writable(folder / "x"));
  CHECK(folder.count() == 1);
}

TEST_CASE("check_writable refuses a folder in which nothing can be created, by root neither",
          "[base][file]") {
  CHECK_THAT(error_message<FileError>([] { check_writable("/proc/x"); }),
             text_contains("/proc/x: can't be written: "));
}

TEST_CASE("check_writable and write_file refuse the same impossible targets", "[base][file]") {
  const TemporaryFolder folder;
  put_file(folder / "file", "");
  std::filesystem::create_directory(folder / "taken.tmp");
  const auto [name, reason] = GENERATE(table<std::string, std::string>({
      {"/missing/x", "No such file or directory; make its folder first"},
      {"/file/x", "Not a directory"},
      {"", "Is a directory"},
      {"/missing/", "a file's name is missing"},
      {"/taken", "Is a directory"},
      {"/" + std::string(254, 'x'), "File name too long"},  // with .tmp it is
  }));
  const std::string path = folder.path() + name;
  CAPTURE(path);
  const std::string early = error_message<FileError>([&] { check_writable(path); });
  CHECK_THAT(early, text_contains(reason));
  CHECK(early.compare(0, path.size(), path) == 0);
  CHECK(error_message<FileError>([&] { write_file(path, "x"); }) == early);
}

TEST_CASE("check_writable refuses an empty path", "[base][file]") {
  CHECK_THAT(error_message<FileError>([] { check_writable(""); }),
             text_contains("name is missing"));
}

TEST_CASE("check_writable refuses a folder without write permission", "[base][file]") {
  if (::geteuid() == 0) return;  // root may write anywhere
  const TemporaryFolder folder;
  REQUIRE(::chmod(folder.path().c_str(), 0500) == 0);
  CHECK_THAT(error_message<FileError>([&] { check_writable(folder / "x"); }),
             text_contains("Permission denied; choose a folder you may write to"));
}

TEST_CASE("read_file: a device that never ends is refused, an empty one is an empty file",
          "[base][file]") {
  if (!std::filesystem::is_character_file("/dev/zero")) return;
  CHECK_THROWS_WITH(read_file("/dev/zero"), text_contains("it is a device"));
  CHECK(read_file("/dev/null").empty());
}
