// The page: the chosen shade, the row under the cursor, and everything that is shown of them.

const state = { rows: null, row: -1, shade: null, values: null, range: null, regimes: null, trace: -1, waiting: false };

// ---- facts that do not change

function showFacts() {
  element("study").textContent = content.study;
  element("about").textContent = `${content.model}: ${content.about}`;
  const held = Object.entries(content.held).map(([name, value]) => `${name} = ${typeof value === "number" ? digits(value, 6) : value}`);
  const loose = content.loose.length ? [`${content.loose.join(", ")} ${content.loose.length > 1 ? "vary" : "varies"} too`] : [];
  list(element("state"), [content.state, `${content.count.toLocaleString("en")} points`, ...held, ...loose]);
  element("sentences").replaceChildren(...content.summary.flatMap(([what, said]) =>
    [["dt", what], ["dd", said.replace(/\^2/g, "²").replace(/\^3/g, "³")]].map(([kind, textContent]) => Object.assign(document.createElement(kind), { textContent }))));
  for (const [name, facts] of Object.entries(content.sections)) {
    try {
      sections[name].show(facts);
    } catch (error) {
      failSection(name, error);
    }
  }
  element("boundaries").hidden = !content.curves.length;
  const curves = content.curves.map(({ between, curves, places, width }) => [between, curves, places.toLocaleString("en"), width.toExponential(1)]);
  element("curves").replaceChildren(numbersTable(["between", "curves", "places", "widest bracket, relative"], curves, 1));
  showGroups();
  table(element("statuses"), Object.entries(content.statuses).map(([name, count]) => [name, count.toLocaleString("en"), ""]));
  table(element("fixed"), content.fixed);
  table(element("provenance"), content.provenance);
  table(element("technical"), content.technical);
  element("config").textContent = content.config;
  list(element("notes"), content.notes);
  for (const facts of content.columns) {
    if (facts.kind !== "float" || facts.parameter) continue;
    element("shade").add(new Option(`${facts.name}${facts.unit ? ` [${facts.unit}]` : ""}`, facts.name));
  }
  if (content.axes.length > 1) element("shade").add(new Option("nothing", "none"), 0);
  element("shade").value = content.shade;
  element("logarithmic").checked = content.logarithmic;
  const traces = content.traces.length ? " Click, or press Enter, for the time trace nearest to the cursor (white dots have one)." : "";
  element("keys").textContent = `Move over the map, or use the arrow keys on it, to read points.${traces} Drag to zoom, double-click to go back.`;
  element("frame").setAttribute("aria-label", `Map of ${content.study}`);
  element("trace").hidden = !content.traces.length;
}

function showLegend() {
  const present = new Set(state.regimes), entries = [];
  content.words.forEach(({ name, ramp, flat }, code) => {
    if (present.has(code)) entries.push([state.range ? `linear-gradient(90deg, ${ramp[0]}, ${ramp[1]})` : flat, name]);
  });
  for (const [code, [name, color]] of Object.entries(content.empty)) if (present.has(Number(code))) entries.push([color, name]);
  const items = entries.map(([background, name]) => {
    const item = document.createElement("span"), swatch = document.createElement("i");
    swatch.style.background = background;
    item.append(swatch, name);
    return item;
  });
  for (const boundary of content.boundaries) {
    const item = document.createElement("span"), swatch = document.createElement("i");
    swatch.className = boundary.theory ? "line dashed" : "line";
    item.append(swatch, boundary.theory ? `${boundary.name} (theory)` : `${boundary.name} (found)`);
    items.push(item);
  }
  element("legend").replaceChildren(...items);
}

