#include "model/extend_vocabulary.h"

#include <numeric>
#include <optional>
#include <utility>

namespace glassbox {

template <class T>
Model<T> extend_vocabulary(const Model<T>& model, const std::vector<std::string>& words, bool unk,
                           Random& random) {
  const Tokenizer& before = model.tokenizer;
  const auto old_size = static_cast<TokenId>(before.size());
  std::vector<std::string> all = before.words();
  std::vector<TokenId> from(all.size());  // of each token its id before, or old_size
  std::iota(from.begin(), from.end(), TokenId{0});
  std::optional<TokenId> unk_id = before.unk();
  // A word of that spelling becomes the token: it keeps its id and what it has learnt.
  if (unk && !unk_id && before.find(kUnk) != old_size) unk_id = before.find(kUnk);
  const bool moves = unk_id && *unk_id + 1 == before.bos();
  if (moves) {
    all.pop_back();
    from.pop_back();
  }
  all.insert(all.end(), words.begin(), words.end());
  from.resize(all.size(), old_size);
  if (moves || (unk && !unk_id)) {
    from.push_back(moves ? *unk_id : old_size);
    unk_id = static_cast<TokenId>(all.size());
    all.emplace_back(kUnk);
  }
  from.push_back(before.bos());
  Tokenizer tokenizer =
      Tokenizer::from_words(std::move(all), before.lowercase(), "vocabulary", unk_id,
                            before.kind().name, {}, before.reading().split);

  GptConfig config = model.config();
  config.vocab_size = tokenizer.size();
  config.validate();
  Model<T> grown{std::move(tokenizer), Weights<T>(config), model.training};
  const ParameterLayout& layout = grown.weights.layout();
  for (std::size_t i = 0; i < layout.parameters().size(); ++i) {
    const ParameterSpec& p = layout.parameters()[i];
    const ParameterSpec& old = model.weights.layout().parameters()[i];
    p.for_each_element([&](std::size_t row, std::size_t col, std::size_t at) {
      const std::size_t old_row = p.has_token_rows ? from[row] : row;
      grown.weights.data()[at] = old_row < old.rows
                                     ? model.weights.data()[old.index(old_row, col)]
                                     : static_cast<T>(random.gaussian(p.initial_std));
    });
  }
  return grown;
}

template Model<float> extend_vocabulary(const Model<float>&, const std::vector<std::string>&, bool,
                                        Random&);
template Model<double> extend_vocabulary(const Model<double>&, const std::vector<std::string>&,
                                         bool, Random&);

}  // namespace glassbox
