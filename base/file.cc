#include "base/file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/quote.h"

namespace glassbox {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

// Whole unless it is longer than any that a system takes.
std::string shown(const std::string& path) { return path.size() > 4096 ? shortened(path) : path; }

[[noreturn]] void refuse_reading(const std::string& path, int error) {
  throw FileError(fmt::format("{}: can't be read: {}; {}", shown(path), reason(error),
                              error == EACCES ? "check its permissions" : "check the path"));
}

[[noreturn]] void refuse_writing(const std::string& path, int error) {
  const char* advice = "choose another path";
  if (error == ENOENT) advice = "make its folder first";
  if (error == EACCES || error == EPERM || error == EROFS)
    advice = "choose a folder you may write to";
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    advice = "make room or choose another disk";
  throw FileError(fmt::format("{}: can't be written: {}; {}", shown(path), reason(error), advice));
}

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }

  // These return 0 or the system's error.
  int write_all(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
  }
  int sync() { return ::fsync(fd_) == 0 ? 0 : errno; }
  // Some systems report a failed write only here.
  int close() { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

 private:
  int fd_;
};

// Where the bytes go. A symbolic link stays: the file that it names is replaced.
struct Target {
  std::string name;  // for messages
  std::string path;
  std::string temporary;  // beside it; empty: written in place
  bool exists = false;
  mode_t mode = 0;  // an existing file's permissions
};

bool is_link(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

// What a link names, from the folder that we are in. REQUIRES: is_link(path).
std::string linked_path(const std::string& path) {
  std::error_code error;
  const auto named = std::filesystem::read_symlink(path, error);
  if (error) refuse_writing(path, error.value());
  return std::filesystem::path(path).parent_path() / named;
}

// Throws FileError for what can be seen to fail before anything is written.
Target find_target(const std::string& path) {
  struct stat status {};
  if (path.empty()) throw FileError("can't be written: a file's name is missing; add one");
  // A link that names nothing yet: the file it names comes to be.
  if (::stat(path.c_str(), &status) != 0 && errno == ENOENT && is_link(path))
    return find_target(linked_path(path));
  Target target{path, path, path + ".tmp"};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) refuse_writing(path, EISDIR);
    target.exists = true;
    target.mode = status.st_mode & 07777;
    if (!S_ISREG(status.st_mode)) {
      target.temporary.clear();
      return target;
    }
    std::error_code error;
    target.path = std::filesystem::canonical(path, error);
    if (error) refuse_writing(path, error.value());
    target.temporary = target.path + ".tmp";
  } else if (errno != ENOENT) {
    refuse_writing(path, errno);
  } else if (path.back() == '/') {
    throw FileError(fmt::format("{}: can't be written: a file's name is missing; add one", path));
  }
  if (::stat(target.temporary.c_str(), &status) != 0) {
    if (errno != ENOENT) refuse_writing(target.temporary, errno);  // a name too long, for one
  } else if (S_ISDIR(status.st_mode)) {
    refuse_writing(target.temporary, EISDIR);
  }
  return target;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

int write_and_close(Descriptor& file, const Target& target, std::string_view contents) {
  if (target.exists && ::fchmod(file.get(), target.mode) != 0) return errno;
  if (const int error = file.write_all(contents)) return error;
  if (const int error = file.sync()) return error;
  return file.close();
}

std::string read_all(int file, const std::string& path, const ReadCheck& check) {
  struct stat status {};
  if (::fstat(file, &status) != 0) refuse_reading(path, errno);
  if (S_ISDIR(status.st_mode)) {
    throw FileError(fmt::format("{}: can't be read: it is a folder; name a file in it", path));
  }
  // A pipe ends; a device such as /dev/zero may never, and /dev/null is a file without bytes.
  char first;
  if (S_ISCHR(status.st_mode) && ::isatty(file) == 0 && ::read(file, &first, 1) > 0)
    throw FileError(fmt::format("{}: can't be read: it is a device; name a file", path));
  constexpr std::size_t kHead = 1 << 16, kBlock = 1 << 22;  // bytes from one check to the next
  std::string bytes(kHead, '\0');
  std::size_t size = 0;
  while (true) {
    if (size == bytes.size()) {
      if (check) check(bytes);
      // One byte beyond the size tells the end without growing. Pipes say 0 and grow by doubling.
      // What is reserved takes no memory until it is filled.
      bytes.reserve(static_cast<std::size_t>(status.st_size) + 1);
      const std::size_t room = bytes.capacity() - size;
      bytes.resize(size + (room > 0 ? std::min(kBlock, room) : kBlock));
    }
    const ssize_t got = ::read(file, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_reading(path, errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  if (check) check(bytes);
  return bytes;
}

}  // namespace

std::string temporary_of(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux follows them
  std::string target = path;
  for (int links = 0; links < kMostLinks && is_link(target); ++links) target = linked_path(target);
  return target + ".tmp";
}

bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code none;
  const auto place = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, none), none);
  };
  return place(a) == place(b) || fs::equivalent(a, b, none);
}

std::string read_file(const std::string& path, const ReadCheck& check) {
  Descriptor file(path, O_RDONLY);
  if (!file.is_open()) refuse_reading(path, errno);
  return read_all(file.get(), path, check);
}

std::string read_standard_input(const ReadCheck& check) {
  return read_all(STDIN_FILENO, "standard input", check);
}

void write_file(const std::string& path, std::string_view contents) {
  const Target target = find_target(path);
  if (target.temporary.empty()) {
    Descriptor device(target.path, O_WRONLY);
    if (!device.is_open()) refuse_writing(target.name, errno);
    if (const int error = device.write_all(contents)) refuse_writing(target.name, error);
    if (const int error = device.close()) refuse_writing(target.name, error);
    return;
  }
  // What has the name already, a killed run's or a link to another file, is not written through.
  ::unlink(target.temporary.c_str());
  Descriptor file(target.temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open()) refuse_writing(target.name, errno);
  int error = write_and_close(file, target, contents);
  if (error == 0 && ::rename(target.temporary.c_str(), target.path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(target.temporary.c_str());
    refuse_writing(target.name, error);
  }
  // So that the new name outlives a power cut. The file is whole under either name, and some file
  // systems know no fsync of a folder, so its failure is no failure of ours.
  Descriptor folder(folder_of(target.path), O_RDONLY | O_DIRECTORY);
  if (folder.is_open()) folder.sync();
}

void check_writable(const std::string& path) {
  const Target target = find_target(path);
  const std::string place = target.temporary.empty() ? target.path : folder_of(target.path);
  const int wanted = target.temporary.empty() ? W_OK : W_OK | X_OK;
  if (::access(place.c_str(), wanted) != 0) refuse_writing(target.name, errno);
  if (target.temporary.empty()) return;
  // What permissions don't tell, such as a folder in which nothing can be created, trying does.
  // What a killed run has left is there to be replaced.
  Descriptor trial(target.temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (trial.is_open()) {
    ::unlink(target.temporary.c_str());
  } else if (errno != EEXIST) {
    refuse_writing(target.name, errno);
  } else if (::access(target.temporary.c_str(), W_OK) != 0) {
    refuse_writing(target.temporary, errno);
  }
}

}  // namespace glassbox
