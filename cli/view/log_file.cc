#include "cli/view/log_file.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text_file.h"

namespace glassbox::cli {

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

[[noreturn]] void refuse(const std::string& where, const char* expected) {
  throw FormatError(
      fmt::format("{}: expected {}; give a file that train --log-file wrote", where, expected));
}

bool is_number(const Json* json) {
  return json && (json->kind() == Json::Kind::number || json->kind() == Json::Kind::integer);
}

void add_json(Log& log, const std::string& line, const std::string& where) {
  const Json json = Json::parse(line, where);
  if (json.kind() != Json::Kind::object || !is_number(json.find("step")))
    refuse(where, "an object with a step");
  const double step = json.find("step")->number();
  for (const auto& [key, value] : json.object()) {
    if (key != "step" && is_number(&value)) log.columns[key].push_back({step, value.number()});
    if (value.kind() == Json::Kind::null) log.columns[key].push_back({step, std::nan("")});
    if ((key == "grad_norms" || key == "update_ratios") && value.kind() == Json::Kind::object)
      for (const auto& [name, number] : value.object())
        if (is_number(&number)) log.columns[key + ' ' + name].push_back({step, number.number()});
    if (key == "sentences" && value.kind() == Json::Kind::array) {
      auto& samples = log.samples.emplace_back(Log::Samples{step, {}});
      for (const Json& sentence : value.array())
        if (sentence.kind() == Json::Kind::string) samples.sentences.push_back(sentence.string());
    }
  }
}

void add_cells(Log& log, const std::vector<std::string>& header,
               const std::vector<std::string>& cells, const std::string& where) {
  if (cells.size() != header.size()) refuse(where, "as many cells as the header has");
  std::vector<double> values;
  for (const std::string& cell : cells) {
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    const bool good = error == std::errc() && end == cell.data() + cell.size();
    if (!good && !cell.empty()) refuse(where, "numbers in every cell");
    if (values.empty() && (!good || !std::isfinite(value))) refuse(where, "a number as its step");
    if (good && !values.empty()) log.columns[header[values.size()]].push_back({values[0], value});
    values.push_back(value);
  }
}

}  // namespace

Log read_log(const std::string& path) {
  const std::string text = read_file(path, [&](std::string_view so_far) {
    if (so_far.substr(0, 4096).find('\0') != so_far.npos) refuse(path, "text, found a NUL byte");
  });
  Log log{path, {}, {}};
  std::vector<std::string> header;
  std::size_t number = 0;
  constexpr std::string_view kByteOrderMark = "\uFEFF";  // a spreadsheet puts it there
  std::size_t offset = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  while (offset < text.size()) {
    const std::string line(next_line(text, offset));
    const std::string where = fmt::format("{}: line {}", path, ++number);
    if (line.empty()) continue;
    try {
      if (line[0] == '{') {
        add_json(log, line, where);
      } else if (header.empty()) {
        header = split(line, ',');
        if (header[0] != "step") refuse(where, "a JSON object, or the columns step,loss,lr");
      } else {
        add_cells(log, header, split(line, ','), where);
      }
    } catch (const FormatError&) {
      if (offset <= text.size()) throw;  // the last line, which has no end: its writer was killed
    }
  }
  if (log.columns["loss"].empty()) refuse(path, "at least one line with a loss");
  return log;
}

std::string contradiction(const Log& log, const Json& training, const GptConfig& config) {
  const auto number = [&](const char* key) {
    const Json* const found = training.kind() == Json::Kind::object ? training.find(key) : nullptr;
    return is_number(found) ? found->number() : std::nan("");  // compares with nothing
  };
  const auto& losses = log.columns.at("loss");
  const double last = losses.back().step, steps = number("steps");
  // A log of every Nth step may end before the run does, and a run that is held against another
  // text may keep the model of an earlier step.
  const double gap = losses.size() > 1 ? last - losses[losses.size() - 2].step : last;
  const bool keeps_the_best = log.columns.contains("val_loss");
  if ((last > steps && !keeps_the_best) || steps - last >= std::max(gap, 1.0))
    return fmt::format("its last step is {}, the model was trained for {}", last, steps);
  const auto rates = log.columns.find("lr");
  if (rates != log.columns.end() && !rates->second.empty() && rates->second[0].step == 1 &&
      std::abs(rates->second[0].value - number("learning_rate")) > 0)
    return fmt::format("its first learning rate is {}, the model's {}",
                       json_number(rates->second[0].value), json_number(number("learning_rate")));
  // An untrained model guesses evenly among its tokens, the more nearly so the narrower it is: of
  // 192 runs none was further off than 0.45 and a 60th of the width.
  const double guess = std::log(static_cast<double>(config.vocab_size));
  const double margin = 0.5 + static_cast<double>(config.n_embd) / 32;
  const bool untrained = number("steps") > 0 && training.find("parent") == nullptr;
  if (untrained && losses[0].step == 1 && std::abs(losses[0].value - guess) > margin)
    return fmt::format(
        "its first loss is {:.2f}, an untrained model of {} tokens begins near {:.2f}",
        losses[0].value, config.vocab_size, guess);
  return "";
}

}  // namespace glassbox::cli
