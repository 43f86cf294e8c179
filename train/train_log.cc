#include "train/train_log.h"

#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/json.h"

namespace glassbox {

namespace {

void write_line(std::FILE* file, const std::string& path, const std::string& line) {
  if (std::fwrite(line.data(), 1, line.size(), file) != line.size() || std::fflush(file) != 0) {
    throw FileError(path + ": the log can't be written: " + std::strerror(errno));
  }
}

}  // namespace

TrainLog::TrainLog(const std::string& path)
    : path_(path), csv_(path.ends_with(".csv")), file_(std::fopen(path.c_str(), "wb")) {
  if (file_ == nullptr) {
    throw FileError(path + ": the log can't be created: " + std::strerror(errno));
  }
  if (!csv_) return;
  try {
    write_line(file_, path_, "step,loss,lr,tokens\n");
  } catch (...) {
    std::fclose(file_);
    throw;
  }
}

TrainLog::~TrainLog() { std::fclose(file_); }

void TrainLog::write(const StepStats& stats) {
  const bool finite = std::isfinite(stats.loss);
  if (csv_) {
    write_line(file_, path_,
               std::to_string(stats.step) + ',' + (finite ? json_number(stats.loss) : "nan") + ',' +
                   json_number(stats.learning_rate) + ',' + std::to_string(stats.tokens) + '\n');
    return;
  }
  JsonWriter json;
  json.begin_object()
      .member("step", stats.step)
      .member("loss", stats.loss)
      .member("lr", stats.learning_rate)
      .member("tokens", stats.tokens);
  if (!finite) json.member("event", "non_finite");
  write_line(file_, path_, json.end_object().take() + '\n');
}

void TrainLog::write_event(std::uint64_t step, const std::string& members) {
  if (!csv_) write_line(file_, path_, "{\"step\":" + std::to_string(step) + ',' + members + "}\n");
}

}  // namespace glassbox
