// A training log as data: JSON lines or CSV, as `train --log-file` writes it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/config.h"

namespace glassbox::cli {

struct Log {
  struct Step {
    double step, value;  // a value that was no finite number is NaN or infinite
  };
  std::string path;
  // By column: "loss", "lr", "val_loss", ...; of an inspect event "grad_norms NAME", "update_ratios
  // NAME".
  std::map<std::string, std::vector<Step>> columns;
  struct Samples {
    double step;
    std::vector<std::string> sentences;
  };
  std::vector<Samples> samples;
};

// Throws FileError, or FormatError with path and line.
Log read_log(const std::string& path);

// What shows that the log is of another run than the model, whose provenance `training` is; "" if
// nothing does. A log knows its steps, its learning rates and, by its first loss, roughly the size
// of its vocabulary.
std::string contradiction(const Log& log, const Json& training, const GptConfig& config);

}  // namespace glassbox::cli
