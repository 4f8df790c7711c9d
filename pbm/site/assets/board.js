// A board page: stepping through the game, and putting a move together by tapping. All that it needs stands in the page.
"use strict";
(() => {
  const data = document.getElementById("steps");
  const svg = document.querySelector(".picture svg");
  if (!data || !svg) return;
  const game = JSON.parse(data.textContent);
  const last = game.steps ? game.steps.length - 1 : 0;

  // Stepping: a position has the parts that the one before it has, but for those that differ

  const bar = document.querySelector(".steps");
  const slider = bar.querySelector("input");
  const told = document.querySelector(".told");
  const items = [...document.querySelectorAll(".moves li")];
  const words = svg.querySelector("desc");
  const description = words && words.textContent;
  const positions = [];
  for (const { parts, below, height } of game.steps || []) {
    const now = positions.length ? [...positions.at(-1).parts] : [];
    for (const [number, shapes] of Object.entries(parts)) now[number] = shapes.map((shape) => game.shapes[shape]).join("");
    positions.push({ parts: now, below, height });
  }
  let at = last, tapped = [];
  const ground = svg.querySelector(".cells");

  function draw(step) {
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
    const stacks = new Map();
    for (const piece of svg.querySelectorAll(".piece")) {
      const cell = piece.dataset.cell;
      stacks.set(cell, [...(stacks.get(cell) || []), piece.classList[1]]);
    }
    const colours = new Map();
    for (const [cell, stack] of stacks) {
      const place = stack.length > 1 ? `${cell} (${stack.length})` : cell;
      colours.set(stack.at(-1), [...(colours.get(stack.at(-1)) || []), place]);
    }
    const notes = [...svg.querySelectorAll(".notes text")].map((note) => note.textContent);
    return [...[...colours].map(([colour, places]) => `${game.sides[colour]} on ${places.join(", ")}`), ...notes].join(". ");
  }

  function show(step) {
    const now = Math.max(0, Math.min(last, step));
    if (now !== at) draw(now);
    at = now;
    slider.value = at;
    const [move, by] = at ? [items[at - 1].querySelector("b"), items[at - 1].querySelector("i")] : [];
    told.textContent = at ? `Move ${at} of ${last} by ${by.textContent}: ${move.textContent}` :
      `The start, before ${last} ${last === 1 ? "move" : "moves"}`;
    items.forEach((item, number) => {
      if (number === at - 1) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
    const [item, list] = [items[Math.max(0, at - 1)], items[0].parentElement];
    list.scrollTop = item.offsetTop - list.offsetTop - (list.clientHeight - item.offsetHeight) / 2; // the page stays
  }

  if (last) {
    bar.hidden = false;
    slider.max = last;
    slider.addEventListener("input", () => show(Number(slider.value)));
    bar.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => {
      show({ first: 0, back: at - 1, on: at + 1, last }[button.dataset.to]);
    }));
    items.forEach((item, number) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...item.childNodes);
      button.addEventListener("click", () => show(number + 1));
      item.append(button);
    });
    document.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
      if (step === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const isTyped = event.target.matches("textarea") && event.target.value && !tapped.length;
      if (isTyped) return; // there the keys move the caret
      event.preventDefault();
      show(step);
    });
    let touched = null;
    svg.addEventListener("touchstart", (event) => { touched = event.changedTouches[0]; }, { passive: true });
    svg.addEventListener("touchend", (event) => {
      const end = event.changedTouches[0];
      const [right, down] = [end.clientX - touched.clientX, end.clientY - touched.clientY];
      if (Math.abs(right) > 40 && Math.abs(right) > 2 * Math.abs(down)) show(right < 0 ? at + 1 : at - 1);
    }, { passive: true });
    const wanted = /^#([0-9]{1,4})$/.exec(window.location.hash);
    show(wanted ? Math.min(Number(wanted[1]), last) : last);
  }

  // Tapping

  const form = document.querySelector(".tapping");
  const token = /^#(r[0-9]{1,18}-[0-9a-f]{32})$/.exec(window.location.hash);
  if (!form || !token) return;
  const line = form.querySelector("textarea");
  const send = form.querySelector(".send");
  const next = form.querySelector(".next");
  const other = form.querySelector(".other");
  const [local, host] = form.dataset.address.split(/@(?=[^@]*$)/);
  const address = `${encodeURIComponent(local)}+${token[1]}@${host}`;
  const taps = JSON.parse(form.dataset.taps);
  const standing = new Set([...svg.querySelectorAll(".piece")].map((piece) => piece.dataset.cell));

  // The field holds a move, and below it the lines of a plan. Taps go to the move that is written last.

  const before = () => /^(?:[^]*\b(?:if|then)[ \t]+)?/i.exec(line.value)[0];
  const latest = () => line.value.slice(before().length).trim();
  const isTheirs = () => /\bif[ \t]+$/i.test(before());

  function write(text) {
    line.value = text;
    changed();
  }

  function changed() {
    const answer = line.value.trim();
    const lacksMove = /\bif(\s+\S*)?$|\bthen$/i.test(answer);
    const words = `subject=${encodeURIComponent(form.dataset.subject)}&body=${encodeURIComponent(answer.replace(/\n/g, "\r\n"))}`;
    if (answer && !lacksMove) send.setAttribute("href", `mailto:${address}?${words}`);
    else send.removeAttribute("href");
    line.rows = line.value.split("\n").length;
    next.textContent = isTheirs() ? "then I play …" : before() || latest() ? "if they play …" : "Plan: if they play …";
    next.disabled = Boolean(before()) && !isTheirs() && !latest();
    other.hidden = !before() || lacksMove || form.dataset.plan === "any"; // where "any" is all that can be planned
  }

  // the cells on which something stands by then, as far as the moves in the field tell it
  function occupied() {
    const cells = new Set(standing);
    const lines = before().split("\n");
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
  }

  function text() {
    const parts = [];
    const taken = occupied();
    for (const cell of tapped) {
      const same = parts.find((part) => taps.again && part.cells.length === 1 && part.cells[0] === cell);
      const open = parts.at(-1);
      if (same) same.times += 1;
      else if (open && open.cells.length < taps.cells) open.cells.push(cell);
      else parts.push({ cells: [cell], times: 1 });
    }
    return parts.map(({ cells, times }) => {
      const front = taps.occupied && taken.has(cells[0]) ? taps.occupied : "";
      return front + cells.join(taps.between) + (times > 1 ? taps.again + times : "");
    }).join(",");
  }

  // the other player's move comes next, or the answer to it; nothing tapped for them is every move of theirs
  function plan() {
    tapped = [];
    const text = line.value.trimEnd();
    const begin = text && (before() ? " " : "\n");
    if (isTheirs()) write(`${before()}${latest() || "any"} then `);
    else write(`${text}${begin}if ${form.dataset.plan === "any" ? "any then " : ""}`);
  }

  // another line of the plan, for another answer of theirs in the place of the last one
  function planOther() {
    tapped = [];
    const last = line.value.trimEnd().split("\n").at(-1);
    write(`${line.value.trimEnd()}\n${/^.*\bif[ \t]+/i.exec(last)[0]}`);
  }

  if (taps) {
    svg.classList.add("can-tap");
    svg.addEventListener("click", (event) => {
      const cell = event.target.closest("[data-cell]");
      if (!cell) return;
      show(last);
      tap(cell.dataset.cell);
      write(before() + text());
    });
  }
  form.hidden = false;
  line.addEventListener("input", () => { tapped = []; changed(); });
  form.querySelector(".clear").addEventListener("click", () => { tapped = []; write(""); });
  next.addEventListener("click", plan);
  other.addEventListener("click", planOther);
  form.addEventListener("submit", (event) => event.preventDefault());
  changed();
})();
