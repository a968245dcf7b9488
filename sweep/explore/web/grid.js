// The rows over two columns: cells coloured by the most frequent word, by a mean, or by the number of rows; and a row with its trace.

/** Colours of numbers between two ends. */
const ramp = (part) => libraries.interpolateCividis(Math.min(Math.max(part, 0), 1));
const bytesOf = (color) => {
  const parts = color.startsWith("#") ? [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)) : color.match(/\d+/g).map(Number);
  return parts.slice(0, 3);
};
const FADED = 40; // of 255: how much is seen of cells in which no row passes the filters
const RAMP = Array.from({ length: 256 }, (_, place) => bytesOf(ramp(place / 255)));

class Grid {
  constructor(parent, board, [x, y], shade, height) {
    Object.assign(this, { board, x, y, shade, parts: null });
    this.columns = [x.name, y.name];
    this.binsX = board.bins[x.name];
    this.binsY = board.bins[y.name];
    const name = `${y.name} over ${x.name}, coloured by ${shade ? shade.name : "number of rows"}`;
    this.frame = new Frame(parent, height, { left: 58, right: 14, top: 8, bottom: 40 }, name, () => this.draw());
    this.told = element("p", { class: "told", "aria-live": "off" });
    this.legend = element("div", { class: "legend" });
    parent.append(this.legend, this.told);
    this.frame.box.addEventListener("pointerenter", (event) => event.buttons || board.data.expect(this));
    this.frame.box.addEventListener("pointermove", (event) => this.tell(event));
    this.frame.box.addEventListener("pointerleave", () => (this.told.textContent = this.hint));
    this.hint = facts.still ? "Drag selects." : "Drag selects; a click on a cell shows one of its rows.";
    this.told.textContent = this.hint;
    if (shade?.kind === "word") board.data.count(this, [x.name, y.name, shade.name]);
    else board.data.count(this, this.columns, shade?.name);
  }

  show({ rows, b0, b1, b2, total, valid }) {
    const nx = this.binsX.count, ny = this.binsY.count, size = nx * ny;
    const cells = { rows: new Float64Array(size), value: new Float64Array(size).fill(NaN), most: new Float64Array(size) };
    const sums = new Float64Array(size), parts = new Float64Array(size);
    for (let at = 0; at < b0.length; at++) {
      if (b0[at] === NONE || b1[at] === NONE) continue;
      const cell = b1[at] * nx + b0[at];
      cells.rows[cell] += rows[at];
      if (b2 && rows[at] > cells.most[cell]) {
        cells.most[cell] = rows[at];
        cells.value[cell] = b2[at];
      }
      if (total && valid[at] > 0) {
        sums[cell] += total[at];
        parts[cell] += valid[at];
        cells.value[cell] = sums[cell] / parts[cell];
      }
    }
    if (!b2 && !total) cells.rows.forEach((count, cell) => (cells.value[cell] = count || NaN));
    this.cells = cells;
    this.all ??= cells;
    this.paint();
    this.board.shown();
  }

  /** How the values of cells become colours: [colour of a value, parts of the legend]. */
  coloring() {
    if (this.shade?.kind === "word") {
      const known = new Set(this.all.value.filter((value) => !Number.isNaN(value)));
      const colors = this.shade.colors.map(bytesOf), none = bytesOf(css("--none"));
      const words = [...this.shade.words.map((word, code) => [word, code]), ["no value", NONE]].filter(([, code]) => known.has(code));
      return [(code) => colors[code] ?? none, words.map(([word, code]) => ({ word, color: colors[code] ?? none }))];
    }
    const values = (this.shade ? this.all : this.cells).value.filter((value) => !Number.isNaN(value));
    let low = values.reduce((least, each) => Math.min(least, each), Infinity), high = values.reduce((most, each) => Math.max(most, each), -Infinity);
    if (!(low <= high)) [low, high] = [0, 1];
    const log = this.shade ? this.board.bins[this.shade.name]?.log && low > 0 : low > 0 && high / low > 20;
    const part = log ? (value) => Math.log(value / low) / Math.log(high / low || 1) : (value) => (value - low) / (high - low || 1);
    return [(value) => RAMP[Math.round(255 * Math.min(Math.max(part(value) || 0, 0), 1))], { low, high, log }];
  }

  draw() {
    if (!this.frame.width) return;
    const root = this.frame.clear(), { left, right, top, bottom, width, height } = this.frame.inner;
    this.scaleX = scaleOf(this.binsX, [left, right]);
    this.scaleY = scaleOf(this.binsY, [bottom, top]);
    root.append("g").attr("class", "axis").attr("transform", `translate(0,${bottom})`).call(axisOf(libraries.axisBottom, this.scaleX, this.binsX, width));
    root.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(axisOf(libraries.axisLeft, this.scaleY, this.binsY, height));
    const names = root.append("g").attr("class", "names");
    names.append("text").attr("x", (left + right) / 2).attr("y", this.frame.height - 6).attr("text-anchor", "middle").text(label(this.x));
    names.append("text").attr("transform", `translate(12,${(top + bottom) / 2}) rotate(-90)`).attr("text-anchor", "middle").text(label(this.y));
    this.brush = libraries.brush().extent([[left, top], [right, bottom]]).on("brush end", (event) => this.take(event));
    this.group = root.append("g").attr("class", "brush").call(this.brush);
    this.place();
    this.paint();
  }

