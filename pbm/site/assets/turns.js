// How a turn is put together on the page of a board: by taps, chips, buttons and a field, all of which change one text.
// The server says what that text can become; this script knows no rules.
"use strict";

// The turn is one text: a move, and below it a plan. Taps, chips and the field change this text and nothing else.

const { line, comment } = form?.elements || {};
const { mail, url, plan: planned } = form?.dataset || {};
const [send, hint, refused, chips, field, writeButton, next, other] =
  [".send", ".hint", ".refused", ".chips", ".field", ".write", ".next", ".other"].map((selector) => form && find(selector, form));
let isMine, isOver = false, earlierTexts = [];
const PREVIEW_WAIT = 200;
let known = {}, waitingTaps = [], previews = 0;

// Taps go to the move that is written last: behind "if" it is theirs, behind "then" the answer to it.
const before = () => /^(?:[^]*\b(?:if|then)[ \t]+)?/i.exec(line.value)[0];
const latest = () => line.value.slice(before().length).trim();
const isTheirs = () => /\bif[ \t]+$/i.test(before());
const lacksMove = () => /\bif(\s+\S*)?$|\bthen$/i.test(line.value.trim());
const items = () => latest().split(",").map((item) => item.trim()).filter(Boolean);
const hasCell = (item, cell) => item.match(/[a-z]+\d+/g)?.includes(cell);

function write(text) {
  earlierTexts.push(line.value);
  line.value = text;
  changed();
}

function undo() {
  line.value = earlierTexts.pop() ?? before() + items().slice(0, -1).join(",");
  changed();
}

function changed(isTyped = false) {
  const answer = line.value.trim();
  tellRefusal("");
  showChips();
  line.rows = line.value.split("\n").length + Math.floor(latest().length / 40);
  next.textContent = isTheirs() ? "then I play …" : "if they play …";
  next.disabled = Boolean(before()) && !isTheirs() && !latest();
  other.hidden = !before() || lacksMove() || Boolean(planned);
  showPlanning();
  send.textContent = isMine === false && !isOver ? "Save plan" : "Send";
  if (url) preview(isTyped);
  else if (!answer || lacksMove()) send.removeAttribute("href");
  else send.href = mail.replace("TOKEN", token) + encodeURIComponent(answer.replace(/\n/g, "\r\n"));
  mark();
}

// A plan goes on behind a whole turn; there is room for more below the board while one is put together.
function showPlanning() {
  const isPlan = isMine === false || before(), canGoOn = !url || known.whole || !latest();
  find(".planning").hidden = !isPlan || !canGoOn;
}

function showChips() {
  const shown = /\d/.test(latest()) ? items() : [];
  const chip = (item, number) => element("li", {}, element("button", {
    type: "button", textContent: item, ariaLabel: `Take ${item} back`, onclick: () => takeBack(number),
  }));
  chips.replaceChildren(...shown.map(chip).reverse());
}

// The server says, for each text, what a tap on each cell makes of it. Taps that come before its answer wait for it.

function tap(cell) {
  waitingTaps.push(cell);
  if (isMine === false && !line.value.trim()) {
    line.value = `if ${planned ? `${planned} then ` : ""}`;
    changed();
  } else if (!url || known.text === line.value) followTap();
  mark();
}

// A cell without a tap of its own is taken back if the turn has it. If not, the server says why it cannot be added.
function followTap() {
  const cell = waitingTaps.shift();
  if (!cell) return;
  const found = known.tapOf?.get(cell), number = items().findIndex((item) => hasCell(item, cell));
  if (found) write(before() + found.text.replaceAll("*", cell));
  else if (number >= 0) takeBack(number);
  else tryTexts([...items(), cell].join(","));
}

// What stands behind an item may need it, and then goes with it.
function takeBack(number) {
  tryTexts(items().filter((_, other) => other !== number).join(","), items().slice(0, number).join(","));
}

// Writes the first of these texts that begins a turn. If none does, the text stays, and the refusal says why.
async function tryTexts(...texts) {
  const start = before(), { text } = known;
  let answer = {};
  known.text = null; // further taps wait
  for (const turn of texts) {
    answer = url ? await previewOf(start + turn) : {};
    if (!answer.error) {
      if (url) learn(answer, start + turn);
      return write(start + turn);
    }
  }
  known.text = text;
  tellRefusal(answer.error);
  mark();
  return followTap();
}

function previewOf(text) {
  return post({ text: `preview ${wordsOf(text).join(" ")}` });
}

