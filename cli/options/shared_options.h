// Options that several commands have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/options/options.h"

namespace glassbox::cli {

constexpr const char* kModelHelp = "model file, as train writes it";
constexpr const char* kSentenceHelp = "words that the model knows, in one argument";
constexpr const char* kTextHelp = "text file, UTF-8, one sentence a line";
constexpr const char* kCorpusHelp =
    "text files, UTF-8, one sentence a line or as --split says; - is standard input, a folder the "
    "files *.txt in it";
constexpr const char* kSplits = "line|sentence|window";
constexpr const char* kSplitHelp =
    "what is one sequence: a line; a sentence of prose, however its lines are broken; so much "
    "running text as fits the block";
constexpr const char* kEntryHelp =
    "a parameter, a row or an entry: output, output[7], output[cat][3]";

struct SeedOption {
  std::uint32_t seed = 42;

  void visit(OptionTable& table, const char* help) {
    table.integer(seed, "seed", {.value = "S", .range = between(0, 4294967295.0), .help = help});
  }
};

struct ThreadsOption {
  std::optional<std::size_t> threads;  // none: as many as pay

  void visit(OptionTable& table) {
    table.integer(threads, "threads",
                  {.value = "N",
                   .range = between(1, 1024),
                   .help = "threads to compute with; without it, as many as pay. Results "
                           "do not depend on it",
                   .per_run = true});
  }
};

struct TopOption {
  std::size_t top = 10;

  void visit(OptionTable& table, const char* help = "how many to show", const char* not_with = "") {
    table.integer(top, "top",
                  {.value = "N", .range = at_least(1), .help = help, .not_with = not_with});
  }
};

// The operands of most inspections.
struct SentenceOperands {
  std::string model, sentence;

  void visit(OptionTable& table) {
    table.operand(model, "MODEL", kModelHelp);
    table.sentence(sentence, "SENTENCE", kSentenceHelp);
  }
};

}  // namespace glassbox::cli
