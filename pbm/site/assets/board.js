// The page of a board: its game step by step, and what a player sends who comes by the link of a mail. How a turn is put
// together stands in turns.js. Whatever a player does is posted as what an answer by mail would say; the server alone knows the rules.
"use strict";

const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];
const element = (name, fields = {}, ...content) => {
  const made = Object.assign(document.createElement(name), fields);
  made.append(...content);
  return made;
};
// A long turn is broken after its commas, never within the name of a cell.
const breakable = (turn) => turn.split(/(?<=,)/).flatMap((part) => [part, element("wbr")]);
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

const data = JSON.parse(find("#steps").textContent);
const { place } = find("#board").dataset;
const picture = find(".picture"), svg = find("svg", picture), table = find(".cell-names");
const stepBar = find(".steps"), slider = find("input", stepBar), told = find(".told"), turnList = find(".moves");
const tray = find(".turn"), form = find(".tapping");
const token = readToken();
const canAnswer = Boolean(form && token);

// The token of the link stays in this tab: whoever sees or shares the address has a page on which nobody can play.
function readToken() {
  const name = `pbm ${location.pathname}`;
  const linked = /^#(me|r[0-9]{1,18}-[0-9a-f]{32})$/.exec(location.hash)?.[1];
  try {
    if (linked) {
      sessionStorage.setItem(name, linked);
      history.replaceState(null, "", location.pathname + location.search);
    }
    return linked || sessionStorage.getItem(name);
  } catch {
    return linked; // the browser keeps nothing, so the address has to
  }
}

// Whether the address names a step or a part of the page, and not a token
function namesPart() {
  return /^#(\d+|board)$/.test(location.hash);
}

// Steps. The picture of each has the parts of the one before, but for those that differ.

let positions = [], last = 0, at = 0, drawn;

function addSteps(start, steps) {
  positions.length = start;
  for (const { id, parts = {}, notes = [], picture: whole } of steps) {
    const all = [...positions.at(-1)?.parts || []];
    for (const [number, shapes] of Object.entries(parts)) all[number] = markupOf(shapes);
    if (whole) svg.innerHTML = new DOMParser().parseFromString(whole, "text/html").querySelector("svg").innerHTML;
    positions.push({ id, parts: all, notes });
  }
  last = Math.max(0, positions.length - 1);
  at = Math.min(at, last);
  stepBar.hidden = !last;
  slider.max = last;
}

// The page as it was written names shapes by their numbers; what comes later is markup.
function markupOf(shapes) {
  return typeof shapes === "string" ? shapes : shapes.map((shape) => data.shapes[shape]).join("");
}

// Cells are never replaced: a press that begins before a new picture and ends after it is still a tap on one cell.
function draw(position) {
  const cells = find(".cells", svg);
  if (!cells) return;
  if (position !== drawn) {
    while (cells.nextSibling) cells.nextSibling.remove();
    svg.insertAdjacentHTML("beforeend", position.parts.join(""));
    drawn = position;
  }
  showNotes(position.notes);
  nameCells();
  mark();
}

function showNotes(notes) {
  for (const seat of findAll(".seat")) {
    const note = notes.find(({ side }) => side === Number(seat.dataset.side));
    find(".note", seat).textContent = note?.text || "";
    find(".score", seat).textContent = note?.score?.replace("-", "−") || "";
    find(".note", seat).append(...(note?.dice || []).map((pips) => element("span", { className: "pips", textContent: pips })));
  }
  find(".notes").textContent = notes.filter(({ side }) => side === undefined).map(({ text }) => text).join(" · ");
}

function show(step) {
  at = Math.max(0, Math.min(last, step));
  draw(positions[at]);
  slider.value = at;
  const items = [...turnList.children];
  items.forEach((item, number) => { find("a", item).ariaCurrent = number === at - 1 ? "step" : null; });
  const item = items[Math.max(0, at - 1)];
  if (!item) return;
  const turns = `${last} ${last === 1 ? "turn" : "turns"}`;
  if (at) told.replaceChildren(`Turn ${at} of ${last} by ${find(".by", item).textContent}: `, ...breakable(find(".text", item).textContent));
  else told.textContent = `The start, before ${turns}`;
  // only the list scrolls, not the page
  turnList.scrollTop = item.offsetTop - turnList.offsetTop - (turnList.clientHeight - item.offsetHeight) / 2;
}

