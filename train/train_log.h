// The log of a run: one flushed line a logged step, CSV if the file's name ends in ".csv", else
// JSON lines. Columns: step (from 1), loss (nats a token, before the update), lr, tokens; numbers
// in the shortest form that reads back the same.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "train/trainer.h"

namespace glassbox {

struct TrainLogConfig {
  bool val_loss = false;  // a last column of that name: the loss on text that is held out
  // Goes on with the log of a run that is taken up again after so many steps: what is told of later
  // ones is cut off, and so is a last line without an end.
  std::optional<std::uint64_t> steps_done = {};
};

class TrainLog {
 public:
  // Creates or empties the file, unless it is to be gone on with. Throws FileError with the
  // system's reason, FormatError for a file that is no log of that kind and can't be gone on with.
  explicit TrainLog(const std::string& path, const TrainLogConfig& config = {});
  ~TrainLog();
  TrainLog(const TrainLog&) = delete;
  TrainLog& operator=(const TrainLog&) = delete;

  // Throws FileError when the line can't be written whole.
  void write(const StepStats& stats, std::optional<double> val_loss = {});
  // What else a report shows of a step: `members` are those of a JSON object,
  // `"event":"samples",...`. A CSV file has no place for it.
  void write_event(std::uint64_t step, const std::string& members);

 private:
  std::string path_;
  bool csv_;
  std::string header_;  // of CSV
  std::FILE* file_;
};

}  // namespace glassbox
