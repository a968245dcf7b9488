// The table of rows that pass the filters, and one row with its trace.

const MOST_ROWS = 40;
const asCell = (value, form = asNumber, counted = false) => {
  if (value === null || value === undefined) return "-";
  if (typeof value === "bigint" || counted) return whole(Number(value));
  if (typeof value === "number") return form(value);
  if (typeof value === "string") return value;
  return Array.from(value, form).join("; ");
};

class RowsTable {
  constructor(parent, board, columns) {
    Object.assign(this, { board, columns, order: "point", down: false });
    this.head = element("tr");
    this.body = element("tbody");
    this.caption = element("p", { class: "soft" });
    const table = element("table", {}, element("thead", {}, this.head), this.body);
    parent.append(this.caption, element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows that pass the filters" }, table));
    this.names = columns.map((column) => column.name);
    this.query();
  }

  query() {
    if (this.client) this.client.destroy();
    this.head.replaceChildren(...[{ name: "point", unit: "", about: "number of the point; a click shows its row and trace" }, ...this.columns].map((column) => {
      const chosen = column.name === this.order;
      const sort = element("button", { type: "button", title: column.about, onclick: () => this.sort(column.name) }, label(column), chosen ? (this.down ? " ▾" : " ▴") : "");
      return element("th", { scope: "col", "aria-sort": chosen ? (this.down ? "descending" : "ascending") : "none" }, sort);
    }));
    this.board.data.list(this, this.names, (column, desc) => {
      const by = column(this.order);
      return [this.down ? desc(by) : by, column("point")];
    }, MOST_ROWS);
  }

  sort(name) {
    this.down = name === this.order && !this.down;
    this.order = name;
    this.query();
  }

  show(found, count) {
    this.caption.textContent = `The first ${count} by ${this.order}${this.down ? ", largest first" : ""}, of the rows that pass all filters.`;
    if (!count) this.caption.textContent = "No row passes all filters.";
    this.body.replaceChildren(...Array.from({ length: count }, (_, at) => {
      const point = Number(found.point[at]);
      const choose = element("button", { type: "button", "aria-label": `${whole(point)}: row and trace of this point`, onclick: () => this.board.open(point) }, whole(point));
      const cells = this.columns.map(({ name, kind }) => element("td", kind === "word" ? {} : { class: "number" }, asCell(found[name][at], asNumber, kind === "whole")));
      return element("tr", {}, element("th", { scope: "row" }, choose), ...cells);
    }));
    this.board.shown();
  }
}

const HEIGHT = 180;

class Trace {
  constructor(parent, board) {
    this.board = board;
    this.told = element("p", { class: "soft", role: "status" }, "Choose a row in the table, or click a cell of a map.");
    this.charts = element("div", { class: "charts" });
    this.values = element("dl", { class: "values", tabindex: "0", "aria-label": "Values of the row" });
    parent.append(this.told, element("div", { class: "row" }, this.charts, this.values));
    this.values.hidden = true;
  }

  async open(point) {
    this.point = point;
    this.told.textContent = `Point ${whole(point)}: computing its trace ...`;
    this.charts.replaceChildren();
    try {
      const row = await this.board.data.row(point);
      if (this.point !== point) return;
      this.values.hidden = false;
      this.values.replaceChildren(...Object.entries(row).flatMap(([name, value]) => {
        const column = this.board.columns.get(name);
        return [element("dt", { title: column?.about ?? "" }, column ? label(column) : name), element("dd", {}, asCell(value, asDigits, name === "point" || column?.kind === "whole"))];
      }));
      const found = await this.board.data.trace(point);
      if (this.point !== point) return;
      this.told.textContent = `Point ${whole(point)}, computed anew by ${found.scheme}.`;
      this.draw(found);
    } catch (error) {
      if (this.point === point) this.told.textContent = `Point ${whole(point)} has no trace: ${error.message}`;
    }
  }

  draw({ columns: [time, ...others] }) {
    const varying = others.filter(({ values }) => values.some((value) => value !== values[0]));
    const shown = varying.slice(0, 3);
    this.lines = shown.map((column, place) => {
      const box = element("div"), choice = element("select", { "aria-label": `Quantity of curve ${place + 1}`, onchange: (event) => line.draw(varying[event.target.value]) },
        ...varying.map(({ name, unit }, at) => element("option", { value: String(at), selected: at === place }, label({ name, unit }))));
      box.append(choice);
      this.charts.append(box);
      const line = new Line(box, time, column);
      return line;
    });
  }

  paint() {
    this.lines?.forEach((line) => line.draw());
  }
}

class Line {
  constructor(parent, time, column) {
    Object.assign(this, { time, column });
    this.frame = new Frame(parent, HEIGHT, { left: 58, right: 12, top: 8, bottom: 36 }, `${column.name} over time`, () => this.draw());
  }

  draw(column = this.column) {
    this.column = column;
    if (!this.frame.width) return;
    this.frame.svg.setAttribute("aria-label", `${column.name} over time`);
    const root = this.frame.clear(), { left, right, top, bottom, width, height } = this.frame.inner;
    const ends = (values) => values.reduce(([low, high], each) => (each === null ? [low, high] : [Math.min(low, each), Math.max(high, each)]), [Infinity, -Infinity]);
    const x = libraries.scaleLinear().domain(ends(this.time.values)).range([left, right]);
    const y = libraries.scaleLinear().domain(ends(column.values)).range([bottom, top]).nice(4);
    root.append("g").attr("class", "axis").attr("transform", `translate(0,${bottom})`).call(axisOf(libraries.axisBottom, x, null, width));
    root.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(axisOf(libraries.axisLeft, y, null, 5 * height / 3));
    root.append("g").attr("class", "names").append("text").attr("x", (left + right) / 2).attr("y", this.frame.height - 5).attr("text-anchor", "middle").text("time [s]");
    let path = "", pen = "M";
    column.values.forEach((value, at) => {
      if (value === null) pen = "M";
      else {
        path += `${pen}${x(this.time.values[at]).toFixed(1)},${y(value).toFixed(1)}`;
        pen = "L";
      }
    });
    root.append("g").append("path").attr("class", "line").attr("d", path);
  }
}