// Cells in words: a table that is hidden from sight, for screen readers and the keyboard

function buildTable() {
  const rows = new Map();
  for (const path of findAll(".cells [data-cell]", svg)) {
    const { x, y } = middleOf(path), row = Math.round(y);
    rows.set(row, [...rows.get(row) || [], { name: path.dataset.cell, x, y }]);
  }
  const lines = [...rows.keys()].sort((one, two) => one - two).map((row) => rows.get(row).sort((one, two) => one.x - two.x));
  const button = ({ name, x, y }) => `<td><button type="button" data-cell="${name}" data-x="${x}" data-y="${y}" tabindex="-1"></button></td>`;
  table.innerHTML = `<table role="table" aria-label="Board, cell by cell">${lines.map((line) => `<tr>${line.map(button).join("")}</tr>`).join("")}</table>`;
  const first = find("button", table);
  if (first) first.tabIndex = 0;
}

function middleOf(shape) {
  const { x, y, width, height } = shape.getBBox();
  return { x: x + width / 2, y: y + height / 2, width, height };
}

// The sides of the pieces on each cell, the lowest piece first
function stacks() {
  const standing = {};
  for (const { dataset, classList } of findAll(".piece", svg)) (standing[dataset.cell] ||= []).push(data.sides[classList[1]]);
  return standing;
}

function nameCells() {
  const standing = stacks(), sides = {};
  for (const button of findAll("button", table)) {
    const { cell } = button.dataset, stack = standing[cell];
    const tap = known.tapOf?.get(cell), meaning = tap && !tap.quiet ? `, ${tap.label || "possible"}` : "";
    const name = `${cell}, ${stack ? stack.at(-1) + (stack[1] ? `, height ${stack.length}` : "") : "empty"}${meaning}`;
    if (button.textContent !== name) button.textContent = name; // to write all of them anew takes thirty times as long
  }
  for (const [cell, stack] of Object.entries(standing)) {
    const captives = stack.filter((side) => side !== stack.at(-1));
    const below = captives[0] ? `, ${captives.length} of them ${captives[0]} below` : "";
    (sides[stack.at(-1)] ||= []).push(stack[1] ? `${cell} (${stack.length}${below})` : cell);
  }
  const places = Object.entries(sides).map(([side, cells]) => `${side[0].toUpperCase()}${side.slice(1)} on ${cells.join(", ")}.`);
  const words = find("desc", svg);
  if (words) words.textContent = places.join(" ");
}

function moveFocus(event) {
  const here = event.target, { x, y } = here.dataset;
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!way) return;
  event.preventDefault();
  event.stopPropagation();
  const distance = ({ dataset }) => {
    const right = dataset.x - x, down = dataset.y - y, ahead = right * way[0] + down * way[1];
    return ahead > 1 ? ahead + 2 * Math.abs(right * way[1] - down * way[0]) : Infinity;
  };
  const [nearest] = findAll("button", table).sort((one, two) => distance(one) - distance(two));
  if (distance(nearest) === Infinity) return;
  here.tabIndex = -1;
  nearest.tabIndex = 0;
  nearest.focus({ preventScroll: true });
}

// What is posted is what an answer by mail would say. Answers that change the page come one after the other.

const FIRST_WAIT = 1500, LONGEST_WAIT = 60_000, SILENCE = 45_000, PATIENCE = 20_000;
const ENDED = [403, 410]; // the token is worthless, or the board removed
let seen = "", isSending = false, isStreaming = false, isBehind = false, hasEnded = false, pollWait = FIRST_WAIT;
let inTurn = Promise.resolve(), key = "", hasNews = false;

