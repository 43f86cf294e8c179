// The log of a run: one flushed line a logged step, CSV if the file's name ends in ".csv", else
// JSON lines. Columns: step (from 1), loss (nats a token, before the update), lr, tokens; numbers
// in the shortest form that reads back the same.
#pragma once

#include <cstdio>
#include <string>

#include "train/trainer.h"

namespace glassbox {

class TrainLog {
 public:
  // Creates or empties the file. Throws FileError with the system's reason.
  explicit TrainLog(const std::string& path);
  // Goes on with the log of a run that is taken up again after `step` steps: what is told of later
  // ones is cut off, and so is a last line without an end. A file that is not there is created.
  // Throws FileError, and FormatError for a file that is no log of that kind.
  TrainLog(const std::string& path, std::uint64_t step);
  ~TrainLog();
  TrainLog(const TrainLog&) = delete;
  TrainLog& operator=(const TrainLog&) = delete;

  // Throws FileError when the line can't be written whole.
  void write(const StepStats& stats);
  // What else a report shows of a step: `members` are those of a JSON object,
  // `"event":"samples",...`. A CSV file has no place for it.
  void write_event(std::uint64_t step, const std::string& members);

 private:
  TrainLog(const std::string& path, const char* mode);
  void begin();

  std::string path_;
  bool csv_;
  std::FILE* file_;
};

}  // namespace glassbox