  paint() {
    if (!this.cells || !this.frame.width) return;
    const nx = this.binsX.count, ny = this.binsY.count, { left, top, width, height } = this.frame.inner;
    const [colorOf, legend] = this.coloring(), none = bytesOf(css("--none")), image = new ImageData(nx, ny);
    for (let y = 0; y < ny; y++) {
      for (let x = 0; x < nx; x++) {
        const cell = y * nx + x, at = 4 * ((ny - 1 - y) * nx + x);
        if (!this.all.rows[cell]) continue;
        const there = this.cells.rows[cell] > 0, value = (there ? this.cells : this.all).value[cell];
        image.data.set([...(Number.isNaN(value) ? none : colorOf(value)), there ? 255 : FADED], at);
      }
    }
    this.image ??= document.createElement("canvas");
    Object.assign(this.image, { width: nx, height: ny });
    this.image.getContext("2d").putImageData(image, 0, 0);
    const pen = sharpen(this.frame.canvas, this.frame.width, this.frame.height);
    pen.clearRect(0, 0, this.frame.width, this.frame.height);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.image, left, top, width, height);
    this.explain(legend);
  }

  explain(legend) {
    const text = JSON.stringify(legend);
    if (text === this.explained) return;
    this.explained = text;
    if (Array.isArray(legend)) {
      this.legend.replaceChildren(...legend.map(({ word, color }) => {
        const swatch = element("i", { class: "swatch" });
        swatch.style.background = `rgb(${color})`;
        return element("span", {}, swatch, word);
      }));
      return;
    }
    const what = this.shade ? `mean of ${label(this.shade)}` : "rows in a cell";
    this.legend.replaceChildren(element("span", {}, `${what}${legend.log ? " (logarithmic)" : ""}: ${asNumber(legend.low)}`, element("i", { class: "ramp" }), asNumber(legend.high)));
  }

  cellAt(event) {
    const box = this.frame.box.getBoundingClientRect(), { left, top, width, height } = this.frame.inner;
    const x = Math.floor(((event.clientX - box.left - left) / width) * this.binsX.count);
    const y = Math.floor((1 - (event.clientY - box.top - top) / height) * this.binsY.count);
    return x >= 0 && y >= 0 && x < this.binsX.count && y < this.binsY.count ? [x, y] : null;
  }

  tell(event) {
    const at = this.cells && this.cellAt(event);
    if (!at) return;
    const cell = at[1] * this.binsX.count + at[0], range = (column, bins, code) =>
      `${column.name} ${asNumber(edge(bins, code))} to ${asNumber(edge(bins, code + 1))}${column.unit ? ` ${unitOf(column)}` : ""}`;
    const count = this.cells.rows[cell], value = this.cells.value[cell];
    let what = "";
    if (count && this.shade?.kind === "word") {
      what = `; ${this.shade.words[value] ?? "no value"} ${whole(Math.round((100 * this.cells.most[cell]) / count))} %`;
    } else if (count && this.shade) what = `; mean ${this.shade.name} ${asNumber(value)} ${unitOf(this.shade)}`;
    this.told.textContent = `${range(this.x, this.binsX, at[0])}; ${range(this.y, this.binsY, at[1])}; ${whole(count)} row${count === 1 ? "" : "s"}${what}`;
  }

  take({ selection, type, sourceEvent }) {
    if (!sourceEvent) return;
    if (!selection) {
      const had = this.parts;
      this.set(null);
      const at = !had && type === "end" && this.cellAt(sourceEvent);
      if (at) this.board.pick(this.columns, at);
      return;
    }
    const { left, top, width, height } = this.frame.inner, [[x0, y0], [x1, y1]] = selection;
    const span = (from, to, count) => {
      const first = Math.min(Math.max(Math.floor(from * count + 0.5), 0), count - 1);
      return [first, Math.min(Math.max(Math.ceil(to * count - 0.5) - 1, first), count - 1)];
    };
    this.set([
      span((x0 - left) / width, (x1 - left) / width, this.binsX.count),
      span(1 - (y1 - top) / height, 1 - (y0 - top) / height, this.binsY.count),
    ]);
    if (type === "end") this.place();
  }

  set(parts) {
    if (JSON.stringify(parts) === JSON.stringify(this.parts)) return;
    this.parts = parts;
    this.board.filtered(this);
  }

  clear() {
    this.parts = null;
    this.place();
  }

  place() {
    if (!this.group) return;
    const [x, y] = this.parts ?? [];
    const at = (scale, bins, place) => scale(edge(bins, place));
    this.group.call(this.brush.move, this.parts && [
      [at(this.scaleX, this.binsX, x[0]), at(this.scaleY, this.binsY, y[1] + 1)],
      [at(this.scaleX, this.binsX, x[1] + 1), at(this.scaleY, this.binsY, y[0])],
    ]);
  }

  describe() {
    const [x, y] = this.parts, range = (column, bins, [first, last]) => `${column.name} ${asNumber(edge(bins, first))} to ${asNumber(edge(bins, last + 1))}`;
    return `${range(this.x, this.binsX, x)}, ${range(this.y, this.binsY, y)}`;
  }
}
