#include "cli/view/report.h"

#include <fmt/core.h>

#include <cmath>

#include "base/json.h"
#include "cli/view/chart.h"
#include "cli/view/report_page.h"
#include "cli/view/svg.h"
#include "cli/view/text.h"
#include "inspect/attention_map.h"
#include "inspect/embedding_map.h"
#include "inspect/gradients.h"
#include "inspect/logit_split.h"

namespace glassbox::cli {

namespace {

constexpr std::size_t kNextWords = 10, kLayerWords = 4, kNearWords = 6;

// A list of what `one(i)` gives.
template <class F>
std::string json_list(std::size_t count, F one) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + one(i);
  return text + ']';
}
// Short, for a page of many numbers: what it shows has fewer digits.
std::string brief(double x) { return std::isfinite(x) ? fmt::format("{:.5g}", x) : "null"; }
std::string quoted(std::string_view word) { return json_quote(escape_controls(word)); }

std::string sentence_json(const Model<double>& model, const std::string& text) {
  Inspection inspection(model, text);
  const std::size_t positions = inspection.positions();
  const auto word = [&](TokenId id) { return quoted(model.tokenizer.word(id)); };
  std::vector<std::vector<LayerGuess>> guesses;
  for (std::size_t t = 0; t < positions; ++t) guesses.push_back(guesses_by_layer(inspection, t));
  const auto maps = attention_maps(inspection);

  std::string json = fmt::format("{{\"text\":{}", quoted(text));
  json += ",\"tokens\":" +
          json_list(positions, [&](std::size_t t) { return quoted(inspection.token(t)); });
  json += ",\"losses\":" +
          json_list(positions, [&](std::size_t t) { return brief(inspection.loss_at(t)); });
  json += ",\"next\":" + json_list(positions, [&](std::size_t t) {
            const auto& chances = guesses[t].back().probabilities;
            const auto best = likeliest_tokens(chances, kNextWords);
            return json_list(best.size(), [&](std::size_t i) {
              const LogitSplit split = logit_split(inspection, t, best[i]);
              return fmt::format(
                  R"({{"word":{},"p":{},"logit":{},"sum":{},"parts":{}}})", word(best[i]),
                  brief(chances[best[i]]), brief(split.logit), brief(split.sum),
                  json_list(split.parts.size(),
                            [&](std::size_t p) { return brief(split.parts[p].amount); }));
            });
          });
  json += ",\"layers\":" + json_list(positions, [&](std::size_t t) {
            return json_list(guesses[t].size(), [&](std::size_t l) {
              const auto best = likeliest_tokens(guesses[t][l].probabilities, kLayerWords);
              return json_list(best.size(), [&](std::size_t i) {
                return fmt::format(R"({{"word":{},"p":{}}})", word(best[i]),
                                   brief(guesses[t][l].probabilities[best[i]]));
              });
            });
          });
  json += ",\"maps\":" + json_list(maps.size(), [&](std::size_t m) {
            return fmt::format(R"({{"layer":{},"head":{},"weights":{}}})", maps[m].layer,
                               maps[m].head, json_list(positions, [&](std::size_t q) {
                                 return json_list(q + 1, [&](std::size_t k) {
                                   return brief(maps[m].weights[q][k]);
                                 });
                               }));
          });
  return json + '}';
}

std::string data_json(const ReportInput& input) {
  const Model<double>& model = *input.model;
  Inspection empty(model, "");
  const auto parts = logit_split(empty, 0, 0).parts;
  const auto stages = guesses_by_layer(empty, 0);
  const EmbeddingMap map = embedding_map(model);
  std::string json =
      "{\"parts\":" + json_list(parts.size(), [&](std::size_t i) { return quoted(parts[i].name); });
  json += ",\"stages\":" +
          json_list(stages.size(), [&](std::size_t i) { return quoted(stages[i].after); });
  json += ",\"sentences\":" + json_list(input.sentences.size(), [&](std::size_t i) {
            return sentence_json(model, input.sentences[i]);
          });
  json +=
      ",\"words\":" + json_list(map.words.size(), [&](std::size_t i) {
        const auto near = nearest_words(model, static_cast<TokenId>(i), kNearWords);
        return fmt::format(
            R"({{"word":{},"x":{:.3f},"y":{:.3f},"near":{}}})",
            quoted(model.tokenizer.word(static_cast<TokenId>(i))), map.words[i].x, map.words[i].y,
            json_list(near.size(), [&](std::size_t n) { return fmt::format("{}", near[n].word); }));
      });
  json += '}';
  // Within a script element, "<" could end it.
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;)
    json.replace(at, 1, "\\u003c");
  return json;
}

std::string row(std::string_view name, const std::string& value) {
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
                     escaped(escape_controls(name)), escaped(escape_controls(value)));
}

