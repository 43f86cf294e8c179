#include "data/generator/grammar.h"

#include <algorithm>
#include <stdexcept>

namespace glassbox {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kOpen = "([{<", kClose = ")]}>";

// The trimmed parts that are not empty; what is in brackets stays together.
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

template <class T>
const T& pick(const std::vector<T>& from, Random& random) {
  return from[static_cast<std::size_t>(random.uniform() * static_cast<double>(from.size()))];
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
      {"i", "my"},   {"you", "your"}, {"he", "his"},    {"she", "her"},
      {"it", "its"}, {"we", "our"},   {"they", "their"}};
  return table.at(pronoun);
}

// Draws one of `choices`, where writing a choice twice makes it twice as likely.
std::string toss(std::string_view choices, Random& random) {
  return pick(split(choices, ' '), random);
}

}  // namespace

bool Noun::is(std::string_view kind) const { return kind == singular || contains(kinds, kind); }

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
    if (open == nullptr) throw std::invalid_argument("phrases begin with a list's name");
    for (const std::string& text : split(line, ';')) {
      const std::size_t digits = text.find_first_not_of("0123456789");
      open->push_back({text.substr(digits == 0 ? 0 : digits + 1),
                       digits == 0 ? 1 : std::stoi(text.substr(0, digits))});
    }
  }
}

std::string Grammar::sentence(const std::string& start, Random& random) const {
  Frame frame{random, {}, {}, nullptr, nullptr, "they", false};
  list(start, frame);
  if (frame.failed) return "";
  std::string line;
  for (std::size_t i = 0; i < frame.words.size(); ++i) {
    if (i > 0) line += ' ';
    line += frame.words[i];
    const bool before_vowel =
        i + 1 < frame.words.size() &&
        std::string_view("aeiou").find(frame.words[i + 1][0]) != std::string_view::npos;
    if (frame.words[i] == "a" && before_vowel) line += 'n';
  }
  return line;
}

