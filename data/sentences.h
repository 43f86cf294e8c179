// Where a sentence of prose ends.
#pragma once

#include <cstddef>
#include <string_view>

namespace glassbox {

// The offset behind the sentence that begins at `begin`. It ends behind a run of . ! ? … and the
// closing quotes and brackets behind that, if a blank follows and then no small letter; behind
// 。！？ at once; or with the text. A single full stop ends none behind a title ("Mr."), an initial
// ("J.") or an abbreviation that is listed in sentences.cc. REQUIRES: valid UTF-8, white space
// folded, begin < text.size().
std::size_t sentence_end(std::string_view text, std::size_t begin);

}  // namespace glassbox
