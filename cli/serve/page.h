// The page at /: write a sentence word by word, with the chance of each word and its rivals, where
// each head looks, and what makes a word's logit. It asks nothing of the network but this server.
#pragma once

#include <string_view>

namespace glassbox::cli {

inline constexpr std::string_view kServerPage = R"html(<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>glassbox</title>
<style>
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#59636e;--line:#d5dbe1;--paper:#fff;
--panel:#f6f8fa;--blue:#0b62c4;--rgb:11,98,196;--plus:#0072b2;--minus:#d55e00;--on:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa5b1;--line:#333c46;
--paper:#0f1318;--panel:#171c23;--blue:#58a6ff;--rgb:88,166,255;--plus:#4ba3e3;--minus:#f0803c;
--on:#08101a}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:1100px;margin:0 auto;padding:20px 16px 60px}
h1{font-size:1.5rem;margin:0 0 4px}h2{font-size:1.15rem;margin:28px 0 6px}
p{margin:4px 0 10px;color:var(--soft);max-width:75ch}
button,input,select{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--line);
border-radius:6px;padding:5px 10px}
button{cursor:pointer}button:disabled{opacity:.5;cursor:default}
button[aria-pressed=true]{background:var(--blue);color:var(--on)}
:focus-visible{outline:3px solid var(--blue);outline-offset:2px}
#text{width:100%;font-size:1.15rem;padding:10px 12px}
.row{display:flex;flex-wrap:wrap;gap:8px;margin:10px 0;align-items:center}
.knobs{display:grid;grid-template-columns:repeat(auto-fit,minmax(255px,1fr));gap:6px 24px}
.knobs label{display:grid;grid-template-columns:7em 1fr 3.6em;gap:8px;align-items:center}
.knobs input{padding:0;min-width:0}.knobs output{text-align:right}
output,td,.bar{font-variant-numeric:tabular-nums}
.two{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:8px 36px;align-items:start}
@media(max-width:760px){.two{grid-template-columns:minmax(0,1fr)}}
.bar{display:grid;grid-template-columns:7.5em 1fr 4em 4em;gap:8px;align-items:center;width:100%;
text-align:left;background:none;border:0;padding:3px 4px;border-radius:4px}
.bar:hover{background:var(--panel)}
.bar span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.bar .n{text-align:right}
.bar .n:last-child{color:var(--soft)}
.part{grid-template-columns:12em 1fr 4.6em}
@media(max-width:760px){.bar{grid-template-columns:6em 1fr 3.6em 3.6em}
.part{grid-template-columns:10em 1fr 4.4em}}
.track{position:relative;height:14px;background:var(--panel);border-radius:3px}
.track i{position:absolute;top:0;bottom:0;border-radius:3px;background:var(--plus)}
.track i.model{background:none;border:1px solid var(--soft)}
.track i.minus{background:var(--minus)}
.gone{opacity:.45}
.scroll{overflow-x:auto}table{border-collapse:collapse}
th{font-weight:600;padding:2px 8px;white-space:nowrap}tbody th{text-align:right;position:sticky;
left:0;background:var(--paper)}
td{width:3.2em;min-width:3em;height:2.2em;text-align:center;border:1px solid var(--line);
font-size:.8rem}
#said{color:var(--minus);min-height:1.5em}
</style>
<main>
<h1>glassbox</h1>
<p id="about">Type a beginning, or click a word to go on with it.</p>
<input id="text" autocomplete="off" spellcheck="false" aria-label="the sentence so far">
<div class="row"><button id="write">Write on</button><button id="step">One word</button>
<button id="back">Back</button><button id="clear">Clear</button></div>
<div class="knobs">
<label>temperature<input id="temperature" type="range" min="0" max="2" step="0.05" value="0.8">
<output></output></label>
<label>top-k<input id="top_k" type="range" min="0" max="50" step="1" value="0"><output></output>
</label>
<label>top-p<input id="top_p" type="range" min="0" max="1" step="0.01" value="1"><output></output>
</label>
<label>min-p<input id="min_p" type="range" min="0" max="1" step="0.01" value="0"><output></output>
</label></div>
<div id="said" role="status"></div>
<div class="two">
<section><h2>What comes next</h2>
<p>The filled bar is the chance with your settings, the frame what the model says by itself.</p>
<div id="next"></div></section>
<section><h2 id="logit-title">The logit, taken apart</h2>
<p>The score that decides how likely the word is: what each part of the model adds to it.</p>
<div id="logit"></div></section>
</div>
<h2>Where each head looks</h2>
<p>A row is a position, a column what it looks back at; each row sums to 1.</p>
<div class="row"><label>layer <select id="layer"></select></label>
<label>head <select id="head"></select></label></div>
<div class="scroll"><table id="attention"></table></div>
</main>
<script>
'use strict';
const byId = id => document.getElementById(id);
const knobs = ['temperature', 'top_k', 'top_p', 'min_p'];
let latest = 0, maps = [], tokens = [], word = null, stop = null;
const make = (tag, attributes, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== null) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
const percent = p => p === 0 ? '0%' : p < 0.0001 ? '<0.01%' :
    (100 * p).toFixed(p < 0.1 ? 2 : 1) + '%';