async function post(fields) {
  try {
    const [game, board] = place.split("/");
    const body = new URLSearchParams({ token, game, board, known: positions.slice(-8).reverse().map(({ id }) => id).join(" "), seen, ...fields });
    const response = await fetch(`${url}answer`, { method: "POST", headers: { Accept: "application/json" }, body, signal: AbortSignal.timeout(PATIENCE) });
    return await response.json();
  } catch {
    return { error: "The server cannot be reached; please try again." };
  }
}

function look() {
  inTurn = inTurn.then(async () => {
    const answer = await post({});
    isBehind = Boolean(answer.error);
    if (ENDED.includes(answer.status)) endPage(answer.error);
    else take(answer);
  });
  return inTurn;
}

function endPage(why) {
  hasEnded = true;
  tray.hidden = false;
  tellRefusal(why);
  findAll(".acts, .field, .reader").forEach((part) => { part.hidden = true; });
}

// Posts what an answer would say. Returns whether it was done.
async function submit(text, words = "", place = refused) {
  if (isSending || hasEnded) return false;
  isSending = true;
  tellRefusal("", place);
  key ||= Math.random(); // what is sent again, because its answer was lost, is done once
  send.ariaDisabled = true;
  const answer = await inTurn.then(() => post({ text, comment: words, id: `${key} ${text} ${words}` }));
  isSending = false;
  send.ariaDisabled = null;
  if (answer.status < 500 || !answer.error) key = "";
  if (answer.error) {
    await look();
    tellRefusal(answer.error, place);
    return false;
  }
  const said = find(".said");
  const isShown = answer.talk || text === "rematch"; // then the page itself says it
  said.textContent = isShown ? "" : answer.text;
  said.hidden = !said.textContent;
  take(answer);
  pollWait = FIRST_WAIT; // a robot answers soon
  return true;
}

function tellRefusal(why, place = refused) {
  place.textContent = why;
  if (place === refused) hint.hidden = Boolean(why);
}

// Takes what has changed into the page, in place
function take(answer) {
  if (answer.next) showNextBoard(answer.next);
  if (!answer.version || answer.version === seen) return;
  if (answer.place && answer.place !== place) return endPage(`This link is for another board: ${answer.place.replace("/", " ")}.`);
  const hadFocus = main().contains(document.activeElement), wasLast = at === last, isFirst = !seen;
  seen = answer.version;
  isMine = answer.turn === answer.userid;
  isOver = answer.over;
  known = {};
  for (const [part, html] of Object.entries(answer.html)) find(`[data-part=${part}]`).innerHTML = html;
  if (token === "me") findAll("[data-part=offers] a").forEach((link) => { link.hash = "me"; });
  const say = find(".say"), thread = find(".thread");
  say.textContent = answer.headline; // in place: what is put in anew is not read out
  say.classList.toggle("you", isMine);
  if (answer.talk) extend(thread, answer.talk.from, answer.talk.html);
  if (answer.talk) thread.scrollTop = thread.scrollHeight;
  if (answer.steps.length || answer.moves < last) {
    addSteps(answer.from, answer.steps);
    extend(turnList, Math.max(0, answer.from - 1), answer.turns);
  }
  if (!isFirst && document.hidden && (answer.steps.length || answer.talk)) hasNews = true;
  document.title = `${hasNews ? "● " : ""}${answer.title}`;
  form.hidden = isOver;
  if (isOver) line.value = "";
  findAll(".running").forEach((part) => { part.hidden = isOver; });
  showTimes();
  show(wasLast ? last : at);
  if (!refused.textContent) changed();
  if (hadFocus && document.activeElement === document.body) say.focus({ preventScroll: true });
}

// On a device of the player's, which has a cookie: the way to their other boards
function showNextBoard({ count, path }) {
  const link = find(".top .btn");
  link.onclick = null; // it leads to no rules any more
  link.href = path ? `../${path}` : "../me";
  link.textContent = count ? `Next board · ${count}` : "My boards";
}

const main = () => find("main");

function extend(list, length, html) {
  while (list.children.length > length) list.lastElementChild.remove();
  list.insertAdjacentHTML("beforeend", html);
}

