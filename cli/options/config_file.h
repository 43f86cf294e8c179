// A file of options, --config: lines `key = value`, or one flat JSON object.
#pragma once

#include <string>
#include <vector>

namespace glassbox::cli {

struct ConfigEntry {
  std::string key;    // as it is written: "n_layer"
  std::string value;  // as it would be typed behind the option; of a flag "true" or "false"
  std::string where;  // "run.cfg: line 3: n_layer"
};

// The entries in the file's order. Of lines: blanks around key and value count for nothing, nor
// does a line that is empty or begins with #; a value may stand in double quotes. Of JSON: strings,
// numbers, true and false. Throws FileError, FormatError; UsageError for a line that is no entry
// and a key that comes twice.
std::vector<ConfigEntry> read_config_file(const std::string& path);

}  // namespace glassbox::cli
