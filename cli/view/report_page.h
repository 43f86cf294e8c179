// The report's style and script. The script builds the page from the data beside it, and sets texts
// as text alone.
#pragma once

#include <string_view>

namespace glassbox::cli {

inline constexpr std::string_view kReportStyle = R"css(
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#59636e;--line:#d5dbe1;--paper:#fff;
--panel:#f6f8fa;--blue:#0b62c4;--blue-rgb:11,98,196;--plus:#0b62c4;--minus:#b4510a;--on:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa5b1;--line:#333c46;
--paper:#0f1318;--panel:#171c23;--blue:#58a6ff;--blue-rgb:88,166,255;--plus:#58a6ff;
--minus:#f0883e;--on:#08101a}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main,header{max-width:1080px;margin:0 auto;padding:0 16px}
header{padding-top:24px}
h1{font-size:1.6rem;margin:0 0 4px}
h2{font-size:1.25rem;margin:40px 0 8px}
h3{font-size:1rem;margin:20px 0 6px}
p{margin:4px 0 12px;color:var(--soft);max-width:70ch}
a{color:var(--blue)}
button,input{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--line);
border-radius:6px;padding:4px 10px}
button{cursor:pointer}
button[aria-pressed=true]{background:var(--blue);color:var(--on);border-color:var(--blue)}
:focus-visible{outline:3px solid var(--blue);outline-offset:2px}
.row{display:flex;flex-wrap:wrap;gap:6px;margin:8px 0}
.mono,td,th,.bar{font-variant-numeric:tabular-nums}
table{border-collapse:collapse}
td,th{padding:2px 10px 2px 0;text-align:left;vertical-align:top}
th{font-weight:600}
td.n{text-align:right}
.scroll{overflow-x:auto;max-width:100%}
.two{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:8px 32px;align-items:start}
@media(max-width:760px){.two{grid-template-columns:minmax(0,1fr)}}
.bar{display:grid;grid-template-columns:minmax(5.5em,9em) 1fr 4.6em;gap:8px;align-items:center;
width:100%;text-align:left;background:none;border:0;padding:2px 4px;border-radius:4px}
.bar.wide{grid-template-columns:minmax(8em,14em) 1fr 5em}
@media(max-width:760px){
.bar.wide{grid-template-columns:12.2em 1fr 4.4em;font-size:.85rem}}
.bar span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.bar .n{text-align:right}
.track{position:relative;height:14px;background:var(--panel);border-radius:3px}
.track i{position:absolute;top:0;bottom:0;background:var(--plus);border-radius:3px}
.track i.minus{background:var(--minus)}
button.bar[aria-pressed=true]{background:var(--panel);color:inherit;outline:2px solid var(--blue)}
.maps{display:flex;flex-wrap:wrap;gap:10px}
.maps button{padding:6px;display:grid;gap:4px;justify-items:center;font-size:.8rem}
.mini{display:grid;gap:1px;background:var(--line);padding:1px}
.mini i{width:9px;height:9px;background:var(--paper)}
.big td{width:3.4em;height:2.3em;padding:0;text-align:center;border:1px solid var(--line);
font-size:.8rem;color:var(--ink)}
.big th{padding:2px 8px;font-size:.85rem;text-align:right;white-space:nowrap}
.big thead th{text-align:center;vertical-align:bottom}
.big td.in{outline:2px solid var(--blue)}
.chart{width:100%;max-width:720px;min-width:540px;height:auto;display:block;margin:8px 0}
#map{border:1px solid var(--line);border-radius:6px;overflow:auto;max-height:640px;
background:var(--paper)}
#map text{font:calc(10px/var(--zoom,1)) system-ui,sans-serif;fill:var(--soft)}
#map text.hit{fill:var(--blue);font-weight:700;font-size:calc(15px/var(--zoom,1))}
#map text.near{fill:var(--ink);font-weight:600;font-size:calc(12px/var(--zoom,1))}
.live{min-height:1.5em;color:var(--ink)}
@media print{button,input{border-color:#999}
.row button:not([aria-pressed=true]),.controls{display:none}
#map{max-height:none;overflow:visible}}
)css";

inline constexpr std::string_view kReportScript = R"js(
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const byId = id => document.getElementById(id);
function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'onclick') e.addEventListener('click', value);
    else if (value !== null) e.setAttribute(key, value);
  }
  for (const child of children) e.append(child);  // strings become text, never markup
  return e;
}
const fixed = (x, n) => x.toFixed(n);
const signed = x => (x >= 0 ? '+' : '\u2212') + fixed(Math.abs(x), 3);
const percent = x => fixed(100 * x, 1) + '%';
const heat = w => 'background:rgba(var(--blue-rgb),' + fixed(0.85 * w, 3) + ')';
const state = {sentence: 0, position: 0, word: 0, map: 0};
const middle = i => Math.floor(data.sentences[i].tokens.length / 2);
const s = () => data.sentences[state.sentence];

