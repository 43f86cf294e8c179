#include "cli/view/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/json.h"
#include "cli/view/chart.h"
#include "cli/view/report_page.h"
#include "cli/view/report_script.h"
#include "cli/view/text.h"
#include "inspect/attention_map.h"
#include "inspect/embedding_map.h"
#include "inspect/logit_split.h"

namespace glassbox::cli {

namespace {

constexpr std::size_t kNextWords = 10, kLayerWords = 4, kNearWords = 6;
constexpr std::size_t kMapWords = 5000;  // a quarter of a megabyte, and what a phone draws smoothly

// Short, for a page of many numbers: what it shows has fewer digits.
std::string brief(double x) { return std::isfinite(x) ? fmt::format("{:.4g}", x) : "null"; }

void add_sentence(JsonWriter& json, const Model<double>& model, const std::string& text) {
  Inspection inspection(model, text);
  const std::size_t positions = inspection.positions();
  const auto word = [&](TokenId id) { return shown_token(model.tokenizer.word(id)); };
  json.begin_object().member("text", escape_controls(text)).key("tokens").begin_array();
  for (std::size_t t = 0; t < positions; ++t) json.value(shown_token(inspection.token(t)));
  json.end_array().key("losses").begin_array();
  for (std::size_t t = 0; t < positions; ++t) json.raw(brief(inspection.loss_at(t)));
  json.end_array().key("next").begin_array();
  std::vector<std::vector<LayerGuess>> guesses;
  for (std::size_t t = 0; t < positions; ++t) {
    guesses.push_back(guesses_by_layer(inspection, t));
    const auto& chances = guesses[t].back().probabilities;
    json.begin_array();
    for (const TokenId id : likeliest_tokens(chances, kNextWords)) {
      const LogitSplit split = logit_split(inspection, t, id);
      json.begin_object().member("word", word(id)).key("p").raw(brief(chances[id]));
      json.key("logit").raw(brief(split.logit)).key("sum").raw(brief(split.sum));
      json.key("parts").begin_array();
      for (const auto& part : split.parts) json.raw(brief(part.amount));
      json.end_array().end_object();
    }
    json.end_array();
  }
  json.end_array().key("layers").begin_array();
  for (const auto& at_position : guesses) {
    json.begin_array();
    for (const LayerGuess& guess : at_position) {
      json.begin_array();
      for (const TokenId id : likeliest_tokens(guess.probabilities, kLayerWords)) {
        json.begin_object().member("word", word(id));
        json.key("p").raw(brief(guess.probabilities[id])).end_object();
      }
      json.end_array();
    }
    json.end_array();
  }
  json.end_array().key("maps").begin_array();
  for (const AttentionMap& map : attention_maps(inspection)) {
    json.begin_object().member("layer", map.layer).member("head", map.head);
    json.key("weights").begin_array();
    for (const auto& row : map.weights) {
      json.begin_array();
      for (const double weight : row) json.raw(brief(weight));
      json.end_array();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

// "layers.0.attention head 1" as a reader says it: "layer 0, attention head 1".
std::string in_words(std::string name) {
  if (name.starts_with("layers.")) {
    name.erase(5, 1).replace(5, 1, " ");
    if (const std::size_t dot = name.find('.'); dot != std::string::npos)
      name.replace(dot, 1, ", ");
  }
  std::replace(name.begin(), name.end(), '_', ' ');
  if (const std::size_t mlp = name.find("mlp"); mlp != std::string::npos)
    name.replace(mlp, 3, "MLP");
  return name;
}

// The words that the map shows, the most expected first.
std::vector<TokenId> words_of_map(const ReportInput& input) {
  return likeliest_tokens(input.word_shares, kMapWords);
}

void add_words(JsonWriter& json, const ReportInput& input, const EmbeddingMap& map) {
  const std::vector<TokenId> words = words_of_map(input);
  std::map<TokenId, std::size_t> places;
  for (const TokenId id : words) places.emplace(id, places.size());
  double x0 = HUGE_VAL, x1 = -HUGE_VAL, y0 = HUGE_VAL, y1 = -HUGE_VAL;
  for (const TokenId id : words) {
    x0 = std::min(x0, map.words[id].x), x1 = std::max(x1, map.words[id].x);
    y0 = std::min(y0, map.words[id].y), y1 = std::max(y1, map.words[id].y);
  }
  // Both axes in one scale would leave much of a wide page empty; from 0 to 9999, to be short.
  const auto place = [](double x, double low, double high) {
    return high > low ? std::lround(9999 * (x - low) / (high - low)) : 5000l;
  };
  json.key("words").begin_object().key("text").begin_array();
  for (const TokenId id : words) json.value(shown_token(input.model->tokenizer.word(id)));
  json.end_array().key("x").begin_array();
  for (const TokenId id : words) json.value(place(map.words[id].x, x0, x1));
  json.end_array().key("y").begin_array();
  for (const TokenId id : words) json.value(place(map.words[id].y, y0, y1));
  json.end_array().key("near").begin_array();
  const NearestWords nearest(*input.model, words);
  for (const TokenId id : words) {
    json.begin_array();
    for (const auto& near : nearest.of(id, kNearWords)) json.value(places.at(near.word));
    json.end_array();
  }
  json.end_array().end_object();
}

// A word, or a character: what the model's tokens are called.
std::string unit_of(const ReportInput& input) { return input.model->tokenizer.kind().unit; }

std::string data_json(const ReportInput& input, const EmbeddingMap& map) {
  const Model<double>& model = *input.model;
  Inspection empty(model, "");
  JsonWriter json;
  json.begin_object().member("unit", unit_of(input)).key("parts").begin_array();
  for (const auto& part : logit_split(empty, 0, 0).parts) json.value(in_words(part.name));
  json.end_array().key("stages").begin_array();
  for (const auto& guess : guesses_by_layer(empty, 0)) json.value("after " + in_words(guess.after));
  json.end_array().key("sentences").begin_array();
  for (std::size_t i = 0; i < input.sentences.size(); ++i) {
    if (input.progress) input.progress(i);
    add_sentence(json, model, input.sentences[i]);
  }
  json.end_array();
  add_words(json, input, map);
  std::string text = json.end_object().take();
  // Within a script element "<" could end it, and an XML parser minds "&" and "]]>" as well.
  std::string safe;
  for (const char c : text)
    if (c == '<' || c == '>' || c == '&')
      safe += fmt::format("\\u{:04x}", c);
    else
      safe += c;
  return safe;
}

// A part of the page with {unit} filled in.
std::string with_unit(std::string_view part, const std::string& unit) {
  constexpr std::string_view kPlace = "{unit}";
  std::string text(part);
  for (std::size_t at = 0; (at = text.find(kPlace, at)) != text.npos; at += unit.size())
    text.replace(at, kPlace.size(), unit);
  return text;
}

std::string row(std::string_view name, const std::string& value) {
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(name),
                     escaped(value));
}

std::string facts(const ReportInput& input) {
  const GptConfig& c = input.model->config();
  std::string text = "<div class=\"facts\"><table><caption>The model</caption>\n";
  text += row("layers", grouped(c.n_layer)) + row("width", grouped(c.n_embd)) +
          row("heads per layer", grouped(c.n_head)) +
          row("longest sentence", grouped(c.block_size - 1) + ' ' + unit_of(input) + 's') +
          row("vocabulary", grouped(c.vocab_size) + " tokens") +
          row("parameters", grouped(c.parameter_count())) + row("precision", input.precision) +
          row("fingerprint", input.fingerprint);
  text += "</table>\n";
  const Json training = Json::parse(input.model->training, "training");
  if (training.kind() != Json::Kind::object || training.object().empty()) return text + "</div>\n";
  text += "<table><caption>Its training</caption>\n";
  for (const auto& [key, value] : training.object()) {
    std::string name = in_words(key);
    if (name.starts_with("lr ")) name.replace(0, 2, "learning rate");
    if (value.kind() == Json::Kind::string) text += row(name, value.string());
    if (value.kind() == Json::Kind::integer)
      text += row(name, key == "seed" ? exact(value.number()) : grouped(value.integer()));
    if (value.kind() == Json::Kind::number) text += row(name, exact(value.number()));
  }
  return text + "</table></div>\n";
}

// In two sizes, of which a page shows the one that its width has room for.
std::string drawn(const Chart& chart) {
  return "<figure class=\"wide\" tabindex=\"0\">" +
         chart_svg(chart, {.height = 260, .stretches = 180, .tooltips = false}) +
         "</figure><figure class=\"narrow\" tabindex=\"0\">" +
         chart_svg(chart, {.width = 360, .height = 240, .stretches = 90, .tooltips = false}) +
         "</figure>\n";
}

std::string section(const Chart& chart, const char* explanation) {
  if (chart.series.empty()) return "";
  return fmt::format("<section>{}<p>{}</p></section>\n", drawn(chart), explanation);
}

std::string curves(const ReportInput& input) {
  if (!input.log) return "";
  const Log& log = *input.log;
  std::pair<double, double> steps(HUGE_VAL, -HUGE_VAL);
  for (const auto& [name, points] : log.columns)
    for (const auto& point : points)
      if (std::abs(point.step) < 1e100)
        steps = {std::min(steps.first, point.step), std::max(steps.second, point.step)};
  // Columns whose names begin with `prefix`, in one chart; every chart has the same steps.
  const auto chart_of = [&](const std::string& prefix, const char* title, const char* alone) {
    Chart chart{title, "", {}};
    if (steps.first <= steps.second) chart.steps = steps;
    for (const auto& [name, points] : log.columns)
      if ((name == prefix || name.starts_with(prefix + ' ')) && !points.empty())
        chart.series.push_back(
            {name == prefix ? alone : in_words(name.substr(prefix.size() + 1)), points});
    return chart;
  };
  Chart loss = chart_of("loss", "Loss", "training");
  loss.unit = "nats per token";
  loss.line = std::log(static_cast<double>(input.model->config().vocab_size));
  loss.line_name = fmt::format("random guess {:.2f}", *loss.line);
  if (const auto held = log.columns.find("val_loss"); held != log.columns.end())
    loss.series.push_back({"held-out text", held->second});
  std::string text =
      "<h2>How it learned</h2>\n<p>Point at a chart, or choose one with Tab and move with the "
      "arrow "
      "keys: its numbers stand below it.</p>\n<div class=\"charts\">\n" +
      section(
          loss,
          "How surprised the model was by the next token: 0 is certainty, and the dotted line is "
          "what a guess among all tokens costs. The band goes from the least to the greatest "
          "loss of neighbouring steps.") +
      section(
          chart_of("lr", "Learning rate", "at each step"),
          "How far a step may move the weights; training lowers it so that the model settles.") +
      section(
          chart_of("grad_norms", "Gradient norms", "all"),
          "How strongly the loss pulls at each part of the model. They should stay within a few "
          "powers of ten: a jump upward announces a run that breaks, and zeros a part that "
          "learns nothing.") +
      section(
          chart_of("update_ratios", "Update ratios", "all"),
          "How far a step moved each part, compared with the part's size. Around 0.001 is usual; "
          "much more and it forgets what it knew, much less and it hardly learns.") +
      "</div>\n";
  if (!log.samples.empty()) {
    text += "<h3>What it wrote as it learned</h3>\n<div class=\"scroll\"><table>\n";
    for (const auto& samples : log.samples) {
      std::string cells;
      for (const std::string& sentence : samples.sentences)
        cells += (cells.empty() ? "" : "<br/>") + escaped(sentence);
      text += fmt::format(
          "<tr><th scope=\"row\">step {}</th><td>{}</td></tr>\n",
          std::abs(samples.step) < 1e15 ? grouped(static_cast<std::int64_t>(samples.step)) : "?",
          cells);
    }
    text += "</table></div>\n";
  }
  return text;
}

std::string words_part(const ReportInput& input, const EmbeddingMap& map) {
  const std::size_t all = input.model->config().vocab_size, shown = std::min(all, kMapWords);
  const std::string unit = unit_of(input);
  std::string text = fmt::format(
      "<h2>The {0}s in the plane</h2>\n<p>Every dot is a {0}, placed along the two directions in "
      "which the embeddings differ the most; they hold {1:.0f}% of all differences. Where names "
      "would collide, the {0} that the model expects more often keeps its own; zoom in for the "
      "others.{2}</p>\n",
      unit, 100 * map.shown,
      shown < all ? fmt::format(" Shown are the {} {}s that the model expects most often, of {}.",
                                grouped(shown), unit, grouped(all))
                  : "");
  return text += with_unit(kWordPart, unit);
}

}  // namespace

std::string report_html(const ReportInput& input) {
  const std::string title = escaped(input.name);
  const EmbeddingMap map = embedding_map(*input.model);
  // Well-formed as XML too, so that any strict parser can check it.
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta "
      "name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\"/>\n<link rel=\"icon\" "
      "href=\"data:,\"/>\n<title>{0} - glassbox</title>\n<style>{1}</style>\n</head>\n<body>\n"
      "<header><h1>{0}</h1>\n{2}</header>\n<main>\n",
      title, kReportStyle, facts(input));
  page += curves(input);
  if (!input.sentences.empty()) page += with_unit(kSentencePart, unit_of(input));
  page += words_part(input, map);
  page += fmt::format(
      "</main>\n<script type=\"application/json\" id=\"data\">{}</script>\n<script>//<![CDATA[\n{}"
      "//]]></script>\n</body>\n</html>\n",
      data_json(input, map), kReportScript);
  return page;
}

}  // namespace glassbox::cli