// The colour bar: a strip for each area that is shaded, and ticks of the observable.
function showBar() {
  element("bar").hidden = !state.range;
  element("slices").hidden = content.kind === "line" || content.kind === "points" || !state.range;
  if (!state.range) return;
  const present = new Set(state.regimes);
  element("strips").replaceChildren(...content.words.filter(({ ramp }, code) => present.has(code) && ramp[0] !== ramp[1]).map(({ name, ramp }) => {
    const strip = Object.assign(document.createElement("div"), { title: name });
    strip.style.background = `linear-gradient(90deg, ${ramp[0]}, ${ramp[1]})`;
    return strip;
  }));
  const height = (value) => (state.logarithmic ? Math.log10(value) : value), [low, high] = state.range.map(height);
  const values = state.logarithmic ? ticks([low, high]).tickvals : round(low, high);
  element("ticks").replaceChildren(...values.map((value) => {
    const tick = Object.assign(document.createElement("span"), { textContent: digits(value, 4) });
    tick.style.left = `${(100 * (height(value) - low)) / (high - low || 1)}%`;
    return tick;
  }));
  element("bar-title").innerHTML = labelled(state.shade);
}

// ---- the map

function frameSize() {
  const box = element("frame").getBoundingClientRect();
  return { box, width: box.width - pixels("left") - pixels("right"), height: box.height - pixels("top") - pixels("bottom") };
}

// The visible ends of the axes, scaled.
const view = () => !element("map").layout ? [ends(0), content.axes.length > 1 ? ends(1) : [0, 1]] : [element("map").layout.xaxis.range.map(Number), element("map").layout.yaxis.range.map(Number)];

function repaint() {
  const { width, height } = frameSize();
  if (width > 0 && height > 0) paint(element("areas"), state.rows, state.colors, view(), width, height);
  if (state.row >= 0) placeHairs();
}

// A line of at most some thousand points: the lowest and the highest point of each stretch.
function thinned(values) {
  const count = content.count, stride = Math.max(1, Math.ceil(count / 2000)), x = [], y = [];
  for (let first = 0; first < count; first += stride) {
    let low = first, high = first;
    for (let row = first; row < Math.min(count, first + stride); row++) {
      if (values[row] < values[low]) low = row;
      if (values[row] > values[high]) high = row;
    }
    for (const row of low === high ? [low] : [Math.min(low, high), Math.max(low, high)]) {
      x.push(unscaled(0, state.rows.x[row]));
      y.push(Number.isFinite(values[row]) ? values[row] : null);
    }
  }
  return { x, y, values };
}

function colorBy(facts, values) {
  if (facts.name === "none") return void Object.assign(state, { shade: facts, values, range: null, logarithmic: false, colors: flatRows(state.regimes) });
  let logarithmic = element("logarithmic").checked, range = rangeOf(values, logarithmic);
  if (!range && logarithmic) {
    element("logarithmic").checked = logarithmic = false;  // no value is positive
    range = rangeOf(values, false);
  }
  Object.assign(state, { shade: facts, values, range, logarithmic, colors: colorRows(state.regimes, values, range, logarithmic) });
}

// The description and the numbers of what shades the map; without a shade there are none.
const shadeOf = async (name) => name === "none" ? [{ name, unit: "", kind: "none" }, new Float32Array(content.count).fill(NaN)] : [content.columns.find((each) => each.name === name), await column(name)];

async function shadeBy(name) {
  colorBy(...await shadeOf(name));
  state.line = content.kind === "line" ? thinned(state.values) : null;
  const before = element("map").layout && view();
  await drawMap(element("map"), state.shade, state.range, state.logarithmic, state.line);
  if (before && content.kind !== "line") await Plotly.relayout(element("map"), { "xaxis.range": before[0], "yaxis.range": before[1] });
  showBar();
  showLegend();
  repaint();
  markTrace();
  if (state.row >= 0) showRow(state.row);
}

function rowUnder(event) {
  const { box, width, height } = frameSize();
  const u = (event.clientX - box.left - pixels("left")) / width, v = (event.clientY - box.top - pixels("top")) / height;
  if (u < 0 || u > 1 || v < 0 || v > 1) return -1;
  const [[x0, x1], [y0, y1]] = view();
  return state.rows.at(x0 + u * (x1 - x0), y1 + v * (y0 - y1));
}

