// A board page: stepping through a game, and an answer to its mail by tapping. All rules stay with the server.
"use strict";
const main = document.querySelector("main");
const all = (selector) => [...main.querySelectorAll(selector)];
const [picture, bar, told, grid, form] = [".picture", ".steps", ".told", ".cells-table", ".tapping"].map((one) => all(one)[0]);
const slider = bar.querySelector("input");
const token = /^#(r[0-9]{1,18}-[0-9a-f]{32})$/.exec(location.hash)?.[1];
const canSend = Boolean(form && token);
const taps = canSend && JSON.parse(form.dataset.taps);
let game, own, svg, items, words, description, positions, last, at, standing, tapped = [];

// Stepping: a position has the parts that the one before it has, but for those that differ

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
  items = all(".moves li");
  items.forEach((item, number) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...item.childNodes);
    button.addEventListener("click", () => show(number + 1));
    item.append(button);
  });
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

// the same for those who cannot see it: where pieces stand, by side, and how many on one another
function described() {
  const stacks = {}, colours = {};
  for (const { dataset, classList } of all(".piece")) (stacks[dataset.cell] ||= []).push(classList[1]);
  for (const [cell, stack] of Object.entries(stacks)) (colours[stack.at(-1)] ||= []).push(stack[1] ? `${cell} (${stack.length})` : cell);
  const places = Object.entries(colours).map(([colour, cells]) => `${game.sides[colour]} on ${cells.join(", ")}`);
  return [...places, ...all(".notes text").map((note) => note.textContent)].join(". ");
}

function show(step) {
  const now = Math.max(0, Math.min(last, step));
  look(own);
  if (now !== at) draw(now);
  slider.value = at = now;
  const [move, by] = at ? ["b", "i"].map((part) => items[at - 1].querySelector(part).textContent) : [];
  told.textContent = at ? `Move ${at} of ${last} by ${by}: ${move}` : `The start, before ${last} ${last === 1 ? "move" : "moves"}`;
  items.forEach((item, number) => {
    if (number === at - 1) item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
  });
  const item = items[Math.max(0, at - 1)], list = item.parentElement;
  list.scrollTop = item.offsetTop - list.offsetTop - (list.clientHeight - item.offsetHeight) / 2; // the page stays
  mark();
}

load();
const wanted = /^#([0-9]{1,4})$/.exec(location.hash);
if (last && wanted) show(Number(wanted[1]));
slider.addEventListener("input", () => show(Number(slider.value)));
bar.addEventListener("click", ({ target: { dataset } }) => {
  if (dataset.to) show({ first: 0, back: at - 1, on: at + 1, last }[dataset.to]);
});
document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
  if (!last || step === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.matches("textarea") && event.target.value && !tapped.length) return; // there the keys move the caret
  event.preventDefault();
  show(step);
});
let touched;
picture.addEventListener("touchstart", (event) => { touched = event.changedTouches[0]; }, { passive: true });
picture.addEventListener("touchend", (event) => {
  const end = event.changedTouches[0], right = end.clientX - touched.clientX, down = end.clientY - touched.clientY;
  if (last && Math.abs(right) > 40 && Math.abs(right) > 2 * Math.abs(down)) show(right < 0 ? at + 1 : at - 1);
}, { passive: true });

// What is tapped, and what it would lead to

function look(other) {
  if (svg !== other) svg.replaceWith(other);
  svg = other;
}

function outline(cell, kind) {
  const shape = svg.querySelector(`.cells [data-cell="${cell}"]`).cloneNode();
  shape.removeAttribute("data-cell");
  shape.setAttribute("class", kind);
  svg.append(shape);
}

function mark() {
  all(".tapped, .focused").forEach((shape) => shape.remove());
  if (at === last) new Set(tapped).forEach((cell) => outline(cell, "tapped"));
  const focused = document.querySelector("table :focus-visible[data-cell]");
  if (focused) outline(focused.dataset.cell, "focused");
  all("button[data-cell]").forEach((button) => button.setAttribute("aria-pressed", tapped.includes(button.dataset.cell)));
}

// The field holds a move, and below it the lines of a plan. Taps go to the move that is written last.

const [line, send, next, other, comment, hint, refused, said, menu] =
  ["textarea", ".send", ".next", ".other", ".comment", ".hint", ".refused", ".said", "details"].map((one) => form?.querySelector(one));
const { address, subject, door, plan: planned } = form?.dataset || {};
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
  const [local, host] = address.split(/@(?=[^@]*$)/);
  const body = encodeURIComponent(answer.replace(/\n/g, "\r\n"));
  send.disabled = !answer || lacksMove;
  if (door) preview(answer);
  else if (send.disabled) send.removeAttribute("href");
  else send.href = `mailto:${encodeURIComponent(local)}+${token}@${host}?subject=${encodeURIComponent(subject)}&body=${body}`;
  line.rows = line.value.split("\n").length;
  next.textContent = isTheirs() ? "then I play …" : before() || latest() ? "if they play …" : "Plan: if they play …";
  next.disabled = Boolean(before()) && !isTheirs() && !latest();
  other.hidden = !before() || lacksMove || planned === "any"; // where "any" is all that can be planned
  mark();
}

// the cells on which something stands by then, as far as the moves in the field tell it
function occupied() {
  const cells = new Set(standing), lines = before().split("\n");
  const leading = lines.filter((one, number) => number === lines.length - 1 || (!number && !/^if\b/i.test(one)));
  for (const part of taps.occupied ? leading.join(" ").split(/[ ,+]+/) : []) {
    if (part.startsWith(taps.occupied)) cells.delete(part.slice(taps.occupied.length));
    else cells.add(part);
  }
  return cells;
}

