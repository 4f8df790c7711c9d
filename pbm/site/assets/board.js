// A board page: stepping through the game, and putting a move together by tapping. All that it needs stands in the page.
"use strict";
(() => {
  const data = document.getElementById("steps");
  const svg = document.querySelector(".picture svg");
  if (!data || !svg) return;
  const game = JSON.parse(data.textContent);
  const last = game.turns ? game.turns.length : 0;
  const space = "http://www.w3.org/2000/svg";

  // Stepping

  const bar = document.querySelector(".steps");
  const slider = bar.querySelector("input");
  const told = document.querySelector(".told");
  const items = [...document.querySelectorAll(".moves li")];
  const own = document.createElementNS(space, "g");
  const of_present = [...svg.querySelectorAll(".piece, .mark, .latest, .join, .count, .token, .track, .notes, .dice")];
  let at = last;

  const positions = [game.start || {}];
  for (const turn of game.turns || []) {
    const cells = { ...positions.at(-1), ...turn };
    for (const name of Object.keys(cells)) if (!cells[name]) delete cells[name];
    positions.push(cells);
  }

  function circle(kind, cell, [x, y, radius]) {
    const shape = document.createElementNS(space, "circle");
    shape.setAttribute("class", kind);
    shape.setAttribute("data-cell", cell);
    shape.setAttribute("cx", x.toFixed(1));
    shape.setAttribute("cy", y.toFixed(1));
    shape.setAttribute("r", radius);
    own.append(shape);
  }

  function show(step) {
    at = Math.max(0, Math.min(last, step));
    own.replaceChildren();
    if (at === last) {
      for (const [shape, mark, parent] of places) parent.insertBefore(shape, mark);
      own.remove();
    } else {
      for (const [shape] of places) shape.remove();
      for (const [cell, content] of Object.entries(positions[at])) {
        const [x, y] = game.cells[cell];
        for (const [hue, right, down, radius] of game.piles[content] || [])
          circle(`piece ${hue}`, cell, [x + right, y + down, radius]);
      }
      for (const cell of Object.keys(at ? game.turns[at - 1] : {})) {
        const [hue, right, down, radius] = (game.piles[positions[at][cell]] || []).at(-1) || ["", 0, 0, 8];
        circle(`latest ${hue}`, cell, [game.cells[cell][0] + right, game.cells[cell][1] + down, radius * 0.84]);
      }
      svg.append(own);
    }
    slider.value = at;
    const dice = at && game.dice.length && game.dice[at - 1].length ? ` (dice ${game.dice[at - 1].join(" and ")})` : "";
    told.textContent = at ? `Move ${at} of ${last}: ${game.movers[at - 1]} played ${game.texts[at - 1]}${dice}` :
      `The start, before ${last} ${last === 1 ? "move" : "moves"}`;
    items.forEach((item, number) => {
      if (number === at - 1) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
  }

  // what belongs to the position at the end, with the place to which it comes back
  const places = [];
  for (const shape of of_present) {
    const mark = document.createComment("");
    shape.before(mark);
    places.push([shape, mark, shape.parentNode]);
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
      if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.target.matches("input[type=text]") && event.target.value) return; // there the keys move the caret
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
    show(last);
  }

  // Tapping

  const form = document.querySelector(".tapping");
  const token = /^#(r[0-9]{1,18}-[0-9a-f]{32})$/.exec(window.location.hash);
  if (!form || !token) return;
  const line = form.querySelector("input");
  const send = form.querySelector(".send");
  const [local, host] = form.dataset.address.split(/@(?=[^@]*$)/);
  const address = `${encodeURIComponent(local)}+${token[1]}@${host}`;
  const taps = JSON.parse(form.dataset.taps);
  let tapped = [];

  function write() {
    const move = line.value.trim();
    const words = `subject=${encodeURIComponent(form.dataset.subject)}&body=${encodeURIComponent(move)}`;
    if (move) send.setAttribute("href", `mailto:${address}?${words}`);
    else send.removeAttribute("href");
  }

  function text() {
    const parts = [];
    for (const cell of tapped) {
      const same = parts.find((part) => taps.again && part.cells.length === 1 && part.cells[0] === cell);
      const open = parts.at(-1);
      if (same) same.times += 1;
      else if (open && open.cells.length < taps.cells) open.cells.push(cell);
      else parts.push({ cells: [cell], times: 1 });
    }
    return parts.map(({ cells, times }) => {
      const front = taps.occupied && positions[last][cells[0]] ? taps.occupied : "";
      return front + cells.join(taps.between) + (times > 1 ? taps.again + times : "");
    }).join(",");
  }

  if (taps) {
    svg.classList.add("can-tap");
    svg.addEventListener("click", (event) => {
      const cell = event.target.closest("[data-cell]");
      if (!cell) return;
      show(last);
      tapped.push(cell.dataset.cell);
      line.value = text();
      write();
    });
  }
  form.hidden = false;
  line.addEventListener("input", () => { tapped = []; write(); });
  form.querySelector("button").addEventListener("click", () => { tapped = []; line.value = ""; write(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  write();
})();
