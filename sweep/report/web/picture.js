// The areas of the map as pixels. A row has the colour of its regime, from light to dark with the shaded observable.

const SHADES = 256;

const rgb = (color) => [1, 3, 5].map((place) => parseInt(color.slice(place, place + 2), 16));
const packed = ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r;

// SHADES colours of every regime, in the format of a pixel. Dots get no colour that is too light.
const lightest = content.kind === "points" ? 0.25 : 0;
const palette = content.words.map((word) => {
  const [light, dark] = word.ramp.map(rgb);
  return Int32Array.from({ length: SHADES }, (_, n) => {
    const part = lightest + ((1 - lightest) * n) / (SHADES - 1);
    return packed(light.map((c, i) => Math.round(c + (dark[i] - c) * part)));
  });
});
const empty = Object.fromEntries(Object.entries(content.empty).map(([code, [, color]]) => [code, packed(rgb(color))]));

// The smallest and the largest value of the colour scale of a column.
function rangeOf(values, logarithmic) {
  let low = Infinity, high = -Infinity, least = Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
    if (value > 0 && value < least) least = value;
  }
  if (high === -Infinity) return null;
  if (logarithmic) return high > 0 ? [Math.max(least, 1e-4 * high), high] : null;
  return [Math.min(0, low), high || 1];
}

// The colour of every row, in the format of a pixel.
function colorRows(regimes, values, range, logarithmic) {
  const colors = new Int32Array(regimes.length), { failed, void: never } = content.codes;
  const width = range ? (logarithmic ? Math.log(range[1] / range[0]) : range[1] - range[0]) || 1 : 1;
  for (let row = 0; row < colors.length; row++) {
    const code = regimes[row], value = values[row];
    if (code < 0) colors[row] = empty[code] ?? empty[failed];
    else if (Number.isNaN(value) || !range) colors[row] = empty[never];
    else {
      const part = (logarithmic ? Math.log(Math.max(value, range[0]) / range[0]) : value - range[0]) / width;
      colors[row] = palette[code][Math.max(0, Math.min(SHADES - 1, Math.floor(part * SHADES)))];
    }
  }
  return colors;
}

// The colour of every row by its regime alone, in the format of a pixel.
function flatRows(regimes) {
  const flat = content.words.map((word) => packed(rgb(word.flat)));
  return Int32Array.from(regimes, (code) => (code < 0 ? empty[code] ?? empty[content.codes.failed] : flat[code]));
}

// Paint the visible part of the map; `view` holds the ends of the axes, scaled.
function paint(canvas, rows, colors, view, width, height) {
  const density = Math.min(2, window.devicePixelRatio || 1);
  const across = Math.max(1, Math.round(width * density)), up = Math.max(1, Math.round(height * density));
  canvas.width = across;
  canvas.height = up;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d", { alpha: true });
  const [[x0, x1], [y0, y1]] = view;
  if (rows instanceof Scattered && content.kind === "points") return paintPoints(pen, rows, colors, view, across, up, density);
  const image = pen.createImageData(across, up), pixels = new Int32Array(image.data.buffer);
  const xs = Float64Array.from({ length: across }, (_, i) => x0 + ((i + 0.5) / across) * (x1 - x0));
  if (rows instanceof Scattered) {
    const coarse = content.count > 20000 ? 2 : 1;
    for (let j = 0; j < up; j += coarse) {
      const y = y1 + ((j + 0.5) / up) * (y0 - y1);
      for (let i = 0; i < across; i += coarse) {
        const color = colors[rows.at(xs[i], y)];
        for (let b = j; b < Math.min(up, j + coarse); b++) for (let a = i; a < Math.min(across, i + coarse); a++) pixels[b * across + a] = color;
      }
    }
  } else {
    const line = rows instanceof Line;
    const columns = Int32Array.from(xs, (x) => (line ? rows.at(x) : nearestOf(rows.places[0], x)));
    for (let j = 0; j < up; j++) {
      const first = line ? 0 : nearestOf(rows.places[1], y1 + ((j + 0.5) / up) * (y0 - y1)) * rows.columns;
      for (let i = 0; i < across; i++) pixels[j * across + i] = colors[first + columns[i]];
    }
  }
  pen.putImageData(image, 0, 0);
}

function paintPoints(pen, rows, colors, [[x0, x1], [y0, y1]], across, up, density) {
  const radius = density * Math.max(1.2, Math.min(4, 360 / Math.sqrt(content.count)));
  for (let row = 0; row < colors.length; row++) {
    const [x, y] = rows.place(row), color = colors[row];
    pen.fillStyle = `rgb(${color & 255},${(color >> 8) & 255},${(color >> 16) & 255})`;
    pen.beginPath();
    pen.arc(((x - x0) / (x1 - x0)) * across, ((y - y1) / (y0 - y1)) * up, radius, 0, 7);
    pen.fill();
  }
}
