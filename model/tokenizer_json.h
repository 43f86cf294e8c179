// Byte-level BPE as Hugging Face's library writes it: `tokenizer.json`. docs/formats.md says what
// of it is read.
#pragma once

#include <string>
#include <string_view>

#include "data/tokenizer.h"

namespace glassbox {

// Ids are those of the file's vocabulary, closed up where a special token is left out; BOS is
// behind them. Throws FileError, or FormatError naming the place for what is no byte-level BPE, or
// one that cuts texts otherwise than ours, or damaged.
Tokenizer read_tokenizer_json(const std::string& path);
Tokenizer parse_tokenizer_json(std::string_view text, const std::string& name);

// The file's contents, BOS as a special token. Throws ConfigError for a tokenizer of another kind
// or one that writes in small letters.
std::string tokenizer_json(const Tokenizer& tokenizer);

}  // namespace glassbox
