// The parts of the report's page that are the same for every model, and its style.
#pragma once

#include <string_view>

namespace glassbox::cli {

inline constexpr std::string_view kReportStyle = R"css(
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#59636e;--line:#d5dbe1;--paper:#fff;
--panel:#f6f8fa;--blue:#0b62c4;
--blue-rgb:11,98,196;--plus:#0072b2;--minus:#d55e00;--on:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa5b1;--line:#333c46;
--paper:#0f1318;--panel:#171c23;
--blue:#58a6ff;--blue-rgb:88,166,255;--plus:#4ba3e3;--minus:#f0803c;--on:#08101a}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main,header{max-width:1480px;margin:0 auto;padding:0 16px}
header{padding-top:24px}
h1{font-size:1.6rem;margin:0 0 4px;overflow-wrap:anywhere}h2{font-size:1.25rem;margin:40px 0 8px}
h3{font-size:1rem;margin:20px 0 6px}
p{margin:4px 0 12px;color:var(--soft);max-width:80ch}
a{color:var(--blue)}
button,input,select{font:inherit;color:inherit;background:var(--panel);
border:1px solid var(--line);border-radius:6px;padding:4px 10px;max-width:100%}
button{cursor:pointer}
button[aria-pressed=true]{background:var(--blue);color:var(--on);border-color:var(--blue)}
:focus-visible{outline:3px solid var(--blue);outline-offset:2px}
.row{display:flex;flex-wrap:wrap;gap:6px;margin:8px 0}
.mono,td,th,.bar,.live{font-variant-numeric:tabular-nums}
table{border-collapse:collapse}td,th{padding:2px 10px 2px 0;text-align:left;vertical-align:top}
th{font-weight:600}
caption{text-align:left;color:var(--soft);padding:4px 0}
.facts{display:flex;flex-wrap:wrap;gap:8px 64px;align-items:flex-start}
.facts td{overflow-wrap:anywhere}
.scroll{overflow-x:auto;max-width:100%}
.two{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:8px 32px;
align-items:start}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,600px),1fr));
gap:8px 24px}
.charts p{padding-left:12px}
figure{margin:0}figure.narrow{display:none}
.chart{width:100%;height:auto;display:block;margin:8px 0 0}
.guide{stroke:var(--ink);stroke-width:1;opacity:.5}
@media(max-width:620px){figure.wide{display:none}figure.narrow{display:block}}
@media(max-width:760px){.two{grid-template-columns:minmax(0,1fr)}}
.bar{display:grid;grid-template-columns:minmax(5.5em,9em) 1fr 4.6em;gap:8px;align-items:center;
width:100%;text-align:left;
background:none;border:0;padding:2px 4px;border-radius:4px}
.bar.wide{grid-template-columns:minmax(8em,14em) 1fr 5em}
@media(max-width:760px){.bar.wide{grid-template-columns:11em 1fr 4.4em;font-size:.9rem}}
.bar span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.bar.wide span{white-space:normal}
.bar .n{text-align:right}
.track{position:relative;height:14px;background:var(--panel);border-radius:3px}
.track i{position:absolute;top:0;bottom:0;background:var(--plus);border-radius:3px}
.track i.minus{background:var(--minus)}
button.bar[aria-pressed=true]{background:var(--panel);color:inherit;outline:2px solid var(--blue)}
.maps{display:flex;flex-wrap:wrap;gap:10px}
.maps button{padding:6px;display:grid;gap:4px;justify-items:center;align-content:end;
font-size:.8rem}
.mini{display:grid;gap:1px;background:var(--line);padding:1px}
.mini i{width:9px;height:9px;background:var(--paper)}
.big td{width:3.4em;min-width:2.9em;height:2.3em;padding:0;text-align:center;
vertical-align:middle;border:1px solid var(--line);font-size:.8rem;color:var(--ink)}
.big th{padding:2px 8px;font-size:.85rem;text-align:right;white-space:nowrap}
.big thead th{text-align:center;vertical-align:bottom}
.big td.in{outline:2px solid var(--blue)}
.big tbody th{position:sticky;left:0;background:var(--paper)}
#map{position:relative;border:1px solid var(--line);border-radius:6px;overflow:hidden;
height:min(75vh,760px);min-height:300px}
#map canvas{position:absolute;width:100%;height:100%;cursor:grab}
#map canvas:active{cursor:grabbing}
.live{min-height:1.5em;color:var(--ink)}.charts .live{margin:0}
@media print{button,input,select{border-color:#999}
.row button:not([aria-pressed=true]),.controls{display:none}}
)css";

// What a token is called stands as {unit} in both.
inline constexpr std::string_view kSentencePart = R"html(
<h2>Into a sentence</h2>
<p>Choose a sentence, then the position to look from. Arrow keys move within a group.</p>
<div class="row" id="sentences" role="group" aria-label="sentences"></div>
<div class="row" id="tokens" role="group" aria-label="positions of the sentence"></div>
<div class="two">
<section><h3>What it would say next, at <span id="position"></span></h3>
<div id="next" role="group" aria-label="the likeliest next {unit}s"></div><p
id="actual"></p></section>
<section><h3>The logit of <span id="split-word"></span>, taken apart</h3>
<p>A logit is the score that decides how likely a {unit} is. What each part of the model adds to
it:</p>
<div id="split"></div></section>
</div>
<h3>What it would say after each layer</h3>
<div class="scroll"><table><tbody id="layers"></tbody></table></div>
<h2>Where each head looks</h2>
<p>A row is a position, a column what it looks back at; each row sums to 1. Point at a cell, or
move with the arrow keys.</p>
<div class="maps" id="maps" role="group" aria-label="heads"></div>
<h3 id="map-title"></h3>
<p class="live" id="live" aria-live="polite"></p>
<div class="scroll"><table class="big" id="big" aria-labelledby="map-title"></table></div>
)html";

inline constexpr std::string_view kWordPart = R"html(
<p class="controls">Drag to move, turn the wheel or pinch to zoom; with the keyboard the arrows,
+ and &#8722;, and 0 for all of it.</p>
<div class="row controls"><label>Find a {unit} <input id="find" autocomplete="off"
spellcheck="false"/></label>
<button type="button" id="in" aria-label="larger">+</button><button type="button" id="out"
aria-label="smaller">&#8722;</button>
<button type="button" id="whole">all</button></div>
<p class="live" id="near" aria-live="polite"></p>
<div id="map"><canvas id="words" tabindex="0" role="img" aria-label="map of the {unit}s; the field
above finds one and names its neighbours"></canvas></div>
)html";

}  // namespace glassbox::cli
