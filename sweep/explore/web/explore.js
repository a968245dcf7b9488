// The board of all views: what they show, their filters, and what is said about them.

const facts = JSON.parse(document.getElementById("facts").textContent);
const at = (id) => document.getElementById(id);

function complain(error) {
  at("problem").textContent = `This could not be shown: ${error?.cause?.message ?? error?.message ?? error}`;
  at("problem").hidden = false;
}

/** Say that the counts for a brush are being prepared. */
function busy(now) {
  at("busy").hidden = !now;
}

class Board {
  constructor() {
    this.columns = new Map(facts.columns.map((column) => [column.name, column]));
    this.able = facts.columns.filter((column) => column.varies);
    this.numbers = this.able.filter((column) => column.kind !== "word");
    const { x, y, shade, across, up, histograms, words } = facts.first;
    this.state = { x, y, shade: shade ?? "", across, up, tint: "", shown: [...histograms, ...words], logarithmic: {}, all: false };
    this.filters = new Map();
    this.waiting = 0;
    at("clear").addEventListener("click", () => this.clear());
    at("all-rows").addEventListener("click", () => this.choose(!this.state.all));
    this.trace = new Trace(at("trace"), this);
    this.controls();
    this.describe();
  }

  describe() {
    const { rows, points, every, checked, complete } = facts;
    at("about").textContent = `${facts.directory}: ${whole(rows)} rows${complete ? "" : ` so far, of ${whole(points)} points; the run is not complete`}; ${checked}.`;
    const held = facts.columns.filter((column) => !column.varies && column.held !== null && column.name !== "scheme");
    const swept = facts.columns.filter((column) => column.swept).map((column) => column.name);
    const given = held.filter((column) => column.kind === "word" || Number.isFinite(column.held)).map((column) =>
      `${column.name} = ${typeof column.held === "number" ? asNumber(column.held) : column.held}${column.unit ? ` ${unitOf(column)}` : ""}`);
    at("held").textContent = `${swept.length ? `Varied: ${swept.join(", ")}. ` : ""}${given.length ? `The same in all rows: ${given.join(", ")}.` : ""}`;
    at("notes").textContent = "Brushes snap to the bins that are drawn. Pale bars: all rows, scaled to the same total; faded cells: no row passes the filters there. A range keeps rows with a value in it, even where it is around all values; rows without a value pass where no range is selected.";
  }

  controls() {
    const choice = (title, key, options) => {
      const made = element("select", { onchange: (event) => { this.state[key] = event.target.value; this.build(); } },
        ...options.map(([value, text]) => element("option", { value, selected: value === this.state[key] }, text)));
      return element("label", {}, title, made);
    };
    document.body.classList.toggle("still", Boolean(facts.still));
    const numbers = this.numbers.map((column) => [column.name, label(column)]);
    const shaded = this.able.filter((column) => column.kind === "word" || !facts.still || facts.means.includes(column.name));
    const shades = [["", "number of rows"], ...shaded.map((column) => [column.name, column.kind === "word" ? `most frequent ${column.name}` : `mean of ${label(column)}`])];
    at("map").append(element("div", { class: "controls" }, choice("Across", "x", numbers), choice("Up", "y", numbers), choice("Colour", "shade", shades)));
    at("density").append(element("div", { class: "controls" }, choice("Across", "across", numbers), choice("Up", "up", numbers), choice("Colour", "tint", shades)));
    this.places = Object.fromEntries(["map", "density", "table"].map((name) => [name, at(name).appendChild(element("div"))]));
    this.adding = element("select", { id: "add", onchange: (event) => event.target.value && this.add(event.target.value) });
    at("histograms").before(element("div", { class: "controls add" }, element("label", {}, "Add a column", this.adding)));
  }

  /** Make all views of the chosen columns, and keep the filters of those that stay. */
  async build() {
    const { x, y, shade, across, up, tint, shown, logarithmic } = this.state, before = this.views ?? [];
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const kept = new Map(before.filter((view) => view.parts).map((view) => [view.key, { parts: view.parts, bins: JSON.stringify(view.columns.map((name) => this.bins[name])) }]));
    const names = [...new Set([...shown, x, y, shade, across, up, tint].filter(Boolean))];
    const means = [...new Set([shade, tint].filter((name) => name && this.columns.get(name).kind !== "word"))];
    const data = facts.still ? new Still() : new Live();
    try {
      this.begun = performance.now();
      const bins = await data.prepare(names, means, logarithmic);
      if (this.state.all && facts.every > 1) await data.all((done, of) => turn === this.turn && this.say(`Counting all rows: ${done} of ${of} shards are read ...`));
      if (turn !== this.turn) return;
      this.data?.close();
      Object.assign(this, { data, bins });
      this.fill();
      await Promise.all(data.clients.map((client) => client.pending)); // each view has shown all rows before any filter
      if (turn === this.turn) this.restore(kept);
    } catch (error) {
      if (turn === this.turn) complain(error);
    }
  }

