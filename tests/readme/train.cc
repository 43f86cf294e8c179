// 2. Train on a text file. One random stream shuffles the lines, then draws the weights, as the
// tutorial does.
#include <fmt/core.h>

#include "train/trainer.h"

int main() {
  glassbox::Random random(42);
  auto corpus = glassbox::Corpus::read("data/first_grade.txt");
  corpus.shuffle(random);
  auto tokenizer = glassbox::Tokenizer::words(corpus);
  glassbox::Gpt<float> model({.vocab_size = tokenizer.size()},
                             random);  // 2 layers, 32 wide, 4 heads, block 16
  glassbox::Trainer trainer(model, tokenizer, corpus, {.steps = 5000});
  trainer.run([](const glassbox::StepStats& s) {
    if (s.step % 500 == 0) fmt::print("{} {:.3f}\n", s.step, s.loss);
  });
  glassbox::save_model("model.safetensors", model, tokenizer);
}
