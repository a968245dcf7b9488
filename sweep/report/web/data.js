// Unpack the columns of `packing.py`, and find rows by their places.

const content = JSON.parse(document.getElementById("content").textContent);
const unpacked = new Map();

// The bytes of a packed text.
async function inflate(text) {
  const packed = atob(text.trim());
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Int32 numbers from their packed differences (see `packing.py`): all lowest bytes, then all second ones, and so on.
function accumulate(bytes, count) {
  const width = bytes.length / count, numbers = new Int32Array(count);
  for (let i = 0, last = 0; i < count; i++) {
    let unsigned = 0;
    for (let plane = width - 1; plane >= 0; plane--) unsigned = (unsigned << 8) | bytes[plane * count + i];
    last = (last + ((unsigned >>> 1) ^ -(unsigned & 1))) | 0;
    numbers[i] = last;
  }
  return numbers;
}

async function unpackFloats(text, count, dropped) {
  const numbers = accumulate(await inflate(text), count);
  if (dropped) for (let i = 0; i < count; i++) numbers[i] <<= dropped;
  return new Float32Array(numbers.buffer);
}

// The numbers of a column by name, one per row; unpacked at the first use.
function column(name) {
  if (!unpacked.has(name)) unpacked.set(name, load(name));
  return unpacked.get(name);
}

async function load(name) {
  const element = document.querySelector(`script[data-column="${CSS.escape(name)}"]`);
  const facts = content.columns.find((each) => each.name === name) || { kind: "float", dropped: 0 };
  if (!element) {
    const value = facts.kind === "code" ? facts.words.indexOf(facts.same) : facts.same === null ? NaN : facts.same;
    const filled = facts.kind === "code" ? new Int8Array(content.count) : new Float32Array(content.count);
    return filled.fill(value);
  }
  const text = element.textContent;
  element.remove();
  if (facts.kind === "code") return new Int8Array((await inflate(text)).buffer);
  if (facts.kind === "integer") return accumulate(await inflate(text), content.count);
  return unpackFloats(text, content.count, facts.dropped);
}

// ---- the places of the rows; "scaled" is the logarithm on a logarithmic axis

const scaled = (axis, value) => (content.axes[axis].log ? Math.log10(value) : value);
const unscaled = (axis, value) => (content.axes[axis].log ? 10 ** value : value);

// Position of the nearest of ascending numbers.
function nearestOf(values, value) {
  let low = 0, high = values.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle; else high = middle;
  }
  return value - values[low] <= values[high] - value ? low : high;
}

// Rows on a grid: the row at column i and line j has the number j * columns + i.
class Grid {
  constructor() {
    this.places = content.places.map((values, axis) => Float64Array.from(values, (value) => scaled(axis, value)));
    this.columns = this.places[0].length;
  }
  at(x, y) { return nearestOf(this.places[1], y) * this.columns + nearestOf(this.places[0], x); }
  place(row) { return [this.places[0][row % this.columns], this.places[1][Math.floor(row / this.columns)]]; }
  step(row, dx, dy) {
    const lines = this.places[1].length;
    const i = Math.min(this.columns - 1, Math.max(0, (row % this.columns) + dx));
    const j = Math.min(lines - 1, Math.max(0, Math.floor(row / this.columns) + dy));
    return j * this.columns + i;
  }
  // The rows along an axis through a row, in order.
  slice(row, axis) {
    const i = row % this.columns, j = Math.floor(row / this.columns);
    return Array.from(this.places[axis], (_, n) => (axis === 0 ? j * this.columns + n : n * this.columns + i));
  }
}

// Rows in a plane, found by buckets.
class Scattered {
  constructor(x, y) {
    this.axes = [x, y].map((values, axis) => (content.axes[axis].log ? Float64Array.from(values, Math.log10) : values));
    this.low = content.limits.map((limit, axis) => scaled(axis, limit[0]));
    this.size = content.limits.map((limit, axis) => scaled(axis, limit[1]) - this.low[axis] || 1);
    const count = content.count, side = (this.side = Math.max(1, Math.min(1024, Math.round(Math.sqrt(count / 2)))));
    this.starts = new Int32Array(side * side + 1);
    this.rows = new Int32Array(count);
    const bucket = new Int32Array(count);
    for (let row = 0; row < count; row++) this.starts[(bucket[row] = this.bucket(row)) + 1]++;
    for (let i = 0; i < side * side; i++) this.starts[i + 1] += this.starts[i];
    const next = this.starts.slice(0, -1);
    for (let row = 0; row < count; row++) this.rows[next[bucket[row]]++] = row;
  }
  cell(part) { return Math.max(0, Math.min(this.side - 1, Math.floor(part * this.side))); }
  parts(row) { return this.axes.map((values, axis) => (values[row] - this.low[axis]) / this.size[axis]); }
  bucket(row) {
    const u = (this.axes[0][row] - this.low[0]) / this.size[0], v = (this.axes[1][row] - this.low[1]) / this.size[1];
    return this.cell(v) * this.side + this.cell(u);
  }
  at(x, y) {
    const u = (x - this.low[0]) / this.size[0], v = (y - this.low[1]) / this.size[1], side = this.side;
    const i = this.cell(u), j = this.cell(v);
    let best = -1, nearest = Infinity;
    for (let ring = 0; ring < side; ring++) {
      if (ring > 1 && nearest < ((ring - 1) / side) ** 2) break;
      for (let b = Math.max(0, j - ring); b <= Math.min(side - 1, j + ring); b++) {
        const edge = Math.abs(b - j) === ring;
        for (let a = i - ring; a <= i + ring; a += edge ? 1 : 2 * ring || 1) {
          if (a < 0 || a >= side) continue;
          for (let n = this.starts[b * side + a]; n < this.starts[b * side + a + 1]; n++) {
            const row = this.rows[n];
            const du = (this.axes[0][row] - this.low[0]) / this.size[0] - u, dv = (this.axes[1][row] - this.low[1]) / this.size[1] - v;
            if (du * du + dv * dv < nearest) { nearest = du * du + dv * dv; best = row; }
          }
        }
      }
    }
    return best;
  }
  place(row) { return [this.axes[0][row], this.axes[1][row]]; }
  step(row, dx, dy) {
    const [x, y] = this.place(row);
    for (let reach = 1; reach <= 100; reach++) {  // go on until another row is nearest
      const other = this.at(x + (dx * reach * this.size[0]) / 200, y + (dy * reach * this.size[1]) / 200);
      if (other !== row) return other;
    }
    return row;
  }
  slice(row, axis) {
    const place = this.place(row), found = [];
    for (let n = 0; n <= 300; n++) {
      const at = [...place];
      at[axis] = this.low[axis] + (n / 300) * this.size[axis];
      found.push(this.at(...at));
    }
    return found;
  }
}

// Rows along one axis, ascending.
class Line {
  constructor(x) { this.x = content.axes[0].log ? Float64Array.from(x, Math.log10) : x; }
  at(x) { return nearestOf(this.x, x); }
  place(row) { return [this.x[row], 0]; }
  step(row, dx) { return Math.min(content.count - 1, Math.max(0, row + dx)); }
}

async function layRows() {
  if (content.kind === "grid") return new Grid();
  const axes = await Promise.all(content.axis_columns.map(column));
  return content.kind === "line" ? new Line(axes[0]) : new Scattered(...axes);
}
