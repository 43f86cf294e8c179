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

// How many bytes of the log tell of the first `step` steps, the header included.
std::size_t size_until(std::string_view log, std::uint64_t step, const std::string& header,
                       const std::string& path) {
  const bool csv = !header.empty();
  const std::string_view before = csv ? "" : "{\"step\":";
  std::size_t kept = 0;
  for (std::size_t end; (end = log.find('\n', kept)) != std::string_view::npos; kept = end + 1) {
    std::string_view line = log.substr(kept, end - kept);
    if (csv && kept == 0 && line == header) continue;
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

TrainLog::TrainLog(const std::string& path, const TrainLogConfig& config)
    : path_(path),
      csv_(path.ends_with(".csv")),
      header_(csv_ ? std::string("step,loss,lr,tokens") + (config.val_loss ? ",val_loss" : "")
                   : ""),
      file_(std::fopen(path.c_str(), config.steps_done ? "ab" : "wb")) {
  if (file_ == nullptr)
    throw FileError(path + ": the log can't be created: " + std::strerror(errno) +
                    "; its folder must exist, and you must be allowed to write there");
  try {
    std::size_t kept = 0;
    if (config.steps_done && std::filesystem::is_regular_file(path)) {
      kept = size_until(read_file(path), *config.steps_done, header_, path);
      std::error_code error;
      std::filesystem::resize_file(path, kept, error);
      if (error) throw FileError(path + ": the log can't be cut: " + error.message());
    }
    if (csv_ && kept == 0) write_line(file_, path_, header_ + '\n');
  } catch (...) {
    std::fclose(file_);
    throw;
  }
}

TrainLog::~TrainLog() { std::fclose(file_); }

void TrainLog::write(const StepStats& stats, std::optional<double> val_loss) {
  const auto cell = [](double value) {
    return std::isfinite(value) ? json_number(value) : std::string("nan");
  };
  if (csv_) {
    std::string line = std::to_string(stats.step) + ',' + cell(stats.loss) + ',' +
                       json_number(stats.learning_rate) + ',' + std::to_string(stats.tokens);
    if (header_.ends_with("val_loss")) line += ',' + (val_loss ? cell(*val_loss) : "");
    write_line(file_, path_, line + '\n');
    return;
  }
  JsonWriter json;
  json.begin_object()
      .member("step", stats.step)
      .member("loss", stats.loss)
      .member("lr", stats.learning_rate)
      .member("tokens", stats.tokens);
  if (val_loss) json.member("val_loss", *val_loss);
  if (!std::isfinite(stats.loss)) json.member("event", "non_finite");
  write_line(file_, path_, json.end_object().take() + '\n');
}

void TrainLog::write_event(std::uint64_t step, const std::string& members) {
  if (!csv_) write_line(file_, path_, "{\"step\":" + std::to_string(step) + ',' + members + "}\n");
}

}  // namespace glassbox
