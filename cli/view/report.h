// The report: one HTML page, complete in itself, about a model. It loads nothing, and every text of
// a corpus reaches it as data, never as markup.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/view/log_file.h"
#include "model/model_file.h"

namespace glassbox::cli {

struct ReportInput {
  std::string name;         // of the model's file
  std::string fingerprint;  // of its bytes
  const Model<double>* model;
  std::string precision;  // of the file
  std::optional<Log> log;
  std::vector<std::string> sentences;
  // Of every token, how often the model expects it: what is labelled first on the map of words.
  std::vector<double> word_shares;
  std::function<void(std::size_t done)> progress = {};  // called before each sentence
};
// Throws VocabularyError or ConfigError for a sentence that the model can't read.
std::string report_html(const ReportInput& input);

}  // namespace glassbox::cli