function standingHint() {
  if (isMine === false && !isOver) return "Plan ahead: tap their turn, then yours. Nobody sees it before it is played.";
  const task = positions[last].notes.filter((note) => note.is_task).map(({ text }) => text).join(" ");
  if (!url) return `${task} Taps write the names of cells, and Write takes what else a turn needs. Send opens a mail with it; or copy it into your answer.`;
  return task || "Tap your turn on the board.";
}

// News come by a stream; where none comes through, the page asks, ever more seldom but for as long as it is open.

let connection;
addEventListener("pagehide", () => connection?.abort()); // a browser may keep the page, but nobody looks at it

async function listen() {
  for (let wait = FIRST_WAIT; !hasEnded; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    connection = new AbortController();
    let silence;
    try {
      const [game, board] = place.split("/"), body = new URLSearchParams({ token, game, board });
      const response = await fetch(`${url}events`, { method: "POST", headers: { Accept: "application/json" }, body, signal: connection.signal });
      const reader = response.ok && response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ""; reader;) {
        clearTimeout(silence);
        silence = setTimeout(() => connection.abort(), SILENCE); // a living stream says something each 15 seconds
        const { value, done } = await reader.read();
        if (done) break;
        isStreaming = true;
        wait = FIRST_WAIT;
        const events = (text + value).split("\n\n");
        text = events.pop();
        if (events.some((event) => /^event:/m.test(event))) look();
      }
    } catch {
      // as if it had ended
    }
    clearTimeout(silence);
    isStreaming = false;
    await pause(wait);
  }
}

async function poll() {
  while (!hasEnded) {
    await pause(pollWait);
    pollWait = Math.min(1.4 * pollWait, LONGEST_WAIT);
    if ((!isStreaming || isBehind) && !hasEnded) await look();
  }
}

function wake() {
  if (document.hidden) return;
  hasNews = false;
  document.title = document.title.replace("● ", "");
  pollWait = FIRST_WAIT;
  if (!hasEnded) look();
}

// Times are written in UTC, and shown as they are here

function showTimes() {
  const form = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
  for (const time of findAll("time")) time.textContent = new Date(time.dateTime).toLocaleString(undefined, form);
  const clock = find(".clock[data-until]");
  if (!clock) return;
  const hours = (new Date(clock.dataset.until) - Date.now()) / 3_600_000;
  const [count, unit] = hours >= 48 ? [hours / 24, "day"] : hours >= 1 ? [hours, "hour"] : [Math.max(0, hours * 60), "minute"];
  clock.classList.toggle("late", hours < 24);
  find("b", clock).textContent = `${Math.floor(count)} ${unit}${Math.floor(count) === 1 ? "" : "s"} left`;
}

