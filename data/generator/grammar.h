// A generative grammar with agreement and sense: the engine under make_texts. It knows the small
// words (determiners, pronouns, be and have) and which words are colours; all else is in
// first_grade.h.
//
// A noun knows its forms, its kinds (what it is) and its looks (adjectives that suit it). A phrase
// list has a name and weighted alternatives. An alternative is words and slots:
//   [list]  [a|b]  one alternative of a list; one of the written ones
//   (...)          there every second time
//   {do}           what the subject does: drawn from the lists do.K of all its kinds K; likewise
//                  {where}, {feels}, ...; {@where} asks the object's kinds. {looks} is one of the
//                  subject's looks, {quality} one that is no colour
//   {do~}          the same, and its first word agrees with the subject
//   word~  [a|b]~  a verb that agrees with the subject
//   <det K>        a noun phrase whose noun is of kind K (K|L: or L; a noun is of its own kind
//   too).
//                  It becomes the object; <!det K> becomes the subject
//   <!pronoun>     a pronoun as the subject; <!i> <!you> <!we> <!they> are subjects left unsaid
//   <he>  <his>    the subject's pronoun, its possessive
//   <whom>         an object pronoun for somebody else
//   =they  =we     from here on verbs agree with this pronoun
// Determiners:
//   the a my this that some, own (the subject's), one (any definite singular)
//   plural: s (bare), n (counted), thes, these; as (a or s, as the subject is)
//   chosen: d (definite), g (in general), * (for subjects), o (for objects, also when none is
//   written) A last - asks for no adjective, a last % for one of colour.
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
  std::vector<std::string> looks;  // !loud: it is loud, no loud drum; -little: the reverse

  bool is(std::string_view kind) const;
};

class Grammar {
 public:
  // Nouns are lines `singular plural; kinds; looks`. Phrases are lines `name: alternative; ...`:
  // one that starts with a space goes on, one with # is a comment, a number before an alternative
  // is its weight. Throws std::invalid_argument on a line of another form.
  Grammar(std::string_view nouns, std::string_view phrases);

  // A sentence from the list `start`; empty when the draw led to nothing sensible: draw again.
  // Throws std::invalid_argument if a slot names a list or a kind that does not exist.
  std::string sentence(const std::string& start, Random& random) const;

 private:
  struct Alternative {
    std::string text;
    int weight;
  };
  enum class Number { singular, plural };
  enum class Looks { none, any, colour };
  // What has been said so far in a sentence.
  struct Frame {
    Random& random;
    std::vector<std::string> words;
    std::vector<const Alternative*> said;  // what {...} drew: nothing is said twice
    const Noun* subject = nullptr;
    const Noun* object = nullptr;
    std::string pronoun = "they";  // the subject's: agreement follows it
    bool failed = false;
  };

  const Alternative& draw(const std::vector<const Alternative*>& from, Random& random) const;
  void expand(std::string_view text, Frame& frame) const;
  void list(std::string_view name, Frame& frame) const;
  void about(std::string_view slot, Frame& frame) const;
  void noun_phrase(std::string_view slot, Frame& frame) const;
  bool pronoun_slot(std::string_view slot, Frame& frame) const;
  Number determine(std::string& det, const Noun& noun, const Frame& frame, Looks& looks) const;
  void add_looks(const Noun& noun, Looks wanted, Frame& frame) const;

  std::vector<Noun> nouns_;
  std::map<std::string, std::vector<Alternative>, std::less<>> lists_;
};

}  // namespace glassbox
