// 3. Generate. A fresh cache is a fresh sentence.
#include "infer/generate.h"

#include <fmt/core.h>

int main() {
  auto model = glassbox::load_model("model.safetensors");
  glassbox::Random random(7);
  glassbox::KvCache cache(model.config());  // empty: cache.size() == 0
  auto logits =
      model.step(model.tokenizer().bos(), cache);  // cache.size() == 1, logits over the vocabulary
  std::string sentence = glassbox::generate(model, {.temperature = 0.8, .top_p = 0.9}, random);
  fmt::print("{} logits, {} token in the cache\n{}\n", logits.size(), cache.size(), sentence);
}