// The button "Rules" opens the short rules instead of leaving the page. The address stays as it is: it can be all that has the token.
function openLessons(event) {
  const lessons = find("[data-part=lessons] details");
  if (!lessons || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  lessons.open = true;
  lessons.scrollIntoView();
  find("summary", lessons).focus({ preventScroll: true });
}

// What is pressed, tapped, swiped and typed

function startPage() {
  addSteps(0, data.steps);
  at = last;
  drawn = positions[last]; // the page was written with this picture
  buildTable();
  show(/^#\d+$/.test(location.hash) ? Number(location.hash.slice(1)) : last);
  showTimes();
  setInterval(showTimes, 60_000);
  slider.oninput = () => show(Number(slider.value));
  stepBar.onclick = ({ target: { dataset } }) => {
    if (dataset.to) show({ first: 0, back: at - 1, on: at + 1, last }[dataset.to]);
  };
  turnList.onclick = (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show([...turnList.children].indexOf(link.parentElement) + 1);
  };
  find(".top .btn").onclick = openLessons;
  onhashchange = () => {
    if (/^#\d+$/.test(location.hash)) show(Number(location.hash.slice(1)));
    else if (!namesPart()) location.reload(); // another link was opened here
  };
  document.onkeydown = (event) => {
    const step = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    if (!last || step === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.matches("textarea, input:not([type=range])")) return; // there they move the caret
    event.preventDefault();
    show(step);
  };
  watchSwipes();
}

function watchSwipes() {
  let start;
  picture.addEventListener("touchstart", (event) => { start = event.changedTouches[0]; }, { passive: true });
  picture.addEventListener("touchend", ({ changedTouches: [end] }) => {
    const right = end.clientX - start.clientX, down = end.clientY - start.clientY;
    if (last && Math.abs(right) > 40 && Math.abs(right) > 2 * Math.abs(down)) show(right < 0 ? at + 1 : at - 1);
  });
}

function startAnswering() {
  tray.hidden = false;
  findAll(".reader").forEach((part) => { part.hidden = false; });
  picture.classList.add("can-tap");
  main().onclick = (event) => {
    const path = event.target.closest("[data-cell]"), button = event.target.closest("button[value]");
    if (path && !isOver && !hasEnded) {
      if (at !== last) show(last);
      const cell = event.detail && path.closest("svg") ? aim(event, path) : path.dataset.cell;
      if (!cell) return;
      showWhole();
      tap(cell);
    } else if (button) press(button);
  };
  ["focusin", "focusout"].forEach((kind) => table.addEventListener(kind, mark));
  table.onkeydown = moveFocus;
  line.oninput = () => {
    earlierTexts = [];
    changed(true);
  };
  find(".clear").onclick = () => write("");
  find(".undo").onclick = undo;
  find(".plan")?.addEventListener("click", () => { // a page that was written when the game was over has none
    openField(true);
    extendPlan();
    line.focus();
  });
  writeButton.onclick = () => openField(field.hidden);
  next.onclick = extendPlan;
  other.onclick = branchPlan;
  closeUp.button.onclick = showWhole;
  form.onsubmit = sendTurn;
  changed();
  if (!url) return;
  startCloseUp();
  const chat = find(".chat"), text = find("textarea", chat), missing = find(".no", chat);
  chat.onsubmit = async (event) => {
    event.preventDefault();
    if (!text.value.trim()) tellRefusal("Write a message first.", missing);
    else if (await submit("chat", text.value, missing)) text.value = "";
  };
  find(".menu").ontoggle = () => { find("[value=resign]").textContent = "Resign"; };
  document.addEventListener("visibilitychange", wake);
  look();
  listen();
  poll();
}

function startCloseUp() {
  const name = "pbm without close-up", { choice } = closeUp;
  choice.checked = !localStorage.getItem(name);
  choice.onchange = () => {
    showWhole();
    if (choice.checked) localStorage.removeItem(name);
    else localStorage.setItem(name, "1");
  };
}

function openField(isOpen) {
  field.hidden = !isOpen;
  writeButton.ariaExpanded = isOpen;
  if (isOpen) line.focus({ preventScroll: true });
}

async function press(button) {
  const note = find(".note-text");
  if (button.value === "chat") return; // its form sends it
  if (button.value === "resign" && button.textContent === "Resign") button.textContent = "Really resign?";
  else if (button.value !== "note") submit(button.value);
  else if (await submit("note", note.value)) note.value = "";
}

async function sendTurn(event) {
  event.preventDefault();
  const answer = line.value.trim();
  if (!answer) return tellRefusal("Tap or write your turn first.");
  if (lacksMove()) return tellRefusal("The plan lacks a move at its end.");
  // a move is for the position that is shown
  const move = url ? answer.replace(/^[^\s#]*\d(?::[x+])*(?=\n|$)/, `$&#${last + 1}`) : answer;
  if (!await submit(move, comment.value)) return;
  comment.value = "";
  earlierTexts = [];
  line.value = "";
  openField(false);
  send.focus({ preventScroll: true });
  changed();
}

// when turns.js has been read, too
document.addEventListener("DOMContentLoaded", () => {
  startPage();
  if (canAnswer) startAnswering();
  else if (location.hash && !namesPart() && form) {
    tray.hidden = false;
    endPage("This link is not complete, so you cannot answer here. Open the link in your mail again.");
  }
  document.body.classList.add("ready"); // what is below the board is seen from now on: the tray moves nothing that was seen
});
