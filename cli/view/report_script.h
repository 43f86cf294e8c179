// The report's script: it builds the page from the data beside it, and sets texts as text alone.
#pragma once

#include <string_view>

namespace glassbox::cli {

inline constexpr std::string_view kReportScript = R"js(
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const byId = id => document.getElementById(id);
function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {}))
    if (value !== null) e.setAttribute(key, value);
  for (const child of children) e.append(child);  // strings become text, never markup
  return e;
}
const fixed = (x, n) => x.toFixed(n);
const signed = x => (x >= 0 ? '+' : '\u2212') + fixed(Math.abs(x), 3);
const percent = x => fixed(100 * x, 1) + '%';
const quoted = word => "'" + word + "'";
// The strongest shade still lets digits in the colour of text be read, in the light and in the
// dark.
const heat = w => 'background:rgba(var(--blue-rgb),' + fixed(0.6 * w, 3) + ')';
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

// Charts. Their curves are read back from the picture, so the page holds no number twice.
const ns = 'http://www.w3.org/2000/svg';
const charts = [...document.querySelectorAll('figure')].map(figure => {
  const svg = figure.querySelector('svg');
  const [left, right, top, bottom, x0, x1, y0, y1] = svg.dataset.frame.split(' ').map(Number);
  const curves = [...svg.querySelectorAll('path[data-name]')].map(path =>
      ({name: path.dataset.name,
    points: (path.getAttribute('d').match(/[\d.]+ [\d.]+/g) || []).map(p =>
        p.split(' ').map(Number))}))
    .filter(c => c.points.length);
  const guide = document.createElementNS(ns, 'path');
  guide.setAttribute('class', 'guide');
  svg.append(guide);
  const live = make('p', {class: 'live', 'aria-live': 'polite'});
  figure.append(live);
  figure.setAttribute('aria-label', svg.getAttribute('aria-label') +
      ': arrow keys read its numbers');
  return {figure, svg, left, right, top, bottom, x0, x1, y0, y1, curves, guide, live, at: 0};
});
function nearest(points, x) {
  return points.reduce((best, p) => Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best);
}
const readable = v => v === 0 ? '0' : Math.abs(v) >= 0.01 && Math.abs(v) < 1e5 ?
    String(Number(v.toPrecision(3))) : v.toExponential(1);
function readChart(chart, x) {
  if (!chart.curves.length) return;
  const main = chart.curves.reduce((a, b) => b.points.length > a.points.length ? b : a).points;
  const point = nearest(main, x);
  chart.at = main.indexOf(point);
  const step = Math.round(chart.x0 +
      (chart.x1 - chart.x0) * (point[0] - chart.left) / (chart.right - chart.left));
  const value = y => chart.y0 +
      (chart.y1 - chart.y0) * (chart.bottom - y) / (chart.bottom - chart.top);
  chart.live.textContent = 'step ' + step.toLocaleString('en') + ': ' +
    chart.curves.map(c => c.name + ' ' + readable(value(nearest(c.points,
        point[0])[1]))).join(', ');
  for (const other of charts) {
    const at = other.left +
        (point[0] - chart.left) / (chart.right - chart.left) * (other.right - other.left);
    other.guide.setAttribute('d', 'M' + at + ' ' + other.top + 'V' + other.bottom);
  }
}
for (const chart of charts) {
  chart.svg.addEventListener('pointermove', event => {
    const box = chart.svg.getBoundingClientRect();
    readChart(chart, (event.clientX - box.left) / box.width * chart.svg.viewBox.baseVal.width);
  });
  chart.figure.addEventListener('keydown', event => {
    if (!chart.curves.length) return;
    const points = chart.curves.reduce((a, b) => b.points.length > a.points.length ? b :
        a).points;
    const to = {ArrowLeft: chart.at - 1, ArrowRight: chart.at + 1, Home: 0,
        End: points.length - 1,
      PageUp: chart.at - 10, PageDown: chart.at + 10}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    readChart(chart, points[clamp(to, 0, points.length - 1)][0]);
  });
}

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
  const target = s().tokens[state.position + 1] || s().tokens[0];
  byId('actual').textContent = 'In the sentence comes ' + quoted(target) + ': loss ' +
    fixed(s().losses[state.position], 3) +
    ', chance ' + percent(Math.exp(-s().losses[state.position])) + '.';
}