const ask = async (path, body) => {
  const answer = await fetch(path, {method: 'POST', body: JSON.stringify(body)});
  const json = await answer.json();
  if (!answer.ok) throw new Error(json.error.message);
  return json;
};
const settings = () => {
  const all = {};
  for (const knob of knobs) all[knob] = Number(byId(knob).value);
  return all;
};
const said = text => { byId('said').textContent = text; };
let before = '';
const showKnobs = () => {
  for (const knob of knobs) {
    const value = Number(byId(knob).value);
    const off = (knob === 'top_k' && value === 0) || (knob === 'top_p' && value === 1) ||
        (knob === 'min_p' && value === 0);
    byId(knob).nextElementSibling.textContent = off ? 'off' :
        knob === 'temperature' && value === 0 ? 'greedy' : String(value);
  }
};
const showNext = next => {
  byId('next').replaceChildren(...next.next.map(one => {
    const track = make('span', {class: 'track'},
        make('i', {style: 'width:' + 100 * one.drawn + '%'}),
        make('i', {class: 'model', style: 'width:' + 100 * one.model + '%'}));
    const bar = make('button', {class: 'bar' + (one.drawn === 0 ? ' gone' : ''),
        'data-token': one.token, title: 'the model: ' + percent(one.model)},
        make('span', {}, one.end ? '(end)' : one.token), track,
        make('span', {class: 'n'}, percent(one.drawn)),
        make('span', {class: 'n'}, percent(one.model)));
    bar.disabled = one.end || next.room === 0;
    bar.addEventListener('click', () => {
      byId('text').value = one.text;
      refresh(true);
    });
    bar.addEventListener('mouseenter', () => lookAt(one.token));
    bar.addEventListener('focus', () => lookAt(one.token));
    return bar;
  }));
};
const plain = name => name.replace('_', ' ').replace(/^layers\.(\d+)\./, 'layer $1, ')
    .replace('attention head', 'head').replace('mlp', 'MLP');
