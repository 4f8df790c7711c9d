// A board page: a game step by step, and taps that answer its mail
"use strict";
const main = document.querySelector("main");
const all = (selector) => [...main.querySelectorAll(selector)];
const [grid, picture, bar, told] = all(".cell-names, .picture, .steps, .told"), [form] = all(".tapping");
const slider = bar.querySelector("input");
const token = /^#(r[0-9]{1,18}-[0-9a-f]{32})$/.exec(location.hash)?.[1];
const canSend = form && token;
const taps = canSend && JSON.parse(form.dataset.taps);
let game, own, svg, items, words, description, positions, last, at, standing, tapped = [];

// Stepping: a position has the parts of the one before, but for those that differ

function load() {
  game = JSON.parse(all("#steps")[0].textContent);
  svg = own = picture.querySelector("svg");
  words = svg.querySelector("desc");
  description = words?.textContent;
  positions = [];
  for (const { parts, below, height } of game.steps || []) {
    const now = [...positions.at(-1)?.parts || []];
    for (const [number, shapes] of Object.entries(parts)) now[number] = shapes.map((shape) => game.shapes[shape]).join("");
    positions.push({ parts: now, below, height });
  }
  at = last = Math.max(0, positions.length - 1);
  standing = new Set(all(".piece").map((piece) => piece.dataset.cell));
  bar.hidden = !last;
  slider.max = last;
  items = all(".moves button");
  items.forEach((item, number) => { item.onclick = () => show(number + 1); });
  if (last) show(last);
}

