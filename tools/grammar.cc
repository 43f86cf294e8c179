#include "tools/grammar.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace glassbox {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kOpen = "([{<", kClose = ")]}>";

// The trimmed parts that are not empty; what stands in brackets stays together.
Words split(std::string_view text, char separator) {
  Words parts;
  std::string part;
  int depth = 0;
  const auto end_part = [&] {
    const auto first = part.find_first_not_of(" \n");
    if (first != part.npos) {
      parts.push_back(part.substr(first, part.find_last_not_of(" \n") + 1 - first));
    }
    part.clear();
  };
  for (const char c : text) {
    depth += kOpen.find(c) != kOpen.npos ? 1 : kClose.find(c) != kClose.npos ? -1 : 0;
    if (c == separator && depth == 0) {
      end_part();
    } else {
      part += c;
    }
  }
  end_part();
  return parts;
}

bool contains(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const std::string& pick(const Words& words, Random& random) {
  return words[static_cast<std::size_t>(random.uniform() * static_cast<double>(words.size()))];
}

bool is_colour(const std::string& word) {
  static const Words colours = {"black", "white", "gray", "brown",  "red",
                                "blue",  "green", "pink", "yellow", "orange"};
  return contains(colours, word);
}

// The finite present form of a verb.
std::string inflected(const std::string& verb, const std::string& pronoun) {
  const bool third = pronoun == "he" || pronoun == "she" || pronoun == "it";
  if (verb == "be") return third ? "is" : pronoun == "i" ? "am" : "are";
  if (!third) return verb;
  if (verb == "have") return "has";
  const char last = verb.back();
  const char before = verb[verb.size() - 2];
  if (last == 'y' && !contains({"a", "e", "o", "u"}, std::string(1, before))) {
    return verb.substr(0, verb.size() - 1) + "ies";
  }
  const bool hisses = last == 's' || last == 'x' || last == 'o' ||
                      (last == 'h' && (before == 's' || before == 'c'));
  return verb + (hisses ? "es" : "s");
}

std::string possessive(const std::string& pronoun) {
  static const std::map<std::string, std::string> table = {
      {"i", "my"},    {"you", "your"}, {"he", "his"},    {"she", "her"},
      {"it", "its"},  {"we", "our"},   {"they", "their"}};
  return table.at(pronoun);
}

// Draws one of `choices`, where writing a choice twice makes it twice as likely.
std::string toss(std::string_view choices, Random& random) {
  return pick(split(choices, ' '), random);
}

}  // namespace

bool Noun::is(std::string_view kind) const {
  return kind == singular || contains(kinds, kind);
}

Grammar::Grammar(std::string_view nouns, std::string_view phrases) {
  for (const std::string& line : split(nouns, '\n')) {
    const Words fields = split(line, ';');
    if (fields.size() < 2) throw std::invalid_argument("a noun needs forms; kinds: " + line);
    const Words forms = split(fields[0], ' ');
    nouns_.push_back({forms[0], forms.size() > 1 ? forms[1] : "", split(fields[1], ' '),
                      fields.size() > 2 ? split(fields[2], ' ') : Words()});
  }
  std::vector<Alternative>* open = nullptr;
  std::size_t at = 0;
  while (at < phrases.size()) {
    const std::size_t end = std::min(phrases.find('\n', at), phrases.size());
    std::string_view line = phrases.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line[0] == '#') continue;
    if (line[0] != ' ') {
      const std::size_t colon = line.find(':');
      if (colon == line.npos) {
        throw std::invalid_argument("a list needs a name and a colon: " + std::string(line));
      }
      open = &lists_[std::string(line.substr(0, colon))];
      line.remove_prefix(colon + 1);
    }
    for (const std::string& text : split(line, ';')) {
      const bool weighted = std::isdigit(static_cast<unsigned char>(text[0])) != 0;
      const std::size_t space = weighted ? text.find(' ') : 0;
      open->push_back({text.substr(weighted ? space + 1 : 0),
                       weighted ? std::stod(text.substr(0, space)) : 1.0});
    }
  }
}

std::string Grammar::sentence(const std::string& start, Random& random) const {
  Frame frame{random, {}, nullptr, nullptr, "they", true, false};
  list(start, frame);
  if (frame.failed) return "";
  std::string line;
  for (std::size_t i = 0; i < frame.words.size(); ++i) {
    const bool before_vowel = i + 1 < frame.words.size() &&
                              std::string_view("aeiou").find(frame.words[i + 1][0]) !=
                                  std::string_view::npos;
    line += (i > 0 ? " " : "") + (frame.words[i] == "a" && before_vowel ? "an" : frame.words[i]);
  }
  return line;
}

