#include "train/train_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

namespace glassbox {

namespace {

void write_line(std::FILE* file, const std::string& path, const std::string& line) {
  if (std::fwrite(line.data(), 1, line.size(), file) != line.size() || std::fflush(file) != 0) {
    throw FileError(path + ": the log can't be written: " + std::strerror(errno));
  }
}

constexpr const char* kHeader = "step,loss,lr,tokens";

// How many bytes of the log tell of the first `step` steps, the header included.
std::size_t size_until(std::string_view log, std::uint64_t step, bool csv,
                       const std::string& path) {
  const std::string_view before = csv ? "" : "{\"step\":";
  std::size_t kept = 0;
  for (std::size_t end; (end = log.find('\n', kept)) != std::string_view::npos; kept = end + 1) {
    std::string_view line = log.substr(kept, end - kept);
    if (csv && kept == 0 && line == kHeader) continue;
    std::uint64_t of_line = 0;
    const bool begins = line.starts_with(before) && !(csv && kept == 0);
    if (begins) line.remove_prefix(before.size());
    const auto number = std::from_chars(line.data(), line.data() + line.size(), of_line);
    if (!begins || number.ec != std::errc() || number.ptr == line.data() + line.size() ||
        *number.ptr != ',')
      throw FormatError(fmt::format(
          "{}: expected the log of the run that is resumed, found the line '{}'; give another file",
          path, log.substr(kept, std::min<std::size_t>(end - kept, 40))));
    if (of_line > step) break;
  }
  return kept;
}

}  // namespace

TrainLog::TrainLog(const std::string& path, const char* mode)
    : path_(path), csv_(path.ends_with(".csv")), file_(std::fopen(path.c_str(), mode)) {
  if (file_ == nullptr)
    throw FileError(path + ": the log can't be created: " + std::strerror(errno));
}

TrainLog::TrainLog(const std::string& path) : TrainLog(path, "wb") { begin(); }

TrainLog::TrainLog(const std::string& path, std::uint64_t step) : TrainLog(path, "ab") {
  namespace fs = std::filesystem;
  if (!fs::is_regular_file(path)) {
    begin();
    return;
  }
  const std::size_t kept = size_until(read_file(path), step, csv_, path);
  std::error_code error;
  fs::resize_file(path, kept, error);
  if (error) throw FileError(path + ": the log can't be cut: " + error.message());
  if (kept == 0) begin();
}

void TrainLog::begin() {
  if (csv_) write_line(file_, path_, std::string(kHeader) + '\n');
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