function drawSplit() {
  const entry = s().next[state.position][state.word];
  const largest = Math.max(...entry.parts.map(Math.abs), 1e-9);
  byId('split-word').textContent = quoted(entry.word);
  byId('split').replaceChildren(...entry.parts.map((x, i) =>
    make('div', {class: 'bar wide'}, make('span', {}, data.parts[i]),
      make('span', {class: 'track'}, make('i', {class: x < 0 ? 'minus' : 'plus',
        style: (x < 0 ? 'right:50%' : 'left:50%') + ';width:' + 50 * Math.abs(x) / largest +
            '%'})),
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
      const cell = make('td', {style: heat(weight), tabindex: k === q ? 0 : -1}, fixed(weight, 2));
      const say = () => {
        live.textContent = quoted(token) + ' looks back at ' + quoted(other) + ': ' +
            fixed(weight, 4);
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

function chooseSentence(i) {
  state.sentence = i; state.word = 0; state.position = middle(i); drawSentence();
}
// A few sentences are buttons, many a list.
function drawSentence() {
  const texts = data.sentences.map(x => x.text || '(empty)'), parent = byId('sentences');
  if (texts.length <= 8) {
    choices(parent, texts, state.sentence, chooseSentence);
  } else if (!parent.firstChild) {
    const list = make('select', {'aria-label': 'sentence'}, ...texts.map((t, i) => make('option',
        {value: i}, t)));
    list.addEventListener('change', () => chooseSentence(Number(list.value)));
    parent.append(make('label', {}, texts.length.toLocaleString('en') + ' sentences: ', list));
  }
  drawTokens(); drawNext(); drawSplit(); drawMaps();
}

// The map of the words. The view is a zoom and the point of the map in the middle of the picture.
const words = data.words, canvas = byId('words'), pen = canvas.getContext('2d');
const whole = {zoom: 1, x: 5000, y: 5000};
let view = {...whole}, found = -1, pointed = -1, frame = 0;
const widths = [];
function size() { return [canvas.clientWidth, canvas.clientHeight]; }
function onScreen(i, v) {
  const [w, h] = size(), scale = v.zoom / 10000;
  return [w / 2 + (words.x[i] - v.x) * scale * (w - 90) - 20, h / 2 +
      (words.y[i] - v.y) * scale * (h - 40)];
}
function redraw() { if (!frame) frame = requestAnimationFrame(() => { frame = 0; drawWords(); });
    }
function drawWords() {
  const [w, h] = size(), dots = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(w * dots) || canvas.height !== Math.round(h * dots)) {
    canvas.width = Math.round(w * dots);
    canvas.height = Math.round(h * dots);
  }
  const style = getComputedStyle(document.documentElement), color = name =>
      style.getPropertyValue(name).trim();
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  pen.clearRect(0, 0, w, h);
  pen.font = '12px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  pen.lineJoin = 'round';
  pen.lineWidth = 3;
  const near = found < 0 ? [] : words.near[found];
  // What is taken is noted in cells of 6 pixels: a name whose cells are free may stand there.
  const cell = 6, columns = Math.ceil(w / cell),
      taken = new Uint8Array(columns * Math.ceil(h / cell));
  pen.fillStyle = color('--soft');
  pen.globalAlpha = 0.55;
  for (let i = 0; i < words.text.length; ++i) {
    const [x, y] = onScreen(i, view);
    if (x > -2 && y > -2 && x < w && y < h) pen.fillRect(x - 1, y - 1, 2, 2);
  }
  pen.globalAlpha = 1;
  let shown = 0;
  const name = (i, wanted) => {
    const [x, y] = onScreen(i, view);
    if (x < -100 || y < 0 || x > w || y > h) return;
    if (widths[i] === undefined) widths[i] = pen.measureText(words.text[i]).width;
    const left = x + 5 + widths[i] < w ? x + 5 : x - 5 - widths[i];
    if (left < 0 && !wanted) return;
    const from = Math.max(0, Math.floor(left / cell)), to = Math.min(columns - 1,
        Math.floor((left + widths[i]) / cell));
    const top = Math.max(0, Math.floor((y - 7) / cell)),
        bottom = Math.min(Math.ceil(h / cell) - 1, Math.floor((y + 7) / cell));
    if (!wanted)
      for (let r = top; r <= bottom; ++r)
        for (let c = from; c <= to; ++c) if (taken[r * columns + c]) return;
    for (let r = top; r <= bottom; ++r) taken.fill(1, r * columns + from, r * columns + to + 1);
    pen.strokeStyle = color('--paper');
    pen.strokeText(words.text[i], left, y);
    pen.fillStyle = i === found ? color('--blue') : color('--ink');
    pen.fillText(words.text[i], left, y);
    if (wanted) pen.fillRect(x - 3, y - 3, 6, 6);
    ++shown;
  };
  if (found >= 0) name(found, true);
  if (pointed >= 0 && pointed !== found) name(pointed, true);
  near.forEach(i => name(i, true));
  for (let i = 0; i < words.text.length; ++i) if (i !== found && i !== pointed &&
      !near.includes(i)) name(i, false);
  canvas.dataset.names = shown;
  canvas.dataset.zoom = fixed(view.zoom, 2);
}
function held(v) {
  return {zoom: clamp(v.zoom, 1, 400), x: clamp(v.x, 0, 10000), y: clamp(v.y, 0, 10000)};
}
let moving = 0;
function show(v) { moving = 0; view = v.zoom <= 1 ? {...whole} : held(v);
    canvas.style.touchAction = view.zoom > 1 ? 'none' : 'pan-y'; redraw(); }
// Glides there, except for readers who asked for less motion.
function glide(target) {
  target = target.zoom <= 1 ? {...whole} : held(target);
  const from = {...view}, begin = performance.now(), me = {};
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) { show(target); return; }
  moving = me;
  const step = now => {
    if (moving !== me) return;
    const t = clamp((now - begin) / 300, 0, 1), part = t * t * (3 - 2 * t);
    const zoom = from.zoom * Math.pow(target.zoom / from.zoom, part);
    // The distances on the screen shrink evenly, so the way bends with the zoom.
    const way = Math.abs(target.zoom - from.zoom) < 1e-9 ? part :
        (1 / from.zoom - 1 / zoom) / (1 / from.zoom - 1 / target.zoom);
    view = {zoom, x: from.x + (target.x - from.x) * way, y: from.y + (target.y - from.y) * way};
    drawWords();
    if (t < 1) requestAnimationFrame(step); else show(target);
  };
  requestAnimationFrame(step);
}
// The map's point under a place of the picture stays there.
function zoomed(factor, px, py) {
  const [w, h] = size(), zoom = clamp(view.zoom * factor, 1, 400);
  const dx = (px + 20 - w / 2) * 10000 / (w - 90), dy = (py - h / 2) * 10000 / (h - 40);
  return {zoom, x: view.x + dx / view.zoom - dx / zoom, y: view.y + dy / view.zoom - dy / zoom};
}
function moved(dx, dy) {
  const [w, h] = size();
  return {zoom: view.zoom, x: view.x - dx * 10000 / (w - 90) / view.zoom,
      y: view.y - dy * 10000 / (h - 40) / view.zoom};
}
function wordAt(px, py) {
  let best = -1, least = 144;
  for (let i = 0; i < words.text.length; ++i) {
    const [x, y] = onScreen(i, view), d = (x - px) ** 2 + (y - py) ** 2;
    if (d < least) { least = d; best = i; }
  }
  return best;
}
function choose(i, wanted) {
  found = i;
  canvas.dataset.found = i < 0 ? '' : words.text[i];
  byId('near').textContent = i >= 0 ? quoted(words.text[i]) + ', nearest by cosine: ' +
      words.near[i].map(j => quoted(words.text[j])).join(', ')
    : wanted ? 'The map has no ' + data.unit + ' ' + quoted(wanted) + '.' : '';
  redraw();
}
function findWord() {
  const wanted = byId('find').value.trim(), lower = wanted.toLowerCase();
  if (!wanted) { choose(-1, ''); return; }
  let i = words.text.indexOf(wanted);
  if (i < 0) i = words.text.findIndex(w => w.toLowerCase() === lower);
  if (i < 0) i = words.text.findIndex(w => w.toLowerCase().startsWith(lower));
  choose(i, wanted);
  if (i >= 0) glide({zoom: Math.max(view.zoom, 5), x: words.x[i], y: words.y[i]});
}
byId('find').addEventListener('input', findWord);
const [centreX, centreY] = [() => size()[0] / 2, () => size()[1] / 2];
byId('in').addEventListener('click', () => glide(zoomed(1.6, centreX(), centreY())));
byId('out').addEventListener('click', () => glide(zoomed(1 / 1.6, centreX(), centreY())));
byId('whole').addEventListener('click', () => glide(whole));
canvas.addEventListener('wheel', event => {
  event.preventDefault();
  show(zoomed(Math.exp(-clamp(event.deltaY * (event.deltaMode ? 20 : 1), -200, 200) * 0.003),
      event.offsetX, event.offsetY));
}, {passive: false});
canvas.addEventListener('keydown', event => {
  const pan = {ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0,
      -60]}[event.key];
  const factor = {'+': 1.6, '=': 1.6, '-': 1 / 1.6}[event.key];
  if (!pan && !factor && event.key !== '0') return;
  event.preventDefault();
  if (pan) show(moved(...pan)); else glide(factor ? zoomed(factor, centreX(), centreY()) : whole);
});
const pointers = new Map();
let travelled = 0;
canvas.addEventListener('pointerdown', event => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
  travelled = 0;
});
canvas.addEventListener('pointermove', event => {
  const before = pointers.get(event.pointerId), now = [event.offsetX, event.offsetY];
  if (!before) {
    const at = wordAt(...now);
    if (at !== pointed) { pointed = at; redraw(); }
    return;
  }
  const other = [...pointers].find(([id]) => id !== event.pointerId);
  travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
  pointers.set(event.pointerId, now);
  if (other) {
    const away = p => Math.hypot(p[0] - other[1][0], p[1] - other[1][1]);
    show(zoomed(away(now) / Math.max(1, away(before)), (now[0] + other[1][0]) / 2, (now[1] +
        other[1][1]) / 2));
  } else {
    show(moved(now[0] - before[0], now[1] - before[1]));
  }
});
canvas.addEventListener('pointerup', event => {
  pointers.delete(event.pointerId);
  if (travelled < 4) choose(wordAt(event.offsetX, event.offsetY), '');
});
canvas.addEventListener('pointercancel', event => pointers.delete(event.pointerId));
canvas.addEventListener('dblclick', event => glide(zoomed(2, event.offsetX, event.offsetY)));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
new ResizeObserver(redraw).observe(canvas);
if (data.sentences.length) { state.position = middle(0); drawSentence(); }
show(whole);
)js";

}  // namespace glassbox::cli
