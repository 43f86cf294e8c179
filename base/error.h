// The errors that glassbox throws for a user's mistakes and for failing systems. Library code never
// prints and never exits; the command line turns each of these into one line and exit status 1.
//
// Every message is one line: where, what was expected, what was found, what to do.
#pragma once

#include <stdexcept>

namespace glassbox {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// A file can't be opened, read, written or renamed: the system's reason is part of the message.
struct FileError : Error {
  using Error::Error;
};
// A file was read but is not what it should be.
struct FormatError : Error {
  using Error::Error;
};
// A setting or a combination of settings is impossible.
struct ConfigError : Error {
  using Error::Error;
};
// A word that the model does not know.
struct VocabularyError : Error {
  using Error::Error;
};
// A number became infinite or NaN where that ends the work.
struct NumericError : Error {
  using Error::Error;
};

}  // namespace glassbox