std::string facts(const ReportInput& input) {
  const GptConfig& c = input.model->config();
  std::string text = "<div class=\"two\"><table>\n";
  text += row("layers", fmt::format("{}", c.n_layer)) + row("width", fmt::format("{}", c.n_embd)) +
          row("heads a layer", fmt::format("{}", c.n_head)) +
          row("block", fmt::format("{} positions", c.block_size)) +
          row("words and ends", fmt::format("{}", c.vocab_size)) +
          row("parameters", fmt::format("{}", c.parameter_count())) +
          row("precision", input.precision) + row("fingerprint", input.fingerprint);
  text += "</table><table>\n";
  const Json training = Json::parse(input.model->training, "training");
  if (training.kind() == Json::Kind::object)
    for (const auto& [key, value] : training.object()) {
      if (value.kind() == Json::Kind::string) text += row(key, value.string());
      if (value.kind() == Json::Kind::integer || value.kind() == Json::Kind::number)
        text += row(key, exact(value.number()));
    }
  return text + "</table></div>\n";
}

// Columns whose names begin with `prefix`, in one chart.
std::string chart_of(const Log& log, const std::string& prefix, const std::string& title,
                     const std::string& unit) {
  Chart chart{title, unit, {}, {}, {}};
  for (const auto& [name, points] : log.columns)
    if ((name == prefix || name.starts_with(prefix + ' ')) && !points.empty())
      chart.series.push_back(
          {name == prefix ? "at each step" : name.substr(prefix.size() + 1), points});
  return chart.series.empty() ? "" : "<div class=\"scroll\">" + chart_svg(chart) + "</div>\n";
}

std::string curves(const ReportInput& input) {
  if (!input.log) return "";
  const Log& log = *input.log;
  const double guess = std::log(static_cast<double>(input.model->config().vocab_size));
  Chart loss{"Loss",
             "nats a token",
             {{"training", log.columns.at("loss")}},
             guess,
             fmt::format("random guess {:.2f}", guess)};
  if (const auto held = log.columns.find("val_loss"); held != log.columns.end())
    loss.series.push_back({"held-out text", held->second});
  std::string text =
      "<h2>How it learned</h2>\n<p>The loss says how surprised the model was by the next word: 0 "
      "is certain, and a guess "
      "among all words costs the dashed line.</p>\n"
      "<div class=\"scroll\">" +
      chart_svg(loss) + "</div>\n" + chart_of(log, "lr", "Learning rate", "") +
      chart_of(log, "grad_norms", "Gradient norms", "") +
      chart_of(log, "update_ratios", "Update ratios", "");
  if (!log.samples.empty()) {
    text += "<h3>What it wrote as it learned</h3>\n<div class=\"scroll\"><table>\n";
    for (const auto& samples : log.samples) {
      std::string cells;
      for (const std::string& sentence : samples.sentences)
        cells += escaped(escape_controls(sentence)) + "<br>";
      text += fmt::format("<tr><th scope=\"row\">step {:g}</th><td>{}</td></tr>\n", samples.step,
                          cells);
    }
    text += "</table></div>\n";
  }
  return text;
}

constexpr std::string_view kSentencePart = R"html(
<h2>Into a sentence</h2>
<p>Choose a sentence, then the position to look from. Arrow keys move within a group.</p>
<div class="row" id="sentences" role="group" aria-label="sentences"></div>
<div class="row" id="tokens" role="group" aria-label="positions of the sentence"></div>
<div class="two">
<section><h3>What it would say next, at <span id="position"></span></h3>
<div id="next" role="group" aria-label="the likeliest next words"></div>
<p id="actual"></p></section>
<section><h3>The logit of <span id="split-word"></span>, taken apart</h3>
<div id="split"></div></section>
</div>
<h3>What it would say after each layer</h3>
<div class="scroll"><table><tbody id="layers"></tbody></table></div>
<h2>Where each head looks</h2>
<p>A row is a position, a column what it looks back at; each row sums to 1.
Point at a cell, or move with the arrow keys.</p>
<div class="maps" id="maps" role="group" aria-label="heads"></div>
<h3 id="map-title"></h3>
<p class="live" id="live" aria-live="polite"></p>
<div class="scroll"><table class="big" id="big" aria-labelledby="map-title"></table></div>
)html";

constexpr std::string_view kWordPart = R"html(
<div class="row controls"><label>Find a word
<input id="find" autocomplete="off" spellcheck="false"></label>
<button type="button" id="in" aria-label="larger">+</button>
<button type="button" id="out" aria-label="smaller">&minus;</button></div>
<p class="live" id="near" aria-live="polite"></p>
<div id="map" tabindex="0" role="region" aria-label="map of the words"></div>
)html";

}  // namespace

std::string report_html(const ReportInput& input) {
  const std::string title = escaped(escape_controls(input.name));
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
      "img-src data:\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{} - "
      "glassbox</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<header><h1>{}</h1>\n{}</header>\n<main>\n",
      title, kReportStyle, title, facts(input));
  page += curves(input);
  if (!input.sentences.empty()) {
    page += kSentencePart;
  }
  page += fmt::format(
      "<h2>The words in the plane</h2>\n<p>Each word where its embedding lies along the two "
      "directions in "
      "which they differ the most; {:.0f}% of all their differences show here.</p>\n",
      100 * embedding_map(*input.model).shown);
  page += kWordPart;
  page += fmt::format(
      "</main>\n<script type=\"application/json\" "
      "id=\"data\">{}</script>\n<script>{}</script>\n</body>\n"
      "</html>\n",
      data_json(input), kReportScript);
  return page;
}

}  // namespace glassbox::cli