const Grammar::Alternative& Grammar::draw(const std::vector<const Alternative*>& from,
                                          Random& random) const {
  double total = 0;
  for (const Alternative* a : from) total += a->weight;
  double left = random.uniform() * total;
  for (const Alternative* a : from) {
    left -= a->weight;
    if (left < 0) return *a;
  }
  return *from.back();
}

// Walks over the slots and words of an alternative, left to right.
void Grammar::expand(std::string_view text, Frame& frame) const {
  std::size_t at = 0;
  while (at < text.size() && !frame.failed) {
    const std::size_t bracket = kOpen.find(text[at]);
    if (text[at] == ' ') {
      ++at;
    } else if (bracket == kOpen.npos) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      std::string word(text.substr(at, end - at));
      at = end;
      if (word[0] == '=') {
        frame.pronoun = word.substr(1);
        continue;
      }
      if (word.back() == '~') {
        word.pop_back();
        if (frame.finite) word = inflected(word, frame.pronoun);
      }
      frame.words.push_back(word);
    } else {
      const char close = kClose[bracket];
      std::size_t end = at;
      for (int depth = 0; end < text.size(); ++end) {
        depth += text[end] == text[at] ? 1 : text[end] == close ? -1 : 0;
        if (depth == 0) break;
      }
      const std::string_view slot = text.substr(at + 1, end - at - 1);
      const char open = text[at];
      at = end + 1;
      if (open == '<') {
        noun_phrase(slot, frame);
      } else if (open == '{') {
        about(slot, frame);
      } else if (open == '[') {
        const std::size_t verb = frame.words.size();
        list(slot, frame);
        if (at < text.size() && text[at] == '~') {
          ++at;
          if (frame.finite) frame.words[verb] = inflected(frame.words[verb], frame.pronoun);
        }
      } else if (frame.random.uniform() < 0.5) {
        expand(slot, frame);
      }
    }
  }
}

void Grammar::list(std::string_view name, Frame& frame) const {
  if (name.find('|') != name.npos) {
    const Words written = split(name, '|');
    return expand(pick(written, frame.random), frame);
  }
  const auto found = lists_.find(name);
  if (found == lists_.end()) {
    throw std::invalid_argument("no list is named " + std::string(name));
  }
  std::vector<const Alternative*> all;
  for (const Alternative& a : found->second) all.push_back(&a);
  expand(draw(all, frame.random).text, frame);
}

void Grammar::about(std::string_view slot, Frame& frame) const {
  const Noun* noun = frame.subject;
  std::string name(slot);
  if (name[0] == '@') {
    noun = frame.object;
    name.erase(0, 1);
  }
  if (noun == nullptr) throw std::invalid_argument("{" + std::string(slot) + "} before its noun");
  if (name == "looks" || name == "quality" || name == "colour") {
    Words fitting;
    for (const std::string& look : noun->looks) {
      if (name == "looks" || is_colour(look) == (name == "colour")) fitting.push_back(look);
    }
    frame.failed = fitting.empty();
    if (!frame.failed) frame.words.push_back(pick(fitting, frame.random));
    return;
  }
  const bool verbal = name == "does" || name == "do";
  std::vector<const Alternative*> all;
  const auto add = [&](const std::string& kind) {
    const auto found = lists_.find((verbal ? "do" : name) + "." + kind);
    if (found == lists_.end()) return;
    for (const Alternative& a : found->second) all.push_back(&a);
  };
  add(noun->singular);
  for (const std::string& kind : noun->kinds) add(kind);
  frame.failed = all.empty();
  if (frame.failed) return;
  std::string text = draw(all, frame.random).text;
  const bool outer = frame.finite;
  if (verbal) {
    frame.finite = name == "does";
    text.insert(std::min(text.find(' '), text.size()), "~");  // its first word is the verb
  }
  expand(text, frame);
  frame.finite = outer;
}

