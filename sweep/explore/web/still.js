// Data of the views of a page without a server: how many rows each combination of bins has, packed into the page.

async function unpacked(name, Kind) {
  const text = document.querySelector(`script[data-packed="${CSS.escape(name)}"]`).textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  return new Kind(await plain.arrayBuffer());
}

class Still {
  constructor() {
    this.clients = [];
    this.views = [];
    this.filters = new Map();
    this.bits = new Map();
  }

  async prepare() {
    this.bins = facts.bins;
    Still.packed ??= (async () => {
      const names = facts.packed.codes, codes = await Promise.all(names.map((name) => unpacked(`bin:${name}`, Uint8Array)));
      const sums = await Promise.all(facts.means.flatMap((name) => [unpacked(`sum:${name}`, Float32Array), unpacked(`valid:${name}`, Uint32Array)]));
      return {
        codes: Object.fromEntries(names.map((name, place) => [name, codes[place]])),
        sums: Object.fromEntries(facts.means.map((name, place) => [name, sums.slice(2 * place, 2 * place + 2)])),
        rows: await unpacked("rows:", Uint32Array),
      };
    })();
    Object.assign(this, await Still.packed);
    this.fails = new Int32Array(this.rows.length); // the filters that a combination does not pass, one bit each
    return this.bins;
  }

  count(view, names, mean) {
    const sizes = names.map((name) => (this.bins[name]?.count ?? facts.columns.find((column) => column.name === name).words.length) + 1);
    const cells = new Int32Array(this.rows.length);
    let size = 1;
    names.forEach((name, place) => {
      const codes = this.codes[name], none = sizes[place] - 1;
      for (let at = 0; at < cells.length; at++) cells[at] += size * (codes[at] === NONE ? none : codes[at]);
      size *= sizes[place];
    });
    const made = { view, mean, sizes, cells, size };
    this.views.push(made);
    this.tell(made);
  }

  tell({ view, mean, sizes, cells, size }) {
    const others = ~(this.bits.get(view) ?? 0), { fails, rows } = this, counts = new Float64Array(size);
    for (let at = 0; at < cells.length; at++) if (!(fails[at] & others)) counts[cells[at]] += rows[at];
    const there = [];
    counts.forEach((count, cell) => count && there.push(cell));
    const found = { rows: there.map((cell) => counts[cell]) };
    if (mean) {
      const [sums, valid] = this.sums[mean], total = new Float64Array(size), parts = new Float64Array(size);
      for (let at = 0; at < cells.length; at++) {
        if (fails[at] & others) continue;
        total[cells[at]] += sums[at];
        parts[cells[at]] += valid[at];
      }
      Object.assign(found, { total: there.map((cell) => total[cell]), valid: there.map((cell) => parts[cell]) });
    }
    let step = 1;
    sizes.forEach((each, place) => {
      const before = step;
      found[`b${place}`] = there.map((cell) => {
        const code = Math.floor(cell / before) % each;
        return code === each - 1 ? NONE : code;
      });
      step *= each;
    });
    view.show(found, there.length);
  }

  filter(view, parts) {
    if (!this.bits.has(view)) this.bits.set(view, 1 << this.bits.size);
    const bit = this.bits.get(view), columns = view.columns.map((name) => this.codes[name]), { fails } = this;
    const chosen = view.picks && parts && new Set(parts);
    const passes = !parts ? () => true : chosen ? (at) => chosen.has(columns[0][at])
      : (at) => columns.every((codes, place) => codes[at] >= parts[place][0] && codes[at] <= parts[place][1]);
    for (let at = 0; at < fails.length; at++) fails[at] = passes(at) ? fails[at] & ~bit : fails[at] | bit;
    for (const made of this.views) if (made.view !== view) this.tell(made);
  }

  expect() {}

  close() {}
}