// A group of buttons of which one is pressed; arrow keys move within it.
function choices(parent, labels, chosen, choose, build) {
  parent.replaceChildren(...labels.map((label, i) => {
    const b = build ? build(i) : make('button', {type: 'button'}, label);
    b.setAttribute('aria-pressed', i === chosen);
    b.addEventListener('click', () => choose(i));
    b.addEventListener('keydown', event => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (!step) return;
      event.preventDefault();
      const next = (i + step + labels.length) % labels.length;
      choose(next);
      parent.children[next].focus();
    });
    return b;
  }));
}

function drawNext() {
  const next = s().next[state.position];
  choices(byId('next'), next, state.word, i => { state.word = i; drawNext(); drawSplit(); }, i =>
    make('button', {type: 'button', class: 'bar'}, make('span', {}, next[i].word),
      make('span', {class: 'track'}, make('i', {style: 'left:0;width:' + 100 * next[i].p + '%'})),
      make('span', {class: 'n'}, percent(next[i].p))));
  const target = s().tokens[state.position + 1] || '<bos>';
  byId('actual').textContent = 'In the sentence follows ' + target + ': loss ' +
    fixed(s().losses[state.position], 3) +
    ', chance ' + percent(Math.exp(-s().losses[state.position])) + '.';
}

function drawSplit() {
  const entry = s().next[state.position][state.word];
  const largest = Math.max(...entry.parts.map(Math.abs), 1e-9);
  byId('split-word').textContent = entry.word;
  byId('split').replaceChildren(...entry.parts.map((x, i) =>
    make('div', {class: 'bar wide'}, make('span', {}, data.parts[i]),
      make('span', {class: 'track'}, make('i', {class: x < 0 ? 'minus' : 'plus',
        style: (x < 0 ? 'right:50%' : 'left:50%') + ';width:' + 50 * Math.abs(x) / largest + '%'})),
      make('span', {class: 'n'}, signed(x)))),
    make('div', {class: 'bar wide'}, make('b', {}, 'sum'), make('span', {}),
      make('b', {class: 'n'}, signed(entry.sum))),
    make('div', {class: 'bar wide'}, make('b', {}, 'logit'), make('span', {}),
      make('b', {class: 'n'}, signed(entry.logit))));
  byId('layers').replaceChildren(...s().layers[state.position].map((words, i) =>
    make('tr', {}, make('th', {scope: 'row'}, data.stages[i]),
      ...words.map(w => make('td', {}, w.word + ' ' + percent(w.p))))));
}

function drawMaps() {
  const maps = s().maps, tokens = s().tokens;
  choices(byId('maps'), maps, state.map, i => { state.map = i; drawMaps(); }, i => {
    const {layer, head, weights} = maps[i], columns = 'repeat(' + tokens.length + ',9px)';
    const grid = make('span', {class: 'mini', style: 'grid-template-columns:' + columns});
    for (let q = 0; q < tokens.length; ++q)
      for (let k = 0; k < tokens.length; ++k)
        grid.append(make('i', {style: k <= q ? heat(weights[q][k]) : null}));
    return make('button', {type: 'button'}, grid, 'layer ' + layer + ', head ' + head);
  });
  const map = maps[state.map], live = byId('live');
  live.textContent = '';
  byId('map-title').textContent = 'Layer ' + map.layer + ', head ' + map.head;
  const body = tokens.map((token, q) => make('tr', {}, make('th', {scope: 'row'}, token),
    ...tokens.map((other, k) => {
      if (k > q) return make('td', {});
      const weight = map.weights[q][k];
      const style = heat(weight) + (weight > 0.5 ? ';color:var(--on)' : '');
      const cell = make('td', {style, tabindex: k === q ? 0 : -1}, fixed(weight, 2));
      const say = () => {
        live.textContent = token + ' looks back at ' + other + ': ' + fixed(weight, 4);
        byId('big').querySelectorAll('.in').forEach(c => c.classList.remove('in'));
        cell.classList.add('in');
      };
      cell.addEventListener('mouseenter', say);
      cell.addEventListener('focus', say);
      cell.addEventListener('keydown', event => {
        const to = {ArrowLeft: [q, k - 1], ArrowRight: [q, k + 1],
          ArrowUp: [q - 1, k], ArrowDown: [q + 1, k]}[event.key];
        const row = to && byId('big').querySelectorAll('tbody tr')[to[0]];
        const next = row && row.querySelectorAll('td')[to[1]];
        if (next && next.hasAttribute('tabindex')) { event.preventDefault(); next.focus(); }
      });
      return cell;
    })));
  byId('big').replaceChildren(
    make('caption', {}), make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, ''),
      ...tokens.map(t => make('th', {scope: 'col'}, t)))), make('tbody', {}, ...body));
  byId('big').querySelector('caption').remove();
}