function draw(step) {
  const ground = svg.querySelector(".cells");
  while (ground.nextSibling) ground.nextSibling.remove();
  const { parts, below, height } = positions[step];
  svg.insertAdjacentHTML("beforeend", parts.join("") + below);
  svg.setAttribute("height", height);
  svg.querySelector(".panel").setAttribute("height", height);
  svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${height}`);
  if (words) words.textContent = step === last ? description : described();
}

function described() {
  const stacks = {}, sides = {};
  for (const { dataset, classList } of all(".piece")) (stacks[dataset.cell] ||= []).push(classList[1]);
  for (const [cell, stack] of Object.entries(stacks)) (sides[stack.at(-1)] ||= []).push(stack[1] ? `${cell} (${stack.length})` : cell);
  const places = Object.entries(sides).map(([side, cells]) => `${game.sides[side]} on ${cells.join(", ")}`);
  return [...places, ...all(".notes text").map((note) => note.textContent)].join(". ");
}

function show(step) {
  const now = Math.max(0, Math.min(last, step));
  look(own);
  if (now !== at) draw(now);
  slider.value = at = now;
  items.forEach((item, number) => { item.ariaCurrent = number === at - 1 ? "step" : null; });
  const item = items[Math.max(0, at - 1)], list = item.closest("ol"), [move, by] = item.children;
  told.textContent = at ? `Move ${at} of ${last} by ${by.textContent}: ${move.textContent}` : `The start, before ${last} ${last === 1 ? "move" : "moves"}`;
  list.scrollTop = item.offsetTop - list.offsetTop - (list.clientHeight - item.offsetHeight) / 2; // the page stays
  mark();
}

load();
if (last && /^#\d+$/.test(location.hash)) show(+location.hash.slice(1));
onhashchange = () => location.reload();
slider.oninput = () => show(+slider.value);
bar.onclick = ({ target: { dataset } }) => {
  if (dataset.to) show({ first: 0, back: at - 1, on: at + 1, last }[dataset.to]);
};
document.onkeydown = (event) => {
  const step = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
  if (!last || step === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.matches("textarea") && event.target.value && (event.target !== line || !tapped.length)) return;
  event.preventDefault();
  show(step);
};
let touched;
picture.addEventListener("touchstart", (event) => { touched = event.changedTouches[0]; }, { passive: true });
picture.addEventListener("touchend", ({ changedTouches: [end] }) => {
  const right = end.clientX - touched.clientX, down = end.clientY - touched.clientY;
  if (last && Math.abs(right) > 40 && Math.abs(right) > 2 * Math.abs(down)) show(right < 0 ? at + 1 : at - 1);
});

// What is tapped, and what it would lead to

function look(other) {
  if (svg !== other) svg.replaceWith(other);
  svg = other;
}

function mark() {
  const focused = grid.querySelector(":focus-visible")?.dataset.cell;
  for (const { classList, dataset: { cell } } of svg.querySelectorAll(".cells [data-cell]")) {
    classList.toggle("tapped", tapped.includes(cell));
    classList.toggle("focused", cell === focused);
  }
  grid.querySelectorAll("button").forEach((button) => { button.ariaPressed = tapped.includes(button.dataset.cell); });
}

// The field holds a move, and below it a plan. Taps go to the move written last.

const { line, clear, next, other, comment, hint, refused, said } = form?.elements || {};
const [send, menu] = form?.querySelectorAll(".send, details") || [];
const { mail, url, plan: planned } = form?.dataset || {};
const before = () => /^(?:[^]*\b(?:if|then)[ \t]+)?/i.exec(line.value)[0];
const latest = () => line.value.slice(before().length).trim();
const isTheirs = () => /\bif[ \t]+$/i.test(before());

function write(text, cells = []) {
  line.value = text;
  tapped = cells;
  changed();
}

function changed() {
  const answer = line.value.trim();
  const lacksMove = /\bif(\s+\S*)?$|\bthen$/i.test(answer);
  send.disabled = !answer || lacksMove;
  if (url) preview(answer);
  else if (send.disabled) send.removeAttribute("href");
  else send.href = mail.replace("TOKEN", token) + encodeURIComponent(answer.replace(/\n/g, "\r\n"));
  line.rows = line.value.split("\n").length;
  next.textContent = isTheirs() ? "then I play …" : before() || latest() ? "if they play …" : "Plan: if they play …";
  next.disabled = before() && !isTheirs() && !latest();
  other.hidden = !before() || lacksMove || planned;
  mark();
}

// what is occupied after the moves
function occupied() {
  const cells = new Set(standing), lines = before().split("\n");
  const leading = lines.filter((one, number) => number === lines.length - 1 || (!number && !/^if\b/i.test(one)));
  for (const part of taps.occupied ? leading.join(" ").split(/[ ,+]+/) : []) {
    if (part.startsWith(taps.occupied)) cells.delete(part.slice(taps.occupied.length));
    else cells.add(part);
  }
  return cells;
}

// a cell that is tapped again is taken back, unless a turn can have it twice
function tap(cell) {
  const again = taps.again ? -1 : tapped.indexOf(cell, taps.cells > 1 && tapped.length - tapped.length % taps.cells);
  if (again < 0) tapped.push(cell);
  else tapped.splice(again, 1);
  write(before() + text(), tapped);
}

function text() {
  const parts = [], taken = occupied();
  for (const cell of tapped) {
    const same = taps.again && parts.find((part) => part.cells[0] === cell);
    if (same) same.times += 1;
    else if (parts.at(-1)?.cells.length < taps.cells) parts.at(-1).cells.push(cell);
    else parts.push({ cells: [cell], times: 1 });
  }
  const written = ({ cells, times }) => (taken.has(cells[0]) ? taps.occupied : "") + cells.join(taps.between) + (times > 1 ? taps.again + times : "");
  return parts.map(written).join(",");
}

// their move comes next, or the answer to it
function plan() {
  const text = line.value.trimEnd();
  if (isTheirs()) write(`${before()}${latest() || "any"} then `);
  else write(`${text}${text && (before() ? " " : "\n")}if ${planned ? `${planned} then ` : ""}`);
}

function planOther() {
  const text = line.value.trimEnd();
  write(`${text}\n${/.*\bif[ \t]+/i.exec(text.split("\n").at(-1))[0]}`);
}

// What is posted is what an answer by mail would say

let page, isMine, waits, id, asked = 0, watched = 0;

async function post(text, more) {
  try {
    const body = new URLSearchParams({ token, text, ...more });
    return await (await fetch(url, { method: "POST", headers: { Accept: "application/json" }, body })).json();
  } catch {
    return { error: "The server cannot be reached; please try again." };
  }
}

const pause = (time) => new Promise((done) => setTimeout(done, time));

function take(found, why = found.error || "") {
  refused.textContent = why;
  if (found.error) return;
  isMine = found.turn === found.userid;
  waits = !found.page || !found.over && (!isMine || found.vote);
  if (!found.page || found.page === page) return;
  page = found.page;
  const fresh = new DOMParser().parseFromString(page, "text/html");
  const { cell } = document.activeElement.dataset;
  all("[data-part]").forEach((part) => { part.innerHTML = fresh.querySelector(`[data-part=${part.dataset.part}]`).innerHTML; });
  form.classList.toggle("over", found.over);
  load();
  if (cell) grid.querySelector(`[data-cell="${cell}"]`).focus();
  changed();
}

async function submit(text) {
  id ||= Math.random(); // what is sent again is done once
  send.disabled = true;
  const found = await post(text, { comment: comment.value, id: id + text + comment.value });
  if (found.status < 500 || !found.error) id = 0;
  said.textContent = found.error || found.position ? "" : found.text;
  if (found.error) take(await post("show"), found.error);
  else {
    comment.value = "";
    menu.open = false;
    write("");
    take(found);
    watch();
  }
  changed();
}

// asks for two minutes, ever more seldom
async function watch() {
  const number = ++watched;
  for (let wait = 1200; waits && wait < 4e4; wait *= 1.4) {
    await pause(wait);
    if (number !== watched) return;
    const found = await post("show");
    if (number !== watched) return;
    if (!found.error || found.status === 410) take(found);
    if (found.status === 410) return; // the board has been removed
  }
}

async function preview(answer) {
  const number = ++asked;
  hint.textContent = "";
  if (!isMine || !tapped.length || tapped.length % taps.cells || before()) return look(own);
  await pause(200);
  const found = number === asked && await post(`preview ${answer}`);
  if (!found || number !== asked || at !== last) return;
  hint.textContent = found.error || `${answer} is legal.`;
  const place = document.createElement("div");
  place.innerHTML = found.svg || "";
  look(place.firstChild || own);
  mark();
}

if (canSend) {
  form.hidden = false;
  picture.classList.toggle("can-tap", taps);
  main.onclick = ({ target }) => {
    const cell = taps && target.closest("[data-cell]"), button = target.closest("button[value]");
    if (cell) {
      if (at !== last) show(last);
      tap(cell.dataset.cell);
    } else if (button?.name) write(button.value);
    else if (button?.value === "resign" && button.textContent === "Resign") button.textContent = "Really resign?";
    else if (button) submit(button.value);
  };
  menu.ontoggle = () => all("[value=resign]").forEach((button) => { button.textContent = "Resign"; });
  ["focusin", "focusout"].forEach((kind) => grid.addEventListener(kind, mark));
  grid.onkeydown = (event) => {
    const here = event.target, way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    const far = ({ dataset: { x, y } }) => {
      const right = x - here.dataset.x, up = y - here.dataset.y, on = right * way[0] + up * way[1];
      return on > 0.1 ? on + 2 * Math.abs(right * way[1] - up * way[0]) : 999;
    };
    const [next] = [...grid.querySelectorAll("button")].sort((one, two) => far(one) - far(two));
    if (far(next) === 999) return;
    here.tabIndex = -1;
    next.tabIndex = 0;
    next.focus({ preventScroll: true });
  };
  line.oninput = () => write(line.value);
  clear.onclick = () => write("");
  next.onclick = plan;
  other.onclick = planOther;
  form.onsubmit = (event) => {
    event.preventDefault();
    const answer = line.value.trim();
    // a move is for the position that is shown
    if (!send.disabled) submit(taps ? answer.replace(/^[^\s#]*\d(?::[x+])*(?=\n|$)/, `$&#${last + 1}`) : answer);
  };
  changed();
  if (url) post("show").then((found) => {
    take(found);
    watch();
  });
}
