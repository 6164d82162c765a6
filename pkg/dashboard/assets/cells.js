// The grid of workers: one canvas, since thousands of elements would take longer than a frame to lay out. For those who
// do not see it, the grid names the cell that has the focus, as an element of its own.

// A state has a shape, which is told from others without colour, and words.
const states = {
  Running: ["full", "running"], Succeeded: ["dot", "succeeded"], HeldAtBarrier: ["ring", "held at the barrier"],
  NotReported: ["half", "not reported"], Restarting: ["half", "restarting"], Waiting: ["half", "waiting"], Starting: ["half", "starting"],
  NoPod: ["empty", "without a Pod"], Unscheduled: ["empty", "without a node"], Terminating: ["slash", "terminating"],
  Failed: ["cross", "failed"], Blocked: ["cross", "blocked"], NodeSilent: ["cross", "node silent"],
  InvalidEpoch: ["cross", "invalid epoch"], Crowded: ["cross", "several Pods"],
};
const shapeOf = (state) => (states[state] ?? ["cross"])[0];
export const words = (state) => (states[state] ?? ["", state])[1];
const runs = (cell) => ["Running", "Succeeded", "HeldAtBarrier"].includes(cell.s);
const tones = 4;
// perFrame bounds how many cells are painted in a frame, so that none takes long when thousands change at once.
const perFrame = 1500;

// Colours are those of the style sheet, so that it alone knows light and dark.
function palette() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return { tone: [...Array(tones).keys()].map((i) => of(`--tone${i}`)), none: of("--none"), bad: of("--bad"), onBad: of("--on-bad"), paper: of("--paper") };
}

const gapOf = (size) => Math.max(1, Math.round(size / 9));

// draw paints a cell of a shape into a square of so many pixels.
function draw(context, colours, shape, tone, x, y, size) {
  const s = size - gapOf(size), line = Math.max(1, s / 8);
  const colour = shape === "cross" ? colours.bad : tone < 0 ? colours.none : colours.tone[tone];
  context.fillStyle = context.strokeStyle = colour;
  context.lineWidth = line;
  const stroke = (points, style) => {
    context.strokeStyle = style;
    context.beginPath();
    for (const [a, b] of points) context.lineTo(x + a * s, y + b * s);
    context.stroke();
  };
  if (shape === "empty" || shape === "slash" || shape === "half") context.strokeRect(x + line / 2, y + line / 2, s - line, s - line);
  else if (shape !== "dot") context.fillRect(x, y, s, s);
  if (shape === "ring") { context.fillStyle = colours.paper; context.fillRect(x + s * .3, y + s * .3, s * .4, s * .4); }
  if (shape === "dot") context.fillRect(x + s * .3, y + s * .3, s * .4, s * .4);
  if (shape === "slash") stroke([[0, 1], [1, 0]], colour);
  if (shape === "half") { context.beginPath(); context.moveTo(x, y); context.lineTo(x, y + s); context.lineTo(x + s, y + s); context.fill(); }
  if (shape === "cross") {
    context.lineWidth = Math.max(1, s / 6);
    stroke([[.2, .2], [.8, .8]], colours.onBad);
    stroke([[.8, .2], [.2, .8]], colours.onBad);
  }
}

const toneOf = (epoch) => (epoch ? epoch % tones : -1);