function drawTokens() {
  choices(byId('tokens'), s().tokens, state.position, i => {
    state.position = i; state.word = 0; drawTokens(); drawNext(); drawSplit();
  });
  byId('position').textContent = 'position ' + state.position;
}

function drawSentence() {
  choices(byId('sentences'), data.sentences.map(x => x.text || '(empty)'), state.sentence, i => {
    state.sentence = i; state.word = 0; state.position = middle(i); drawSentence();
  });
  drawTokens(); drawNext(); drawSplit(); drawMaps();
}

// The words in the plane.
const ns = 'http://www.w3.org/2000/svg';
let zoom = 1;
function drawWords() {
  const xs = data.words.map(w => w.x), ys = data.words.map(w => w.y);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('viewBox', '0 0 1000 620');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', 'the words of the model in the plane');
  data.words.forEach(word => {
    const t = document.createElementNS(ns, 'text');
    t.setAttribute('x', 30 + 910 * (word.x - x0) / (x1 - x0 || 1));
    t.setAttribute('y', 20 + 580 * (word.y - y0) / (y1 - y0 || 1));
    t.textContent = word.word;
    word.node = t;
    svg.append(t);
  });
  byId('map').replaceChildren(svg);
  scaleWords();
}
// Words keep their size while the distances grow. What was in the middle stays there, or the word
// that was found.
function scaleWords() {
  const box = byId('map'), svg = box.firstElementChild;
  const middle = [(box.scrollLeft + box.clientWidth / 2) / box.scrollWidth,
    (box.scrollTop + box.clientHeight / 2) / box.scrollHeight];
  box.style.setProperty('--zoom', zoom);
  svg.style.width = 100 * zoom + '%';
  svg.style.minWidth = 640 * zoom + 'px';
  const hit = svg.querySelector('.hit');
  const [x, y] = hit ? [hit.getAttribute('x') / 1000, hit.getAttribute('y') / 620] : middle;
  box.scrollLeft = x * box.scrollWidth - box.clientWidth / 2;
  box.scrollTop = y * box.scrollHeight - box.clientHeight / 2;
}
function findWord() {
  const wanted = byId('find').value.trim().toLowerCase();
  data.words.forEach(w => w.node.removeAttribute('class'));
  const hit = data.words.find(w => w.word === wanted || w.word.toLowerCase() === wanted);
  byId('near').textContent = !wanted ? '' : !hit ? 'The model does not know this word.' :
    'Nearest by cosine: ' + hit.near.map(i => data.words[i].word).join(', ');
  if (!hit) return;
  hit.near.forEach(i => data.words[i].node.setAttribute('class', 'near'));
  hit.node.setAttribute('class', 'hit');
  hit.node.parentNode.append(hit.node);  // on top
}
byId('find').addEventListener('input', findWord);
byId('in').addEventListener('click', () => { zoom = Math.min(8, zoom * 1.5); scaleWords(); });
byId('out').addEventListener('click', () => { zoom = Math.max(1, zoom / 1.5); scaleWords(); });
if (data.sentences.length) { state.position = middle(0); drawSentence(); }
drawWords();
)js";

}  // namespace glassbox::cli
