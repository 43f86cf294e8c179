// Whether a text is well-formed XML, as strict readers of SVG ask. Enough of the rules for what
// this project writes: elements, attributes, entities, CDATA, a DOCTYPE; no processing
// instructions.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace glassbox {

// "" for a well-formed text, else what is wrong with it and where.
inline std::string xml_fault(std::string_view text) {
  std::size_t at = 0;
  const auto fault = [&](const char* what) {
    return std::string(what) + " at byte " + std::to_string(at) + ": " +
           std::string(text.substr(at, 40));
  };
  if ((at = find_invalid_utf8(text)) != kValidUtf8) return fault("no UTF-8");
  for (at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t')
      return fault("a control character");
    const std::string_view three = text.substr(at, 3);
    if (three == "\uFFFE" || three == "\uFFFF") return fault("a character that XML forbids");
  }
  const auto name = [&] {
    const std::size_t begin = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) ||
                                std::string_view("-_:").find(text[at]) != std::string_view::npos))
      ++at;
    return std::string(text.substr(begin, at - begin));
  };
  const auto is_entity = [&] {
    const std::string_view rest = text.substr(at);
    for (const std::string_view known : {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"})
      if (rest.starts_with(known)) return true;
    const std::size_t end = rest.find(';');
    return rest.starts_with("&#") && end != std::string_view::npos && end > 2 &&
           rest.substr(2, end - 2).find_first_not_of("0123456789") == std::string_view::npos;
  };
  std::vector<std::string> open;
  bool any = false;
  at = 0;
  if (text.starts_with("<!DOCTYPE html>\n")) at = 16;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("<![CDATA[")) {
      if (open.empty() || rest.find("]]>") == std::string_view::npos) return fault("CDATA");
      at += rest.find("]]>") + 3;
    } else if (rest.starts_with("</")) {
      at += 2;
      if (open.empty() || name() != open.back() || text.substr(at, 1) != ">")
        return fault("a tag that closes nothing");
      open.pop_back();
      ++at;
    } else if (rest.starts_with("<")) {
      if (any && open.empty()) return fault("a second root");
      any = true;
      ++at;
      open.push_back(name());
      if (open.back().empty()) return fault("a '<' that begins no tag");
      std::set<std::string> attributes;
      while (text.substr(at, 1) != ">" && !text.substr(at).starts_with("/>")) {
        if (text.substr(at, 1).find_first_of(" \n") != 0)
          return fault("expected a blank before an attribute");
        while (text.substr(at, 1).find_first_of(" \n") == 0) ++at;
        if (const std::string key = name(); key.empty() || !attributes.insert(key).second)
          return fault("no attribute, or one twice");
        if (text.substr(at, 2) != "=\"") return fault("an attribute without quotes");
        for (at += 2; at < text.size() && text[at] != '"'; ++at)
          if (text[at] == '<' || (text[at] == '&' && !is_entity())) return fault("raw markup");
        if (at++ >= text.size()) return fault("an attribute without end");
      }
      if (text[at] == '/') {
        open.pop_back();
        ++at;
      }
      ++at;
    } else {
      if (rest[0] == '&' && !is_entity()) return fault("a raw ampersand");
      if (open.empty() && rest[0] != '\n') return fault("text outside the root");
      if (rest.starts_with("]]>")) return fault("the end of no CDATA");
      ++at;
    }
  }
  return open.empty() && any ? ""
                             : "the text ends within " + (open.empty() ? "nothing" : open.back());
}

}  // namespace glassbox