export class Cells {
  constructor(grid, about) {
    Object.assign(this, { grid, about, cells: [], active: 0, dirty: new Set(), sprites: new Map(), samples: new Map() });
    this.canvas = grid.querySelector("canvas");
    this.mark = grid.querySelector("#mark");
    this.row = grid.querySelector("#row");
    this.colours = palette();
    new ResizeObserver(() => this.layOut()).observe(grid);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.layOut());
    grid.addEventListener("keydown", (event) => this.key(event));
    grid.addEventListener("focus", () => this.choose(this.active));
    this.canvas.addEventListener("pointermove", (event) => this.tell(this.at(event)));
    this.canvas.addEventListener("pointerleave", () => this.tell(this.active));
    this.canvas.addEventListener("click", (event) => { this.choose(this.at(event)); grid.focus({ preventScroll: true }); });
  }

  // change takes a new size, if there is one, and the cells that changed.
  change(size, changed) {
    if (size !== undefined && size !== this.cells.length) {
      this.cells.length = size;
      this.dirty.clear();
      this.width = 0; // lay out again
    }
    for (const i in changed) { this.cells[i] = changed[i]; this.dirty.add(+i); }
    if (!this.width) this.layOut();
    else this.redraw();
    if (!changed || !(this.active in changed)) return;
    this.choose(this.active);
  }

  forget() { this.cells = []; this.active = 0; this.dirty.clear(); this.mark.hidden = true; this.width = 0; }

  // counts are how many cells there are of each state and of each epoch.
  counts() {
    const state = new Map(), epoch = new Map();
    for (const cell of this.cells) {
      state.set(cell.s, (state.get(cell.s) ?? 0) + 1);
      if (cell.e) epoch.set(cell.e, (epoch.get(cell.e) ?? 0) + 1);
    }
    return { state, epoch };
  }

  layOut() {
    const width = this.grid.clientWidth, n = this.cells.length;
    if (!width || !n) { this.canvas.height = 0; return; }
    this.size = Math.max(6, Math.min(30, Math.floor(Math.sqrt(width * 460 / n))));
    let columns = Math.max(1, Math.min(n, Math.floor(width / this.size)));
    if (columns > 20 && columns < n) columns -= columns % 10; // so that places can be counted
    const rows = Math.ceil(n / columns), ratio = devicePixelRatio || 1;
    Object.assign(this, { width, columns, rows, ratio, colours: palette() });
    this.sprites.clear();
    this.samples.clear();
    this.canvas.width = columns * this.size * ratio;
    this.canvas.height = rows * this.size * ratio;
    this.canvas.style.width = `${columns * this.size}px`;
    this.grid.setAttribute("aria-rowcount", rows);
    this.grid.setAttribute("aria-colcount", columns);
    this.dirty = new Set(this.cells.keys());
    this.redraw();
    if (!this.mark.hidden) this.choose(this.active);
  }

  redraw() {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      const context = this.canvas.getContext("2d"), side = this.size * this.ratio;
      let left = perFrame;
      for (const i of this.dirty) {
        if (!left--) return this.redraw();
        this.dirty.delete(i);
        const x = (i % this.columns) * side, y = Math.floor(i / this.columns) * side;
        context.clearRect(x, y, side, side);
        context.drawImage(this.sprite(shapeOf(this.cells[i].s), toneOf(this.cells[i].e), side), x, y);
      }
    });
  }

  sprite(shape, tone, side) {
    const key = `${shape} ${tone} ${side}`;
    if (!this.sprites.has(key)) {
      const canvas = Object.assign(document.createElement("canvas"), { width: side, height: side });
      draw(canvas.getContext("2d"), this.colours, shape, tone, 0, 0, side);
      this.sprites.set(key, canvas);
    }
    return this.sprites.get(key);
  }

  // sample is the picture of an entry of a legend, each of which has its own. A state is shown in the first epoch's tone, an
  // epoch as running.
  sample(entry, state, epoch) {
    const tone = ["NoPod", "Unscheduled", "Succeeded"].includes(state) ? -1 : toneOf(epoch), key = `${entry} ${tone}`;
    if (!this.samples.has(key)) {
      if (this.samples.size > 100) this.samples.clear(); // epochs that are long gone
      const canvas = Object.assign(document.createElement("canvas"), { width: 32, height: 32 });
      canvas.setAttribute("aria-hidden", "true");
      draw(canvas.getContext("2d"), this.colours, shapeOf(state), tone, 0, 0, 32);
      this.samples.set(key, canvas);
    }
    return this.samples.get(key);
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.min(this.columns - 1, Math.floor((event.clientX - box.left) / this.size));
    return Math.min(this.cells.length - 1, Math.max(0, Math.floor((event.clientY - box.top) / this.size) * this.columns + column));
  }

  text(i) {
    const c = this.cells[i];
    if (!c) return "";
    return `${c.w}: ${words(c.s)}` + (c.e ? `, epoch ${c.e}` : "") + (c.n ? `, on ${c.n}` : "") + (c.m ? `: ${c.m}` : "");
  }

  tell(i) { this.about.textContent = this.text(i); }

  // choose gives a cell the focus of the grid.
  choose(i) {
    if (!this.cells.length) return;
    this.active = i = Math.max(0, Math.min(this.cells.length - 1, i));
    const row = Math.floor(i / this.columns), column = i % this.columns, text = this.text(i);
    let cell = this.row.firstElementChild;
    if (!cell || cell.id !== `cell-${i}`) {
      cell = Object.assign(document.createElement("div"), { id: `cell-${i}` });
      cell.setAttribute("role", "gridcell");
      cell.setAttribute("aria-colindex", column + 1);
      this.row.setAttribute("aria-rowindex", row + 1);
      this.row.replaceChildren(cell);
    }
    cell.setAttribute("aria-label", text);
    this.grid.setAttribute("aria-activedescendant", cell.id);
    const side = `${this.size - gapOf(this.size) + 6}px`;
    Object.assign(this.mark.style, { left: `${column * this.size - 3}px`, top: `${row * this.size - 3}px`, width: side, height: side });
    this.mark.hidden = false;
    this.tell(i);
  }

  key(event) {
    const n = this.cells.length, page = this.columns * 10;
    // Those that failed come first: while a group restarts, no worker runs.
    const next = () => {
      for (const wanted of [(cell) => shapeOf(cell.s) === "cross", (cell) => !runs(cell)])
        for (let k = 1; k <= n; k++) if (wanted(this.cells[(this.active + k) % n])) return (this.active + k) % n;
      return this.active;
    };
    const moves = {
      ArrowRight: () => this.active + 1, ArrowLeft: () => this.active - 1, ArrowDown: () => this.active + this.columns, ArrowUp: () => this.active - this.columns,
      PageDown: () => this.active + page, PageUp: () => this.active - page, Home: () => 0, End: () => n - 1, n: next, N: next,
    };
    const move = moves[event.key];
    if (!move || !n || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const to = move();
    const vertical = event.key === "ArrowDown" || event.key === "ArrowUp";
    this.choose(vertical && (to < 0 || to >= n) ? this.active : to);
    this.mark.scrollIntoView({ block: "nearest" });
  }

  // find chooses the worker of a name.
  find(name) {
    const i = this.cells.findIndex((cell) => cell.w === name);
    if (i < 0) return;
    this.choose(i);
    this.grid.focus();
  }
}
