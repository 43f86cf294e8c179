// Standard output, for data alone, and standard error, for everything else.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace glassbox::cli {

// Whoever read our output has closed it, as `head` does: no reason to complain or to go on.
struct ClosedPipe {};

// Every descriptor from 0 to 2 is open afterwards, so that no file we open becomes standard output
// by accident, and a closed pipe or a file size limit is an error of a write instead of a signal.
void prepare_streams();

// Data for standard output, byte by byte as it is; on a terminal control characters are shown
// escaped, since there a corpus's words would act. These throw FileError with the system's reason,
// or ClosedPipe.
void print(std::string_view data);
// The same for text that colours itself and has escaped all that is not its own.
void print_styled(std::string_view data);
// All that was printed is out.
void finish_output();

struct InputFile {
  const char* name;  // as the user knows it: "CORPUS"
  std::string path;  // "" if none was given
};
// Throws UsageError if a file that is to be written is one of those that are read, under whatever
// name.
void refuse_overwriting(const char* flag, const std::string& out,
                        const std::vector<InputFile>& inputs);

// A whole line on standard error, flushed; control characters are shown escaped, so it is one line.
void print_status(std::string_view line);
// "glassbox: ..." on standard error.
void complain(std::string_view message);

// That `count` lines of a text, the first of them at `place`, have more than so many tokens, which
// are called `unit`, and lose their ends.
void warn_of_cut_lines(std::size_t count, std::size_t tokens, const std::string& text,
                       const std::string& place, const char* unit);

// Throws UsageError if the name of a file to be written promises another format than these endings,
// ".svg", do. A name without one promises nothing.
void check_ending(const char* flag, const std::string& path,
                  std::initializer_list<const char*> endings);
// Writes the whole file, as write_file does, and says so.
void write_output(const std::string& path, std::string_view contents);

}  // namespace glassbox::cli
