// Whole files: read at once, written whole or not at all.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace glassbox {

// Called with all that has been read of a file, again and again as it grows, the last time at its
// end; it throws if that cannot be what was asked for, so no more is read.
using ReadCheck = std::function<void(std::string_view so_far)>;

// The file's bytes. Throws FileError with the path and the system's reason; a folder is refused.
std::string read_file(const std::string& path, const ReadCheck& check = {});
std::string read_standard_input(const ReadCheck& check = {});

// Writes `contents` to `path`.tmp beside the target, flushes it to the disk (fsync) and renames it:
// who has the old file open keeps it whole, and a failure leaves the old file as it was and no .tmp
// behind. A symbolic link stays, and the file it names is replaced; a target that is no regular
// file (a device, a pipe) is written in place. Throws FileError with the path and the system's
// reason.
void write_file(const std::string& path, std::string_view contents);

// The file beside its target that write_file(path) writes first.
std::string temporary_of(const std::string& path);

// Whether two paths name one file, by whatever spelling or link; also where it does not exist yet.
bool same_file(const std::string& a, const std::string& b);

// Throws FileError now if write_file(path) would fail for a missing or read-only folder, or because
// the target is a folder. Nothing is there afterwards that was not before.
void check_writable(const std::string& path);

}  // namespace glassbox
