// The views: a histogram, a grid of two columns, a list of words, a table of rows, a trace. Each shows counts by bins that `Live` gives it.

const NONE = 255;
const plain = (digits) => {
  const usual = libraries.format(`.${digits}~r`), extreme = libraries.format(`.${digits}~e`);
  return (value) => (value === 0 || (Math.abs(value) >= 1e-4 && Math.abs(value) < 1e7) ? usual : extreme)(value);
};
const short = plain(5), long = plain(7), whole = libraries.format(",d");
const told = (form) => (value) => (value === null || value === undefined || Number.isNaN(value) ? "-" : form(value).replace("−", "-"));
const asNumber = told(short), asDigits = told(long);
const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const unitOf = ({ unit }) => unit.replace(/^\[|\]$/g, "").replace(/\^(-?\d+)/g, (_, power) => Array.from(power, (digit) => RAISED[digit]).join(""));
const label = (column) => (column.unit ? `${column.name} [${unitOf(column)}]` : column.name);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function element(kind, attributes = {}, ...children) {
  const made = document.createElement(kind);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const edge = ({ low, width, log }, place) => (log ? 10 ** (low + width * place) : low + width * place);
const placeOf = ({ low, width, log }, value) => ((log ? Math.log10(value) : value) - low) / width;

function scaleOf(bins, range) {
  const scale = (bins.log ? libraries.scaleLog() : libraries.scaleLinear()).domain([edge(bins, 0), edge(bins, bins.count)]);
  return scale.range(range);
}

function axisOf(kind, scale, bins, room) {
  const ticks = Math.max(2, Math.floor(room / 70));
  return kind(scale).ticks(ticks).tickFormat(bins?.log ? scale.tickFormat(ticks, asNumber) : asNumber).tickSizeOuter(0);
}

/** Give a canvas the size of its element in the pixels of the screen. */
function sharpen(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}

/** A frame with a canvas below and axes with a brush above it, drawn again whenever its width changes. */
class Frame {
  constructor(parent, height, margin, name, redraw) {
    this.margin = margin;
    this.height = height;
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.svg.setAttribute("role", "img");
    this.svg.setAttribute("aria-label", name);
    this.box = element("div", { class: "frame" }, this.canvas, this.svg);
    this.box.style.height = `${height}px`;
    parent.append(this.box);
    new ResizeObserver(() => {
      const width = this.box.clientWidth;
      if (width && width !== this.width) {
        this.width = width;
        redraw();
      }
    }).observe(this.box);
  }

  get inner() {
    const { left, right, top, bottom } = this.margin;
    return { left, top, right: this.width - right, bottom: this.height - bottom, width: this.width - left - right, height: this.height - top - bottom };
  }

  clear() {
    this.svg.setAttribute("width", this.width);
    this.svg.setAttribute("height", this.height);
    const root = libraries.select(this.svg);
    root.selectAll("g").remove();
    return root;
  }
}

class Histogram {
  constructor(parent, board, column) {
    this.board = board;
    this.column = column;
    this.columns = [column.name];
    this.bins = board.bins[column.name];
    this.parts = null;
    const title = element("h2", { title: column.about }, label(column));
    const remove = element("button", { type: "button", class: "quiet", "aria-label": `Remove the histogram of ${column.name}`, onclick: () => board.remove(column.name) }, "×");
    const log = element("label", { class: "check" }, element("input", {
      type: "checkbox", checked: this.bins.log, disabled: !column.positive, "aria-label": `Logarithmic scale of ${column.name}`,
      onchange: (event) => board.scale(column.name, event.target.checked),
    }), "log");
    this.card = element("div", { class: "card tile", role: "group", "aria-label": column.name }, element("div", { class: "head" }, title, log, remove));
    parent.append(this.card);
    this.frame = new Frame(this.card, 148, { left: 8, right: 8, top: 6, bottom: 22 }, `Histogram of ${column.name}`, () => this.draw());
    const limit = (which) => element("input", { type: "text", inputmode: "decimal", "aria-label": `${column.name} ${which}`, onchange: () => this.read() });
    this.from = limit("from");
    this.to = limit("to");
    this.without = element("span", { class: "soft" });
    this.card.append(element("div", { class: "limits" }, this.from, "to", this.to, this.without));
    this.frame.box.addEventListener("pointerenter", (event) => event.buttons || board.data.expect(this));
    this.card.addEventListener("focusin", () => board.data.expect(this));
    board.data.count(this, this.columns);
    this.write();
  }

  show({ rows, b0 }) {
    this.counts = new Float64Array(this.bins.count);
    this.none = 0;
    b0.forEach((code, place) => {
      if (code === NONE) this.none = rows[place];
      else this.counts[code] += rows[place];
    });
    this.all ??= this.counts;
    this.paint();
    this.board.shown();
  }

  draw() {
    if (!this.frame.width) return;
    const root = this.frame.clear(), { left, right, top, bottom, width } = this.frame.inner;
    this.x = scaleOf(this.bins, [left, right]);
    root.append("g").attr("class", "axis").attr("transform", `translate(0,${bottom})`).call(axisOf(libraries.axisBottom, this.x, this.bins, width));
    this.brush = libraries.brushX().extent([[left, top], [right, bottom]]).on("brush end", (event) => {
      if (event.sourceEvent) this.take(event.selection, event.type === "end");
    });
    this.group = root.append("g").attr("class", "brush").call(this.brush);
    this.place();
    this.paint();
  }

  paint() {
    if (!this.counts || !this.frame.width) return;
    const { left, width, bottom, height } = this.frame.inner, pen = sharpen(this.frame.canvas, this.frame.width, this.frame.height);
    const total = (counts) => counts.reduce((sum, each) => sum + each, 0);
    const most = Math.max(...this.counts, 1), part = total(this.all) ? total(this.counts) / total(this.all) : 0, step = width / this.bins.count;
    const gap = step > 4 ? 1 : 0;
    const bars = (counts, factor, color) => {
      pen.fillStyle = color;
      counts.forEach((count, place) => {
        const size = Math.min((count * factor) / most, 1) * height;
        if (count) pen.fillRect(left + place * step, bottom - Math.max(size, 1), Math.max(step - gap, 0.7), Math.max(size, 1));
      });
    };
    pen.clearRect(0, 0, this.frame.width, this.frame.height);
    if (part < 1) bars(this.all, part, css("--pale"));
    bars(this.counts, 1, css("--bar"));
    this.without.textContent = this.none ? `${whole(this.none)} without` : "";
  }

  /** Where the brush of the pointer is, in bins. */
  take(selection, ended) {
    const parts = selection && [[0, 1].map((side) => {
      const { left, width } = this.frame.inner, place = ((selection[side] - left) / width) * this.bins.count;
      return side ? Math.max(Math.ceil(place - 0.5) - 1, 0) : Math.floor(place + 0.5);
    })];
    if (parts) parts[0] = [Math.min(parts[0][0], this.bins.count - 1), Math.max(Math.min(parts[0][1], this.bins.count - 1), Math.min(parts[0][0], this.bins.count - 1))];
    this.set(parts);
    if (ended) this.place();
  }

  set(parts) {
    if (JSON.stringify(parts) === JSON.stringify(this.parts)) return;
    this.parts = parts;
    this.write();
    this.board.filtered(this);
  }

  clear() {
    this.parts = null;
    this.write();
    this.place();
  }

  /** Move the brush to the bins that it selects. */
  place() {
    if (!this.group) return;
    const side = (place) => this.x(edge(this.bins, place));
    this.group.call(this.brush.move, this.parts ? [side(this.parts[0][0]), side(this.parts[0][1] + 1)] : null);
  }

  write() {
    const [first, last] = this.parts?.[0] ?? [0, this.bins.count - 1];
    this.from.value = asNumber(edge(this.bins, first));
    this.to.value = asNumber(edge(this.bins, last + 1));
  }

  /** Take the limits that were typed; the bins that lie within them are selected. */
  read() {
    const [low, high] = [this.from, this.to].map((field) => Number(field.value.replace(",", ".")));
    if (Number.isFinite(low) && Number.isFinite(high) && low <= high && (!this.bins.log || high > 0)) {
      const nearest = (value) => Math.round(placeOf(this.bins, this.bins.log ? Math.max(value, 1e-300) : value));
      const first = Math.min(Math.max(nearest(low), 0), this.bins.count - 1), last = Math.min(Math.max(nearest(high) - 1, first), this.bins.count - 1);
      this.set([[first, last]]);
    }
    this.write();
    this.place();
  }

  describe() {
    const [first, last] = this.parts[0];
    return `${this.column.name} ${asNumber(edge(this.bins, first))} to ${asNumber(edge(this.bins, last + 1))}`;
  }
}

class Words {
  constructor(parent, board, column) {
    this.board = board;
    this.column = column;
    this.columns = [column.name];
    this.picks = true;
    this.parts = null;
    const remove = element("button", { type: "button", class: "quiet", "aria-label": `Remove ${column.name}`, onclick: () => board.remove(column.name) }, "×");
    this.list = element("ul", { class: "words" });
    this.card = element("div", { class: "card tile", role: "group", "aria-label": column.name },
      element("div", { class: "head" }, element("h2", { title: column.about }, column.name), remove), this.list);
    parent.append(this.card);
    this.buttons = [...column.words, "no value"].map((word, place) => {
      const code = place < column.words.length ? place : NONE;
      const swatch = element("i", { class: "swatch" }), amount = element("span", { class: "amount" }), bar = element("i", { class: "fill" });
      swatch.style.background = column.colors[place] ?? "transparent";
      const button = element("button", { type: "button", "aria-pressed": "false", onclick: () => this.toggle(code) }, bar, swatch, element("span", { class: "word" }, word), amount);
      this.list.append(element("li", {}, button));
      return { code, button, amount, bar };
    });
    this.card.addEventListener("pointerenter", (event) => event.buttons || board.data.expect(this));
    this.card.addEventListener("focusin", () => board.data.expect(this));
    board.data.count(this, this.columns);
  }

  show({ rows, b0 }) {
    this.counts = new Map(Array.from(b0, (code, place) => [code, rows[place]]));
    const first = !this.known;
    this.known ??= this.counts;
    this.paint();
    if (first || this.known.size) this.board.shown();
  }

  draw() {
    if (this.counts) this.paint();
  }

  paint() {
    const most = Math.max(...this.counts.values(), 1);
    for (const { code, button, amount, bar } of this.buttons) {
      const count = this.counts.get(code) ?? 0;
      button.parentElement.hidden = !this.known.has(code);
      amount.textContent = whole(count);
      bar.style.width = `${(100 * count) / most}%`;
      button.setAttribute("aria-pressed", String(this.parts?.includes(code) ?? false));
    }
  }

  toggle(code) {
    const chosen = new Set(this.parts ?? []);
    if (!chosen.delete(code)) chosen.add(code);
    this.parts = chosen.size ? [...chosen].sort((a, b) => a - b) : null;
    this.paint();
    this.board.filtered(this);
  }

  set(parts) {
    this.parts = parts;
    if (this.counts) this.paint();
    this.board.filtered(this);
  }

  clear() {
    this.parts = null;
    if (this.counts) this.paint();
  }

  describe() {
    return `${this.column.name}: ${this.parts.map((code) => this.column.words[code] ?? "no value").join(" or ")}`;
  }
}