  /** Show the sample or all rows. */
  choose(all) {
    this.state.all = all;
    this.build();
  }

  /** Say which rows are shown. */
  say(what) {
    const sample = `one row in ${whole(facts.every)}, chosen by a hash of its number`;
    const shown = facts.still ? facts.still : facts.every === 1 ? "All rows are shown." : this.state.all
      ? `All rows are counted. The table lists rows of the sample: ${sample}.` : `A sample is shown: ${sample}.`;
    at("which").textContent = what ?? shown;
    at("all-rows").hidden = facts.every === 1;
    at("all-rows").textContent = this.state.all ? "Show the sample" : "Count all rows";
  }

  fill() {
    this.rows = undefined;
    this.say();
    const { x, y, shade, across, up, tint, shown } = this.state, column = (name) => this.columns.get(name);
    Object.values(this.places).forEach((place) => place.replaceChildren());
    at("histograms").replaceChildren();
    this.views = [];
    const put = (key, view) => this.views.push(Object.assign(view, { key }));
    if (x && y) put("map", new Grid(this.places.map, this, [column(x), column(y)], column(shade), 420));
    if (across && up) put("density", new Grid(this.places.density, this, [column(across), column(up)], column(tint), 420));
    for (const name of shown) put(name, new (column(name).kind === "word" ? Words : Histogram)(at("histograms"), this, column(name)));
    if (!facts.still) this.table = new RowsTable(this.places.table, this, [...new Set([x, y, ...shown])].filter(Boolean).map(column));
    this.total = { show: ({ rows }) => this.tell(rows[0] ?? 0) };
    this.data.count(this.total, []);
    const free = this.able.filter(({ name }) => !shown.includes(name));
    this.adding.replaceChildren(element("option", { value: "" }, "..."), ...free.map((each) => element("option", { value: each.name }, label(each))));
    this.adding.parentElement.hidden = !free.length;
    this.list();
  }

  /** Set the filters again that views of the same columns and bins had. */
  restore(kept) {
    for (const view of this.views) {
      const old = kept.get(view.key);
      if (old && (view.picks || old.bins === JSON.stringify(view.columns.map((name) => this.bins[name])))) {
        view.set(old.parts);
        view.draw();
      }
    }
  }

  tell(rows) {
    this.rows ??= rows;
    const share = this.rows ? (100 * rows) / this.rows : 0;
    const what = facts.every > 1 && !this.state.all ? "sampled rows" : "rows";
    at("count").textContent = `${whole(rows)} of ${whole(this.rows)} ${what}${rows === this.rows ? "" : ` (${share >= 10 ? Math.round(share) : share.toPrecision(2)} %)`}`;
    document.body.dataset.rows = rows;
    this.shown();
  }

  /** A view has shown something: says so to who measures. */
  shown() {
    document.body.dataset.shown = performance.now().toFixed(1);
    document.body.dataset.views = Number(document.body.dataset.views ?? 0) + 1;
  }

  filtered(view) {
    document.body.dataset.filtered = performance.now().toFixed(1);
    this.data.filter(view, view.parts);
    this.list();
  }

  list() {
    const active = this.views.filter((view) => view.parts);
    at("clear").disabled = !active.length;
    at("filters").replaceChildren(...active.map((view) => element("li", {}, element("button", {
      type: "button", "aria-label": `Remove the filter ${view.describe()}`, onclick: () => { view.clear(); this.filtered(view); at("clear").focus(); },
    }, view.describe(), element("span", { "aria-hidden": "true" }, " ×")))));
  }

  clear() {
    for (const view of this.views.filter((each) => each.parts)) {
      view.clear();
      this.data.filter(view, null);
    }
    this.list();
    this.views[0]?.frame?.box.scrollIntoView({ block: "nearest" });
  }

  add(name) {
    this.state.shown.push(name);
    this.build();
  }

  remove(name) {
    this.state.shown = this.state.shown.filter((each) => each !== name);
    this.build();
  }

  scale(name, logarithmic) {
    this.state.logarithmic[name] = logarithmic;
    this.build();
  }

  async pick(names, codes) {
    if (facts.still) return;
    try {
      const point = await this.data.pointIn(names, codes);
      if (point !== undefined) this.open(point);
    } catch (error) {
      complain(error);
    }
  }

  open(point) {
    this.trace.open(point);
    at("trace").scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  paint() {
    this.views?.forEach((view) => view.draw());
    this.trace.paint();
  }
}

const board = new Board();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => board.paint());
board.build();
