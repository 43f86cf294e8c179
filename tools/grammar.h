// A generative grammar with agreement and sense: the engine under make_texts. The words and the
// phrases it works on stand in first_grade.h; nothing here knows a word of content.
//
// A noun knows its forms, its kinds (what it is) and its looks (adjectives that suit it). A phrase
// list has a name and weighted alternatives. An alternative is words and slots:
//   [list]  [a|b]   one alternative of a list; one of the written ones
//   (...)           present every second time
//   {does} {do}     what the subject does, finite or bare: drawn from the lists do.K of all its
//                   kinds K. {where}, {feels}, ... likewise; {@where} asks the object's kinds
//   {looks} {quality} {colour}   one of the subject's looks: any, none of colour, only colour
//   <det K>         a noun phrase whose noun is of kind K (or K|L, a noun is of its own kind too);
//                   it becomes the object. <!det K> becomes the subject
//   <!pronoun> <he> <his> <whom>   a pronoun as the subject; the subject's; its possessive; an
//                   object pronoun for somebody else
//   word~ [a|b]~     a verb that agrees with the subject, unless inside {do}
//   =they =we       the subject is from here on plural
// Determiners: the a my this that own (the subject's) | plural: s (bare) n (counted) thes these | a or
// s, as the subject is: as | a choice: d (definite) one (definite, singular) * (subjects) o (objects, also when none is
// written) g (in general).
// A determiner may end in - (no adjective) or % (an adjective of colour).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace glassbox {

struct Noun {
  std::string singular;
  std::string plural;  // empty: has none
  std::vector<std::string> kinds;
  std::vector<std::string> looks;

  bool is(std::string_view kind) const;
};

class Grammar {
 public:
  // Nouns are lines `singular plural; kinds; looks`; phrases are `name: alternative; ...`, where a
  // line that starts with a space goes on and a number before an alternative is its weight.
  // Throws std::invalid_argument on a line of another form.
  Grammar(std::string_view nouns, std::string_view phrases);

  // A sentence from the list `start`; empty when the draw led to nothing sensible: draw again.
  // Throws std::invalid_argument if a slot names a list or a kind that does not exist.
  std::string sentence(const std::string& start, Random& random) const;

 private:
  struct Alternative {
    std::string text;
    double weight;
  };
  // What has been said so far in a sentence.
  struct Frame {
    Random& random;
    std::vector<std::string> words;
    const Noun* subject = nullptr;
    const Noun* object = nullptr;
    std::string pronoun = "they";  // the subject's: agreement follows it
    bool finite = true;
    bool failed = false;
  };

  const Alternative& draw(const std::vector<const Alternative*>& from, Random& random) const;
  void expand(std::string_view text, Frame& frame) const;
  void list(std::string_view name, Frame& frame) const;
  void about(std::string_view slot, Frame& frame) const;
  void noun_phrase(std::string_view slot, Frame& frame) const;

  std::vector<Noun> nouns_;
  std::map<std::string, std::vector<Alternative>, std::less<>> lists_;
};

}  // namespace glassbox