function placeHairs() {
  const { width, height } = frameSize(), [[x0, x1], [y0, y1]] = view();
  let [x, y] = state.row < 0 ? [NaN, NaN] : state.rows.place(state.row);
  if (content.kind === "line" && state.row >= 0) y = state.logarithmic ? Math.log10(state.values[state.row]) : state.values[state.row];
  const u = (x - x0) / (x1 - x0), v = (y - y1) / (y0 - y1);
  element("upright").style.display = u >= 0 && u <= 1 ? "block" : "none";
  element("across").style.display = v >= 0 && v <= 1 ? "block" : "none";
  element("upright").style.left = `${pixels("left") + u * width}px`;
  element("across").style.top = `${pixels("top") + v * height}px`;
}

// ---- the row under the cursor

function moveTo(row) {
  if (row < 0 || row === state.row) return;
  state.row = row;
  if (state.waiting) return;
  state.waiting = true;
  requestAnimationFrame(() => {
    state.waiting = false;
    showRow(state.row);
  });
}

async function showRow(row) {
  placeHairs();
  const at = place(row);
  const axes = content.axes.map((axis, i) => [axis.name, digits(at[i], 7), axis.unit, "axis"]);
  const parameters = [], found = [];
  for (const facts of content.columns) {
    const values = await column(facts.name);
    if (row !== state.row) return;  // the cursor has moved on
    const value = values[row];
    if (facts.name === "point") element("row-title").textContent = value < 0 ? "No point here" : `Point ${value.toLocaleString("en")}`;
    else if (facts.kind === "code") {
      const missing = facts.name === content.areas && content.empty[value];
      if (facts.name !== "status" || facts.words.length > 1 || facts.words[value] !== "ok") found.push([facts.name, missing ? missing[0] : facts.words[value] ?? "–", ""]);
    } else {
      const text = facts.integer ? digits(value, 9) : digits(value, facts.digits);
      (facts.parameter ? parameters : found).push([facts.name, text, facts.unit, facts.name === state.shade.name ? "shade" : ""]);
    }
  }
  table(element("row-values"), [...axes, ...parameters, ...found]);
  element("row-values").dataset.row = row;
  if (!element("slices").hidden) {
    for (const [id, axis] of [["slice-x", 0], ["slice-y", 1]]) drawSlice(element(id), axis, row, state.shade, state.values, state.range, state.logarithmic);
  }
}

// ---- traces

async function showTrace(row) {
  if (!content.traces.length || row < 0) return;
  const [x, y] = state.rows.place(row), [[x0, x1], [y0, y1]] = [ends(0), content.axes.length > 1 ? ends(1) : [0, 1]];
  let nearest = 0, least = Infinity;
  content.traces.forEach((trace, n) => {
    const [a, b] = state.rows.place(trace.row), away = ((a - x) / (x1 - x0)) ** 2 + ((b - y) / (y1 - y0)) ** 2;
    if (away < least) [least, nearest] = [away, n];
  });
  await drawTrace(nearest, row);
}

async function drawTrace(number, row) {
  const trace = content.traces[number], points = await column("point");
  const t = {};
  for (const [name, text] of Object.entries(trace.columns)) t[name] = Array.from(await unpackFloats(text, trace.count, 0));
  const where = (at) => content.axes.map((axis, i) => `${axis.name} = ${digits(place(at)[i], 5)}${axis.unit ? ` ${axis.unit.replace(/\^2/g, "²")}` : ""}`).join(", ");
  const same = row === trace.row;
  const at = content.support ? ` at ${content.support.name}` : "";
  element("trace-title").textContent = `Point ${points[trace.row].toLocaleString("en")} (${where(trace.row)})${at}` +
    (same ? "." : `, the nearest of ${content.traces.length} points with a trace to ${where(row)}.`);
  element("trace").dataset.point = points[trace.row];
  state.trace = trace.row;
  markTrace();
  await Promise.all(content.support
    ? [drawForces(element("motion"), t), drawOrbit(element("loop"), t, trace.gap)]
    : [drawMotion(element("motion"), t), drawLoop(element("loop"), t, trace.period)]);
}

