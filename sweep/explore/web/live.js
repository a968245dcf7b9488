// Data of the views from the server of this page: Mosaic keeps what it needs in DuckDB and links the views.

async function ask(way, question) {
  const answer = await fetch(way, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
  });
  if (answer.ok) return answer;
  let reason = `the server answers ${answer.status}`;
  try {
    reason = (await answer.json()).error ?? reason;
  } catch {
    // not JSON: the status has to do
  }
  throw new Error(reason);
}

const KEPT = /^CREATE SCHEMA[^;]*;\s*CREATE TABLE IF NOT EXISTS "?kept"?\."?(preagg_[0-9a-f]+)"? AS ([^]*)$/;
const connector = {
  async query({ type, sql }) {
    if (type !== "exec") return (await ask("query", { sql })).arrayBuffer();
    const [, name, select] = KEPT.exec(sql) ?? [];
    if (!name) throw new Error(`not a table of counts: ${sql}`);
    await ask("keep", { name, sql: select });
    return undefined;
  },
};

const quiet = { debug() {}, info() {}, log() {}, warn() {}, error: (error) => complain(error), group() {}, groupCollapsed() {}, groupEnd() {} };

const SLOW = 400; // ms

class Live {
  constructor() {
    const { Coordinator, Selection } = libraries;
    this.coordinator = new Coordinator(connector, { logger: quiet, consolidate: false, preagg: { schema: "kept" } });
    this.selection = Selection.crossfilter();
    this.clients = [];
  }

  /** Make a view of the rows with the bins of columns; returns the bins by column. */
  async prepare(columns, means, logarithmic) {
    const made = await (await ask("view", { columns, means, logarithmic })).json();
    Object.assign(this, { number: made.number, table: made.table, counted: made.table, bins: made.bins });
    return made.bins;
  }

  /** Count all rows instead of the sample; told(done, of) hears of the progress. The table of rows stays that of the sample. */
  async all(told) {
    for (;;) {
      const { done, of, table, error } = await (await ask("all", { number: this.number })).json();
      if (error) throw new Error(error);
      if (table) {
        this.counted = table;
        return;
      }
      told(done, of);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  /** Counts (and sums) by the bins of columns, told to view.show(columns of the result) after every change of the filters. */
  count(view, names, mean) {
    const { Query, column, sum } = libraries;
    const chosen = { rows: sum(column("rows:")) };
    if (mean) Object.assign(chosen, { total: sum(column(`sum:${mean}`)), valid: sum(column(`valid:${mean}`)) });
    names.forEach((name, place) => (chosen[`b${place}`] = column(`bin:${name}`)));
    const groups = names.map((_, place) => `b${place}`);
    this.connect(view, (filter) => Query.from(this.counted).select(chosen).where(filter).groupby(groups));
  }

  /** The first rows that pass all filters. */
  list(view, names, order, most) {
    const { Query, column, sql } = libraries;
    const chosen = Object.fromEntries(["point", ...names].map((name) => [name, column(name)]));
    this.connect(view, (filter) => Query.from(this.table).select(chosen).where(filter).orderby(order(column, sql)).limit(most));
  }

  connect(view, query) {
    const client = libraries.makeClient({
      coordinator: this.coordinator,
      selection: this.selection,
      query: (filter = []) => query(filter),
      queryResult: (data) => {
        view.show(Object.fromEntries(data.schema.fields.map(({ name }) => [name, data.getChild(name).toArray()])), data.numRows);
      },
      queryError: (error) => complain(error),
    });
    view.client = client;
    this.clients.push(client);
  }

  clause(view, parts) {
    const { clauseInterval, clauseIntervals, clausePoints, column } = libraries;
    const source = view, clients = new Set([view.client]);
    const fields = view.columns.map((name) => column(`bin:${name}`));
    if (view.picks) return clausePoints(fields, parts && parts.map((code) => [code]), { source, clients });
    const scale = (name) => {
      const ends = [0, this.bins[name].count];
      return { type: "linear", domain: ends, range: ends };
    };
    const options = { source, clients, bin: "floor" };
    if (fields.length === 1) return clauseInterval(fields[0], parts && parts[0], { ...options, scale: scale(view.columns[0]) });
    return clauseIntervals(fields, parts, { ...options, scales: view.columns.map(scale) });
  }

  /** Filter the other views: parts are [first, last] bins of each column of the view, or codes of words; null for no filter. */
  filter(view, parts) {
    this.selection.update(this.clause(view, parts));
  }

  /** Prepare the counts that a filter of this view will need; say so if that takes long. */
  async expect(view) {
    this.selection.activate(this.clause(view, view.parts ?? (view.picks ? [0] : view.columns.map(() => [0, 1]))));
    const mine = (this.expected = {});
    const slow = setTimeout(() => mine === this.expected && busy(true), SLOW);
    await Promise.allSettled([this.coordinator.query("SELECT 1 AS ready", { cache: false })]); // answered after what was asked before
    clearTimeout(slow);
    if (mine === this.expected) busy(false);
  }

  /** The number of a row in a cell, or undefined. */
  async pointIn(names, codes) {
    const { Query, column, eq, literal } = libraries;
    const there = names.map((name, place) => eq(column(`bin:${name}`), literal(codes[place])));
    const query = Query.from(this.table).select({ point: column("point") }).where(there).orderby(column("point")).limit(1);
    const data = await this.coordinator.query(query);
    return data.numRows ? Number(data.getChild("point").at(0)) : undefined;
  }

  async row(point) {
    const data = await this.coordinator.query(`SELECT * FROM run WHERE point = ${Number(point)} LIMIT 1`);
    return Object.fromEntries(data.schema.fields.map(({ name }) => [name, data.getChild(name).at(0)]));
  }

  async trace(point) {
    return (await ask("trace", { point })).json();
  }

  close() {
    this.clients.forEach((client) => client.destroy());
    this.coordinator.clear();
  }
}
