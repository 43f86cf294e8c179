#include "train/train_log.h"

#include <cmath>

#include "base/error.h"
#include "tests/catch_compat.hpp"
#include "tests/support/error_message.h"
#include "tests/support/full_device.h"
#include "tests/support/temporary_folder.h"

using namespace glassbox;

namespace {

// Numbers whose shortest text is longer and shorter than six digits.
constexpr StepStats kFirst{1, 3.947240926297749, 0.01, 5};
constexpr StepStats kSecond{2, 2.5, 9.998e-3, 11};

}  // namespace

TEST_CASE("TrainLog: a name in .csv gives CSV with one header", "[train][train_log]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.csv";
  TrainLog log(path);
  CHECK(file_bytes(path) == "step,loss,lr,tokens\n");
  log.write(kFirst);
  log.write(kSecond);
  CHECK(file_bytes(path) == "step,loss,lr,tokens\n1,3.947240926297749,0.01,5\n2,2.5,0.009998,11\n");
}

TEST_CASE("TrainLog: any other name gives JSON lines, each on the disk when written",
          "[train][train_log]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.jsonl";
  TrainLog log(path);
  CHECK(file_bytes(path).empty());
  log.write(kFirst);
  CHECK(file_bytes(path) == "{\"step\":1,\"loss\":3.947240926297749,\"lr\":0.01,\"tokens\":5}\n");
}

TEST_CASE("TrainLog: a loss that is not finite keeps its line", "[train][train_log]") {
  const TemporaryFolder folder;
  for (const double loss : {std::nan(""), HUGE_VAL}) {
    TrainLog csv(folder / "run.csv"), json(folder / "run.json");
    csv.write({2, loss, 0.5, 5});
    json.write({2, loss, 0.5, 5});
    CHECK(file_bytes(folder / "run.csv") == "step,loss,lr,tokens\n2,nan,0.5,5\n");
    CHECK(file_bytes(folder / "run.json") ==
          "{\"step\":2,\"loss\":null,\"lr\":0.5,\"tokens\":5,\"event\":\"non_finite\"}\n");
  }
}

TEST_CASE("TrainLog: the loss on held-out text has a column, empty where it was not measured",
          "[train][train_log]") {
  const TemporaryFolder folder;
  TrainLog csv(folder / "run.csv", {.val_loss = true}), json(folder / "run.jsonl");
  csv.write(kFirst);
  csv.write(kSecond, 2.25);
  json.write(kSecond, 2.25);
  CHECK(file_bytes(folder / "run.csv") ==
        "step,loss,lr,tokens,val_loss\n1,3.947240926297749,0.01,5,\n2,2.5,0.009998,11,2.25\n");
  CHECK(file_bytes(folder / "run.jsonl") ==
        "{\"step\":2,\"loss\":2.5,\"lr\":0.009998,\"tokens\":11,\"val_loss\":2.25}\n");
}

TEST_CASE("TrainLog: an earlier log is replaced", "[train][train_log]") {
  const TemporaryFolder folder;
  put_file(folder / "run.csv", "old\nold\nold\nold\nold\nold\nold\n");
  TrainLog log(folder / "run.csv");
  CHECK(file_bytes(folder / "run.csv") == "step,loss,lr,tokens\n");
}

TEST_CASE("TrainLog: a log is gone on with after a step, and what is told of later ones is cut",
          "[train][train_log]") {
  const TemporaryFolder folder;
  const auto resumed = [&](const std::string& path, const std::string& old, std::uint64_t step) {
    put_file(folder / path, old);
    TrainLog log(folder / path, {.steps_done = step});
    const std::string kept = file_bytes(folder / path);
    log.write(kSecond);
    CHECK(file_bytes(folder / path).starts_with(kept));
    CHECK(file_bytes(folder / path).size() > kept.size());
    return kept;
  };
  const std::string header = "step,loss,lr,tokens\n", one = "1,2.5,0.01,5\n";
  CHECK(resumed("a.csv", header + one + "2,2,0.01,9\n3,2,0.01,12\n", 1) == header + one);
  CHECK(resumed("a.csv", header + one + "2,2,0.0", 5) == header + one);
  CHECK(resumed("a.csv", header + one, 0) == header);
  CHECK(resumed("a.csv", "step,lo", 3) == header);
  CHECK(resumed("a.csv", "", 3) == header);
  const std::string first = "{\"step\":1,\"loss\":2.5}\n{\"step\":1,\"event\":\"samples\"}\n";
  CHECK(resumed("a.jsonl", first + "{\"step\":2,\"loss\":null}\n", 1) == first);
  CHECK(resumed("a.jsonl", first + "{\"step\"", 1) == first);
  {
    TrainLog fresh(folder / "fresh.csv", {.steps_done = 7});
    CHECK(file_bytes(folder / "fresh.csv") == header);
  }
  for (const char* other : {"some text\n", "step,loss,lr\n1,2,3\n", "1,2.5,0.01,5\n", "\n"}) {
    put_file(folder / "a.csv", other);
    CHECK_THAT(
        error_message<FormatError>([&] { TrainLog log(folder / "a.csv", {.steps_done = 1}); }),
        text_contains("a.csv: expected the log of the run that is resumed, found the line"));
    CHECK(file_bytes(folder / "a.csv") == other);
  }
}

TEST_CASE("TrainLog: what can't be written is refused with the path and the system's reason",
          "[train][train_log]") {
  const TemporaryFolder folder;
  const std::string missing = folder / "missing/run.csv";
  const std::string message = error_message<FileError>([&] { TrainLog log(missing); });
  CHECK_THAT(message, text_contains(missing));
  CHECK_THAT(message, text_contains("No such file or directory"));
  if (!has_full_device()) {
    WARN("skipped: the full disk, for want of /dev/full");
    return;
  }
  TrainLog full("/dev/full");
  CHECK_THAT(error_message<FileError>([&] { full.write(kFirst); }),
             text_contains("/dev/full: the log can't be written: No space left on device"));
}