function markTrace() {
  if (state.trace < 0) return;
  const [x, y] = place(state.trace), last = element("map").data.length - 1;
  Plotly.restyle(element("map"), { x: [[x]], y: [[content.kind === "line" ? state.values[state.trace] : y]] }, [last]);
}

// ---- actions of the user

function listen() {
  const frame = element("frame");
  let down = null;
  frame.addEventListener("pointermove", (event) => { if (!event.buttons) moveTo(rowUnder(event)); });
  frame.addEventListener("pointerdown", (event) => { down = [event.clientX, event.clientY, rowUnder(event)]; }, true);
  // plotly takes the pointer while a button is down, so the window listens for the release
  window.addEventListener("pointerup", (event) => {
    if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 5) return void (down = null);
    const row = down[2];
    down = null;
    moveTo(row);
    showTrace(row);
  }, true);
  frame.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[event.key];
    if (step) {
      event.preventDefault();
      const far = event.shiftKey ? 10 : 1;
      moveTo(state.rows.step(state.row, far * step[0], far * step[1]));
    } else if (event.key === "Enter") showTrace(state.row);
  });
  element("shade").addEventListener("change", () => shadeBy(element("shade").value));
  element("logarithmic").addEventListener("change", () => shadeBy(element("shade").value));
  element("map").on("plotly_relayout", (change) => {
    repaint();
    const fresh = {};
    content.axes.forEach((axis, n) => {
      if (axis.log && !("xaxis.tickvals" in change || "yaxis.tickvals" in change)) {
        for (const [key, value] of Object.entries(ticks(view()[n]))) fresh[`${"xy"[n]}axis.${key}`] = value;
      }
    });
    if (Object.keys(fresh).length) Plotly.relayout(element("map"), fresh);
  });
  new ResizeObserver(repaint).observe(frame);
  const again = async () => {
    await shadeBy(state.shade.name);
    if (state.trace >= 0) await drawTrace(content.traces.findIndex((trace) => trace.row === state.trace), state.trace);
    await drawAnalyses();
  };
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  const onPaper = (is) => { document.documentElement.classList.toggle("paper", is); again(); };
  window.addEventListener("beforeprint", () => onPaper(true));
  window.addEventListener("afterprint", () => onPaper(location.hash === "#paper"));
}

// What is drawn of a run besides its map and traces.
async function drawAnalyses() {
  await drawGroups();
  for (const [name, facts] of Object.entries(content.sections)) {
    try {
      await sections[name].draw?.(facts);
    } catch (error) {
      failSection(name, error);
    }
  }
}

// The part of an analysis says that its script has failed; all other parts go on.
function failSection(name, error) {
  console.error(error);
  delete content.sections[name];
  const said = `This part cannot be shown here: ${error.message || error}.`, place = element(name) ?? element("notes").parentElement;
  place.append(Object.assign(document.createElement("p"), { className: "hint failure", textContent: said }));
}

// Areas are painted before Plotly is there.
async function begin() {
  showFacts();
  const [rows, regimes, shade] = await Promise.all([layRows(), column(content.areas), shadeOf(content.shade)]);
  Object.assign(state, { rows, regimes });
  colorBy(...shade);
  showBar();
  showLegend();
  repaint();
  document.body.dataset.painted = seconds();
  await startPlotly();
  await shadeBy(content.shade);
  await drawAnalyses();
  listen();
  document.body.dataset.ready = seconds();
  const middle = rows.at(...view().map(([low, high]) => (low + high) / 2));
  moveTo(middle);
  await showTrace(middle);
  for (const facts of content.columns) await column(facts.name);
  document.body.dataset.complete = seconds();
}

function fail(error) {
  console.error(error);
  element("keys").textContent = `This report cannot be drawn here: ${error.message || error}. It needs a browser of 2023 or later.`;
}

document.documentElement.classList.toggle("paper", location.hash === "#paper");
if (typeof DecompressionStream === "undefined") fail(new Error("the browser cannot unpack its numbers"));
else begin().catch(fail);