const Grammar::Alternative& Grammar::draw(const std::vector<const Alternative*>& from,
                                          Random& random) const {
  int total = 0;
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
        word = inflected(word, frame.pronoun);
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
        if (at < text.size() && text[at] == '~' && !frame.failed) {
          ++at;
          frame.words[verb] = inflected(frame.words[verb], frame.pronoun);
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
  if (name == "looks" || name == "quality") {
    Words fitting;
    for (const std::string& look : noun->looks) {
      if (look[0] == '-' || (name == "quality" && is_colour(look))) continue;
      fitting.push_back(look.substr(look[0] == '!'));
    }
    frame.failed = fitting.empty();
    if (!frame.failed) frame.words.push_back(pick(fitting, frame.random));
    return;
  }
  const bool agrees = name.back() == '~';
  if (agrees) name.pop_back();
  std::vector<const Alternative*> all;
  const auto add = [&](const std::string& kind) {
    const auto found = lists_.find(name + "." + kind);
    if (found == lists_.end()) return;
    for (const Alternative& a : found->second) all.push_back(&a);
  };
  add(noun->singular);
  for (const std::string& kind : noun->kinds) add(kind);
  frame.failed = all.empty();
  if (frame.failed) return;
  const Alternative& drawn = draw(all, frame.random);
  frame.failed = std::find(frame.said.begin(), frame.said.end(), &drawn) != frame.said.end();
  frame.said.push_back(&drawn);
  std::string text = drawn.text;
  if (agrees)
    text.insert(std::min(text.find(' '), text.size()), "~");  // its first word is the verb
  expand(text, frame);
}

void Grammar::noun_phrase(std::string_view slot, Frame& frame) const {
  const bool as_subject = slot[0] == '!';
  if (as_subject) slot.remove_prefix(1);
  if (pronoun_slot(slot, frame)) return;

  const std::size_t space = slot.find(' ');
  std::string det = space == slot.npos ? "o" : std::string(slot.substr(0, space));
  const Words kinds = split(space == slot.npos ? slot : slot.substr(space + 1), '|');
  Looks looks = Looks::any;
  if (det.size() > 1 && (det.back() == '-' || det.back() == '%')) {
    looks = det.back() == '-' ? Looks::none : Looks::colour;
    det.pop_back();
  }
  std::vector<const Noun*> fitting;
  for (const Noun& noun : nouns_) {
    if (std::any_of(kinds.begin(), kinds.end(), [&](const auto& k) { return noun.is(k); })) {
      fitting.push_back(&noun);
    }
  }
  if (fitting.empty()) throw std::invalid_argument("no noun fits <" + std::string(slot) + ">");
  const Noun& noun = *pick(fitting, frame.random);

  const Number number = determine(det, noun, frame, looks);
  // Nobody has a shoe, or does it to his like: "the dog sees a dog", "the cat and my cat".
  frame.failed = (det == "a" && noun.is("pair")) || &noun == frame.subject ||
                 (as_subject && &noun == frame.object);
  if (frame.failed) return;
  if (!det.empty()) frame.words.push_back(det);
  add_looks(noun, looks, frame);
  frame.words.push_back(number == Number::plural ? noun.plural : noun.singular);

  if (!as_subject) {
    frame.object = &noun;
    return;
  }
  frame.subject = &noun;
  if (number == Number::plural) {
    frame.pronoun = "they";
  } else if (noun.is("he") || noun.is("she")) {
    frame.pronoun = noun.is("he") ? "he" : "she";
  } else {
    frame.pronoun = noun.is("somebody") || noun.is("baby") ? toss("he she", frame.random) : "it";
  }
}

// The slots that need no noun; false if `slot` is none of them.
bool Grammar::pronoun_slot(std::string_view slot, Frame& frame) const {
  static const Noun kSomebody = {"", "", {"somebody", "child"}, {}};
  const std::string& by = frame.pronoun;
  if (slot == "he" || slot == "his") {
    frame.words.push_back(slot == "he" ? by : possessive(by));
  } else if (slot == "whom") {
    const std::string whom = toss("me you him her us them", frame.random);
    const bool we = by == "i" || by == "we";
    frame.failed = (we && (whom == "me" || whom == "us")) || (by == "you" && whom == "you") ||
                   (by == "he" && whom == "him") || (by == "she" && whom == "her") ||
                   (by == "they" && whom == "them");
    frame.words.push_back(whom);
  } else if (slot == "i" || slot == "you" || slot == "we" || slot == "they") {
    frame.subject = &kSomebody;
    frame.pronoun = slot;
  } else if (slot == "pronoun") {
    const std::string before = frame.subject == &kSomebody ? by : "";
    frame.subject = &kSomebody;
    frame.pronoun = toss("i i i i we we we she she she he he he you you they they", frame.random);
    frame.words.push_back(frame.pronoun);
    frame.failed = frame.pronoun == before;  // "he sleeps and he runs"
  } else {
    return false;
  }
  return true;
}

// Turns the determiner of a slot into the word that is said, which may be none, as the noun allows:
// mom, my mom; my sister; the sun; milk, some milk, the milk.
Grammar::Number Grammar::determine(std::string& det, const Noun& noun, const Frame& frame,
                                   Looks& looks) const {
  Random& random = frame.random;
  if (det == "*") det = toss("d d d d d d d d d d d d a a a n n s s", random);
  if (det == "d") det = toss("the the the the the the my my my this that thes thes these", random);
  if (det == "one") det = toss("the the the the the my my this that", random);
  if (det == "o") det = toss("the the the the a a a a my s s n n thes", random);
  if (det == "g") det = toss("s s s a", random);

  const bool they = frame.pronoun == "we" || frame.pronoun == "they";
  if (det == "as") det = they ? "s" : "a";
  bool plural = det == "s" || det == "n" || det == "thes" || det == "these";
  if (det == "own") plural = noun.is("pair") || (they && !noun.is("ours"));
  if (noun.plural.empty()) {
    if (plural && !noun.is("mass")) det = "the";
    plural = false;
  }
  const bool mine = noun.is("mine") || noun.is("kin");
  if (noun.is("name")) {
    det = mine && looks != Looks::none && random.uniform() < 0.4 ? "my" : "";
    looks = Looks::none;
  } else if (noun.is("kin")) {
    if (det != "own" && det != "n") det = "my";
  } else if (noun.is("mass")) {
    if (det == "a" || det == "s") det = "";
    if (det == "n") det = "some";
    if (det == "this" || det == "that" || det == "thes" || det == "these") det = "the";
  } else if (noun.is("only")) {
    det = "the";
  }
  if (det == "thes" || (det == "my" && !mine)) det = "the";
  if (det == "s") det = "";
  if (det == "my") {
    det = toss("my my my my your his her our their", random);
  } else if (det == "own") {
    det = possessive(frame.pronoun);
  }
  if (det == "these") det = toss("these those", random);
  if (det == "n") det = toss("two two two three three four five six many some", random);
  return plural ? Number::plural : Number::singular;
}

// No adjective, one, or a quality before a colour, never two that could clash.
void Grammar::add_looks(const Noun& noun, Looks wanted, Frame& frame) const {
  Words qualities, colours;
  for (const std::string& look : noun.looks) {
    if (look[0] == '!') continue;
    (is_colour(look) ? colours : qualities).push_back(look.substr(look[0] == '-'));
  }
  if (wanted == Looks::colour) {
    frame.failed = colours.empty();
    if (!frame.failed) frame.words.push_back(pick(colours, frame.random));
    return;
  }
  if (wanted == Looks::none || qualities.size() + colours.size() == 0) return;
  const double chance = frame.random.uniform();
  if (chance < 0.04 && !colours.empty() && !qualities.empty()) {
    frame.words.push_back(pick(qualities, frame.random));
    frame.words.push_back(pick(colours, frame.random));
  } else if (chance < 0.3) {
    qualities.insert(qualities.end(), colours.begin(), colours.end());
    frame.words.push_back(pick(qualities, frame.random));
  }
}

}  // namespace glassbox