// a cell that is tapped once more is taken back, where no turn, or no part of one, has it twice
function tap(cell) {
  const begin = taps.cells > 1 ? tapped.length - tapped.length % taps.cells : 0;
  const again = taps.again ? -1 : tapped.indexOf(cell, begin);
  if (again < 0) tapped.push(cell);
  else tapped.splice(again, 1);
  write(before() + text(), tapped);
}

function text() {
  const parts = [], taken = occupied();
  for (const cell of tapped) {
    const same = parts.find((part) => taps.again && part.cells.length === 1 && part.cells[0] === cell);
    const open = parts.at(-1);
    if (same) same.times += 1;
    else if (open?.cells.length < taps.cells) open.cells.push(cell);
    else parts.push({ cells: [cell], times: 1 });
  }
  return parts.map(({ cells, times }) => {
    const front = taps.occupied && taken.has(cells[0]) ? taps.occupied : "";
    return front + cells.join(taps.between) + (times > 1 ? taps.again + times : "");
  }).join(",");
}

// the other player's move comes next, or the answer to it; nothing tapped for them is every move of theirs
function plan() {
  const text = line.value.trimEnd();
  if (isTheirs()) write(`${before()}${latest() || "any"} then `);
  else write(`${text}${text && (before() ? " " : "\n")}if ${planned === "any" ? "any then " : ""}`);
}

// another line of the plan, for another answer of theirs in the place of the last one
function planOther() {
  const text = line.value.trimEnd();
  write(`${text}\n${/^.*\bif[ \t]+/i.exec(text.split("\n").at(-1))[0]}`);
}

// Sending: what is posted is what an answer by mail would say

let page, isMine, asked = 0, watched = 0, sent = {};

async function post(text, more) {
  try {
    const body = new URLSearchParams({ token, text, ...more });
    return await (await fetch(door, { method: "POST", headers: { Accept: "application/json" }, body })).json();
  } catch {
    return { error: "The server cannot be reached; please try again." };
  }
}

const pause = (time) => new Promise((done) => { setTimeout(done, time); });

function take(found) {
  isMine = found.turn === found.userid;
  if (!found.page || found.page === page) return;
  page = found.page;
  const fresh = new DOMParser().parseFromString(page, "text/html");
  const { cell } = document.activeElement.dataset;
  all("[data-part]").forEach((part) => { part.innerHTML = fresh.querySelector(`[data-part=${part.dataset.part}]`).innerHTML; });
  form.classList.toggle("over", found.over);
  load();
  all(`button[data-cell="${cell}"]`)[0]?.focus();
  changed();
}

async function submit(text) {
  const key = `${text}\n${comment.value}`;
  if (sent.key !== key) sent = { key, id: `${Date.now()}${Math.random()}` }; // posted again, it acts once
  send.disabled = true;
  const found = await post(text, { comment: comment.value, id: sent.id });
  refused.textContent = found.error || "";
  said.textContent = found.error || found.position ? "" : found.text;
  if (found.status || !found.error) sent = {};
  if (found.error) return changed();
  comment.value = "";
  menu.open = false;
  write("");
  take(found);
  watch();
}

// see for two minutes, ever more seldom, whether the board has changed
async function watch() {
  const number = ++watched;
  for (let wait = 1200; wait < 40000; wait *= 1.4) {
    await pause(wait);
    const found = number === watched && await post("show");
    if (!found || number !== watched) return;
    if (!found.error) take(found);
    if (found.over || isMine) return;
  }
}

async function preview(answer) {
  const number = ++asked, isMove = isMine && tapped.length && tapped.length % taps.cells === 0 && !before();
  hint.textContent = "";
  if (!isMove) return look(own);
  await pause(200);
  const found = number === asked && await post(`preview ${answer}`);
  if (!found || number !== asked || at !== last) return;
  hint.textContent = found.error || "This move is legal.";
  const place = document.createElement("div");
  place.innerHTML = found.svg || "";
  look(place.firstChild || own);
  mark();
}

if (canSend) {
  form.hidden = false;
  picture.classList.toggle("can-tap", taps);
  main.addEventListener("click", ({ target }) => {
    const cell = taps && target.closest("[data-cell]"), button = target.closest("button[value]");
    if (cell) {
      if (at !== last) show(last);
      tap(cell.dataset.cell);
    } else if (button?.value === "resign" && !button.classList.contains("sure")) {
      button.classList.add("sure");
      button.textContent = "Really resign?";
    } else if (button?.name === "move") write(button.value);
    else if (button) submit(button.value);
  });
  // the board as a table of cells, for keyboards and screen readers
  grid.addEventListener("focusin", mark);
  grid.addEventListener("focusout", mark);
  grid.addEventListener("keydown", (event) => {
    const { parentElement: cell, dataset: { x } } = event.target, row = cell.parentElement;
    const near = (other) => [...other?.cells || []].map((one) => one.firstChild).sort((one, two) => Math.abs(one.dataset.x - x) - Math.abs(two.dataset.x - x))[0];
    const ways = { ArrowLeft: () => cell.previousSibling?.firstChild, ArrowRight: () => cell.nextSibling?.firstChild, ArrowUp: () => near(row.previousElementSibling), ArrowDown: () => near(row.nextElementSibling) };
    if (!ways[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    const next = ways[event.key]();
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus({ preventScroll: true });
  });
  line.addEventListener("input", () => write(line.value));
  form.querySelector(".clear").addEventListener("click", () => write(""));
  next.addEventListener("click", plan);
  other.addEventListener("click", planOther);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (door && !send.disabled) submit(line.value.trim());
  });
  changed();
  if (door) post("show").then((found) => {
    refused.textContent = found.error || "";
    take(found);
    if (!found.error && !isMine) watch();
  });
}