const showLogit = logit => {
  byId('logit-title').textContent = 'The logit of \u2018' + logit.token + '\u2019, taken apart';
  const most = Math.max(1e-9, ...logit.parts.map(part => Math.abs(part.amount)));
  byId('logit').replaceChildren(...logit.parts.map(part => {
    const share = 50 * Math.abs(part.amount) / most;
    const side = part.amount < 0 ? 'right:50%' : 'left:50%';
    return make('div', {class: 'bar part'}, make('span', {title: part.name}, plain(part.name)),
        make('span', {class: 'track'}, make('i', {class: part.amount < 0 ? 'minus' : null,
          style: side + ';width:' + share + '%'})),
        make('span', {class: 'n'}, (part.amount < 0 ? '\u2212' : '+') +
            Math.abs(part.amount).toFixed(3)));
  }), make('div', {class: 'bar part'}, make('strong', {}, 'sum'), make('span', {}),
      make('strong', {class: 'n'}, logit.value.toFixed(3))));
};
const showAttention = () => {
  const map = maps.find(one => one.layer === Number(byId('layer').value) &&
      one.head === Number(byId('head').value));
  if (!map) return;
  byId('attention').replaceChildren(
      make('thead', {}, make('tr', {}, make('th', {}),
          ...tokens.map(token => make('th', {scope: 'col'}, token)))),
      make('tbody', {}, ...map.weights.map((row, q) => make('tr', {},
          make('th', {scope: 'row'}, tokens[q]), ...tokens.map((_, k) => k > q ? make('td', {}) :
              make('td', {style: 'background:rgba(var(--rgb),' + 0.6 * row[k] + ')'},
                  row[k].toFixed(2)))))));
};
const choose = (id, count) => {
  const select = byId(id);
  if (select.options.length === count) return;
  select.replaceChildren(...Array.from({length: count}, (_, i) => make('option', {}, String(i))));
};
const lookAt = async token => {
  if (token === word) return;
  word = token;
  const mine = latest;
  try {
    const look = await ask('/look', {text: byId('text').value, token});
    if (mine === latest && token === word) showLogit(look.logit);
  } catch (error) { said(error.message); }
};
const refresh = async all => {
  const mine = ++latest;
  showKnobs();
  try {
    const next = await ask('/look/next', {text: byId('text').value, ...settings()});
    if (mine !== latest) return;
    said(next.room === 0 ? 'The block is full: write on and the window slides.' : '');
    before = next.before;
    showNext(next);
    if (!all) return;
    word = next.next[0].token;
    const look = await ask('/look', {text: byId('text').value, token: word});
    if (mine !== latest) return;
    maps = look.attention;
    tokens = look.tokens;
    choose('layer', 1 + Math.max(...maps.map(map => map.layer)));
    choose('head', 1 + Math.max(...maps.map(map => map.head)));
    showAttention();
    showLogit(look.logit);
  } catch (error) {
    if (mine === latest) said(error.message);
  }
};
const write = async count => {
  if (stop) return stop.abort();
  stop = new AbortController();
  byId('write').textContent = 'Stop';
  try {
    const body = {prompt: byId('text').value, stream: true, ...settings()};
    if (count) body.max_tokens = count;
    const answer = await fetch('/v1/completions',
        {method: 'POST', body: JSON.stringify(body), signal: stop.signal});
    if (!answer.ok) throw new Error((await answer.json()).error.message);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = byId('text').value, rest = '';
    for (;;) {
      const {value, done} = await reader.read();
      if (done) break;
      rest += value;
      const events = rest.split('\n\n');
      rest = events.pop();
      for (const event of events) {
        if (event === 'data: [DONE]') continue;
        const choice = JSON.parse(event.slice(6)).choices[0];
        if (choice) text += choice.text;
        byId('text').value = text;
      }
    }
    said('');
  } catch (error) {
    if (error.name !== 'AbortError') said(error.message);
  }
  stop = null;
  byId('write').textContent = 'Write on';
  refresh(true);
};
byId('write').addEventListener('click', () => write(0));
byId('step').addEventListener('click', () => write(1));
byId('clear').addEventListener('click', () => { byId('text').value = ''; refresh(true); });
byId('back').addEventListener('click', () => { byId('text').value = before; refresh(true); });
byId('text').addEventListener('input', () => refresh(true));
byId('text').addEventListener('keydown', event => { if (event.key === 'Enter') write(0); });
for (const knob of knobs) byId(knob).addEventListener('input', () => refresh(false));
for (const id of ['layer', 'head']) byId(id).addEventListener('change', showAttention);
fetch('/v1/models').then(answer => answer.json()).then(models => {
  const model = models.data[0];
  byId('about').textContent = model.id + ': type a beginning, or click a word to go on with it.';
  document.title = model.id + ' - glassbox';
  byId('text').value = decodeURIComponent(location.hash.slice(1));
  refresh(true);
});
</script>
</html>
)html";

}  // namespace glassbox::cli