void Grammar::noun_phrase(std::string_view slot, Frame& frame) const {
  Random& random = frame.random;
  const bool as_subject = slot[0] == '!';
  if (as_subject) slot.remove_prefix(1);
  if (slot == "pronoun" || slot == "you" || slot == "we" || slot == "they") {
    static const Noun somebody = {"", "", {"person", "somebody", "child"}, {}};
    frame.subject = &somebody;
    frame.pronoun = slot != "pronoun"
                        ? slot
                        : toss("i i i i we we we she she she he he he you you they they", random);
    if (slot == "pronoun") frame.words.push_back(frame.pronoun);
    return;
  }
  if (slot == "he" || slot == "his") {
    frame.words.push_back(slot == "he" ? frame.pronoun : possessive(frame.pronoun));
    return;
  }
  if (slot == "whom") {
    const std::string whom = toss("me you him her us them", random);
    const std::string& by = frame.pronoun;
    const bool first = by == "i" || by == "we";
    frame.failed = (first && (whom == "me" || whom == "us")) || (by == "you" && whom == "you") ||
                   (by == "he" && whom == "him") || (by == "she" && whom == "her") ||
                   (by == "they" && whom == "them");
    frame.words.push_back(whom);
    return;
  }

  const std::size_t space = slot.find(' ');
  std::string det = space == slot.npos ? "o" : std::string(slot.substr(0, space));
  const Words kinds = split(space == slot.npos ? slot : slot.substr(space + 1), '|');
  bool plain = false, coloured = false;
  if (det.size() > 1 && (det.back() == '-' || det.back() == '%')) {
    (det.back() == '-' ? plain : coloured) = true;
    det.pop_back();
  }
  std::vector<const Noun*> fitting;
  for (const Noun& noun : nouns_) {
    for (const std::string& kind : kinds) {
      if (noun.is(kind)) {
        fitting.push_back(&noun);
        break;
      }
    }
  }
  if (fitting.empty()) throw std::invalid_argument("no noun fits <" + std::string(slot) + ">");
  const Noun& noun =
      *fitting[static_cast<std::size_t>(random.uniform() * static_cast<double>(fitting.size()))];
  if (&noun == frame.subject) {  // nobody does it to his like: "the dog sees a dog"
    frame.failed = true;
    return;
  }

  // A free choice becomes one of the plain determiners.
  if (det == "*") det = toss("d d d d d d d d d d d d a a a n n s s", random);
  if (det == "d") det = toss("the the the the the the my my my this that thes thes these", random);
  if (det == "one") det = toss("the the the the the my my this that", random);
  if (det == "g") det = toss("s s s a", random);
  if (det == "o") det = toss("the the the the a a a a my s s n n thes", random);

  // What the noun allows: mom, my mom; my sister; the sun; milk, some milk, the milk.
  const bool mine = noun.is("mine") || noun.is("kin");
  bool plural = det == "s" || det == "n" || det == "thes" || det == "these";
  if (det == "own" || det == "as") plural = frame.pronoun == "we" || frame.pronoun == "they";
  if (det == "as") det = plural ? "s" : "a";
  if (noun.plural.empty()) {
    if (plural && !noun.is("mass")) det = "the";
    plural = false;
  }
  if (noun.is("name")) {
    det = mine && !plain && random.uniform() < 0.4 ? "my" : "";
    plain = true;
  } else if (noun.is("kin")) {
    if (det != "own" && det != "n") det = "my";
  } else if (noun.is("only")) {
    det = "the";
  } else if (noun.is("mass")) {
    if (det == "a" || det == "s") det = "";
    if (det == "n") det = "some";
    if (det == "this" || det == "that" || det == "thes" || det == "these") det = "the";
  }
  if (det == "my" && !mine) det = "the";

  Words phrase;
  const std::string owner = det == "own" ? possessive(frame.pronoun)
                                         : toss("my my my my your his her our their", random);
  if (det == "my" || det == "own") phrase.push_back(owner);
  if (det == "the" || det == "thes") phrase.push_back("the");
  if (det == "a" || det == "some" || det == "this" || det == "that") phrase.push_back(det);
  if (det == "these") phrase.push_back(toss("these those", random));
  if (det == "n") phrase.push_back(toss("two two two three three four five six many some", random));
  Words qualities, colours;
  for (const std::string& look : noun.looks) (is_colour(look) ? colours : qualities).push_back(look);
  if (coloured) {
    frame.failed = colours.empty();
    if (frame.failed) return;
    phrase.push_back(pick(colours, random));
  } else if (!plain && !noun.looks.empty()) {
    const double chance = random.uniform();
    if (chance < 0.04 && !colours.empty() && !qualities.empty()) {
      phrase.push_back(pick(qualities, random));
      phrase.push_back(pick(colours, random));
    } else if (chance < 0.3) {
      phrase.push_back(pick(noun.looks, random));
    }
  }
  phrase.push_back(plural ? noun.plural : noun.singular);
  frame.words.insert(frame.words.end(), phrase.begin(), phrase.end());

  if (!as_subject) {
    frame.object = &noun;
    return;
  }
  frame.subject = &noun;
  const std::string one = noun.is("he")                          ? "he"
                          : noun.is("she")                       ? "she"
                          : noun.is("person") || noun.is("baby") ? toss("he she", random)
                                                                 : "it";
  frame.pronoun = plural ? "they" : one;
}

}  // namespace glassbox