// The turns that lead to the position of the one that is written last, and its text
function wordsOf(text) {
  const lines = text.split("\n"), turns = lines.at(-1).split(/\b(?:if|then)\b/i);
  if (!turns[0].trim() && turns[1] !== undefined) {
    turns.shift();
    if (!/^\s*if\b/i.test(lines[0])) turns.unshift(lines[0]);
  }
  return turns.map((turn) => turn.replace(/#\d+|\s/g, ""));
}

function learn(answer, text) {
  known = { ...answer, text, tapOf: new Map() };
  for (const tap of answer.taps || []) for (const cell of tap.cells?.split(" ") || []) known.tapOf.set(cell, tap);
}

// Their move comes next, or the answer to it
function extendPlan() {
  const text = line.value.trimEnd();
  if (isTheirs()) write(`${before()}${latest() || "any"} then `);
  else write(`${text}${text && (before() ? " " : "\n")}if ${planned ? `${planned} then ` : ""}`);
}

function branchPlan() {
  const text = line.value.trimEnd();
  write(`${text}\n${/.*\bif[ \t]+/i.exec(text.split("\n").at(-1))[0]}`);
}

// What lies over the board: what the turn does so far, what can be tapped next, and what is planned

function mark() {
  const focused = find(":focus-visible", table)?.dataset.cell;
  const chosen = canAnswer ? [...waitingTaps, ...items().flatMap((item) => item.match(/[a-z]+\d+/g) || [])] : [];
  for (const { classList, dataset: { cell } } of findAll(".cells [data-cell]", svg)) {
    classList.toggle("tapped", chosen.includes(cell));
    classList.toggle("focused", cell === focused);
  }
  for (const button of findAll("button", table)) button.ariaPressed = chosen.includes(button.dataset.cell);
  for (const over of findAll(".over", svg)) over.remove();
  if (canAnswer && at === last && known.over) svg.insertAdjacentHTML("beforeend", known.over);
}

// Whether the turn is legal, and how it goes on
async function preview(isTyped) {
  const number = ++previews, text = line.value;
  if (isMine || before()) {
    if (known.text !== text) {
      form.ariaBusy = true;
      if (isTyped) await pause(PREVIEW_WAIT);
      const answer = number === previews ? await previewOf(text) : {};
      if (number !== previews) return;
      learn(answer, text);
    }
  } else learn({}, text);
  form.ariaBusy = null; // also that of an earlier text, whose answer counts no more
  const isCommand = known.error && !/\d/.test(latest()); // such as "resign"
  if (isCommand || isMine === false && !before()) known.whole = Boolean(latest());
  hint.textContent = (isCommand ? "" : known.error || known.hint) || standingHint();
  send.classList.toggle("wait", !known.whole);
  showPlanning();
  showChoices();
  nameCells();
  mark();
  followTap();
}

// What can follow beside the board: dice, buttons, numbers to change, and the turns that begin like this
function showChoices() {
  const { taps = [], steppers = [], dice = [], turns = [], done } = known;
  const focused = document.activeElement?.ariaLabel;
  const button = (label, text, name = label) => element("button", {
    type: "button", textContent: label, ariaLabel: name, onclick: () => write(before() + text),
  });
  const step = (label, text, name) => Object.assign(button(label, text, name), { disabled: !text });
  const choices = find(".choices", form), alike = find(".alike", form), bar = find("progress", form);
  choices.replaceChildren(
    ...dice.map(([pips, isUsed]) => element("span", { className: isUsed ? "pips used" : "pips", role: "img", ariaLabel: `Die ${pips}, ${isUsed ? "used" : "to be played"}` }, pips)),
    ...taps.filter(({ cells }) => !cells).map(({ label, text }) => button(label, text)),
    ...steppers.map(({ label, value, less, more }) => element("span", { className: "stepper" }, `${label} `, step("−", less, `${label}: one less`), element("b", {}, ` ${value} `), step("+", more, `${label}: one more`))),
  );
  if (focused) findAll("button", choices).find(({ ariaLabel }) => ariaLabel === focused)?.focus();
  alike.hidden = !turns.length;
  find("summary", alike).textContent = `${turns.length} ${turns.length === 1 ? "turn begins" : "turns begin"} like this`;
  find("ul", alike).replaceChildren(...turns.map((turn) => element("li", {}, element("span", {}, ...breakable(turn)), button("Choose", turn, `Choose ${turn}`))));
  bar.hidden = !done;
  [bar.value, bar.max] = done || [0, 1];
}

// Small boards: a finger of a telephone hits what is as far from all else that can be tapped as this. For what is nearer
// to something else, the first tap shows what is around it larger, and the second one sets.

const FINGER = 27, CLOSE_UP_CELLS = 9;
const closeUp = { button: find(".whole"), choice: find(".close-up"), box: "" };

// The cell that was meant; none if the board is shown larger first
function aim({ clientX, clientY }, path) {
  const box = path.getBoundingClientRect();
  if (!closeUp.choice?.checked || closeUp.box || Math.min(box.width, box.height) >= FINGER) return path.dataset.cell;
  const canTap = (cell) => !known.tapOf || known.tapOf.has(cell) || items().some((item) => hasCell(item, cell));
  const targets = findAll(".cells [data-cell]", svg).filter(({ dataset }) => canTap(dataset.cell)).map((target) => {
    const { left, top, width, height } = target.getBoundingClientRect();
    return { target, x: left + width / 2, y: top + height / 2 };
  });
  const distance = (one, two) => Math.hypot(one.x - two.x, one.y - two.y);
  const finger = { x: clientX, y: clientY };
  const [nearest] = targets.sort((one, two) => distance(one, finger) - distance(two, finger));
  if (!nearest || distance(nearest, finger) > FINGER) return path.dataset.cell;
  if (!targets.some((other) => other !== nearest && distance(other, nearest) < FINGER)) return nearest.target.dataset.cell;
  lookCloser(nearest.target);
  return "";
}

function lookCloser(path) {
  const { x, y, width } = middleOf(path), [, , wide, high] = svg.getAttribute("viewBox").split(" ");
  const size = width * CLOSE_UP_CELLS;
  const start = (middle, most) => Math.max(0, Math.min(most - size, middle - size / 2));
  closeUp.box = svg.getAttribute("viewBox");
  svg.style.height = `${svg.getBoundingClientRect().height}px`; // what is below stays where it is
  svg.setAttribute("viewBox", `${start(x, wide)} ${start(y, high)} ${size} ${size}`);
  closeUp.button.hidden = false;
  hint.textContent = `This is what lies around ${path.dataset.cell}. Tap what you mean; then the whole board comes back.`;
}

function showWhole() {
  if (!closeUp.box) return;
  svg.setAttribute("viewBox", closeUp.box);
  svg.style.height = closeUp.box = "";
  closeUp.button.hidden = true;
}
