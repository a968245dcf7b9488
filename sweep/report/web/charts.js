// The charts: axes of the map, slices, time traces. Plotly draws them; the areas of the map lie on a canvas beneath.

const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const pixels = (name) => parseFloat(token(name));
const quiet = { displaylogo: false, responsive: true, displayModeBar: true, modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d", "zoom2d", "pan2d"]] };
const still = { displaylogo: false, responsive: true, displayModeBar: false };
const coarse = window.matchMedia("(pointer: coarse)").matches;

function styled(axis) {
  return {
    gridcolor: token("line"), linecolor: token("soft"), zeroline: false, ticks: "outside", tickcolor: token("soft"), ticklen: 4,
    title: { standoff: 6 }, automargin: true, ...axis,
  };
}

const margins = (top, right = pixels("edge")) => ({ l: pixels("left"), r: right, t: top, b: pixels("bottom"), pad: 0 });

function layout(axes, more = {}) {
  const margin = margins(pixels("top"));
  return {
    margin, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, autosize: true,
    font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: token("ink") },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: token("soft"), activecolor: token("ink"), orientation: "v" },
    hoverlabel: { bgcolor: token("paper"), font: { color: token("ink") } },
    ...Object.fromEntries(Object.entries(axes).map(([name, axis]) => [name, styled(axis)])), ...more,
  };
}

// Round numbers between two ends, about five.
function round(from, to) {
  const rough = (to - from) / 5, power = 10 ** Math.floor(Math.log10(rough)), step = power * [1, 2, 5, 10].find((n) => n * power >= 0.75 * rough);
  const found = [];
  for (let n = Math.ceil(from / step - 1e-9); n * step <= to + 1e-9 * step; n++) found.push(n * step);
  return found;
}

// Ticks of a logarithmic axis between two ends (logarithms): 1, 2, 5, 10 ..., or round steps if the ends are close together.
function ticks([low, high]) {
  const from = 10 ** Math.min(low, high), to = 10 ** Math.max(low, high), values = [];
  if (to / from > 6) {
    for (let decade = Math.floor(Math.log10(from)); decade <= Math.log10(to); decade++) {
      for (const digit of to / from > 2e4 ? [1] : [1, 2, 5]) values.push(digit * 10 ** decade);
    }
  } else values.push(...round(from, to));
  const inside = values.filter((value) => value >= from * 0.999 && value <= to * 1.001);
  return { tickmode: "array", tickvals: inside, ticktext: inside.map((value) => digits(value, 4)) };
}

const logTicks = (axis, range) => (content.axes[axis].log ? ticks(range) : {});

const axisType = (axis) => (content.axes[axis].log ? "log" : "linear");
const labelled = (facts) => `${facts.said ? escaped(facts.said) : facts.name.replaceAll("_", " ")}${facts.unit ? ` [${raised(facts.unit)}]` : ""}`;
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const raised = (unit) => unit.replace(/\^(-?\d+)/g, "<sup>$1</sup>");

// Limits of an axis as plotly takes them: logarithms for a logarithmic axis.
const ends = (axis) => content.limits[axis].map((value) => scaled(axis, value));

function drawMap(chart, shade, range, logarithmic, line) {
  const axes = { xaxis: { title: { text: content.axes[0].label, standoff: 6 }, type: axisType(0), range: ends(0), showgrid: false, ...logTicks(0, view()[0]) } };
  const data = [];
  if (content.kind === "line") {
    const [low, high] = range || [0, 1];
    const room = logarithmic ? (high / low) ** 0.06 : 0.06 * (high - low) || 1;
    axes.yaxis = {
      title: { text: labelled(shade), standoff: 6 }, type: logarithmic ? "log" : "linear", showgrid: false,
      range: logarithmic ? [low / room, high * room].map(Math.log10) : [low - room, high + room],
    };
    data.push({ ...line, mode: line.x.length > 300 ? "lines" : "lines+markers", line: { color: "#1b1b1b", width: 1.5 }, marker: { size: 5, color: "#1b1b1b" }, hoverinfo: "skip" });
  } else {
    axes.yaxis = { title: { text: content.axes[1].label, standoff: 6 }, type: axisType(1), range: ends(1), showgrid: false, ...logTicks(1, view()[1]) };
    for (const boundary of content.boundaries) {
      data.push({
        x: boundary.x, y: boundary.y, mode: "lines", hoverinfo: "skip", connectgaps: false,
        line: { color: "#000000", width: boundary.theory ? 1.6 : 2.2, dash: boundary.theory ? "dash" : "solid" },
      });
    }
  }
  data.push({ ...traceMarks(line), mode: "markers", hoverinfo: "skip", marker: { size: 5, color: "#ffffff", line: { color: "#000000", width: 1 } } });
  data.push({ x: [], y: [], mode: "markers", hoverinfo: "skip", marker: { size: 13, symbol: "circle-open", color: "#000000", line: { width: 2.5 } } });
  for (const axis of Object.values(axes)) axis.automargin = false;  // the canvas beneath has these margins
  // a finger scrolls the page instead of zooming the map
  const more = { dragmode: coarse ? false : "zoom", hovermode: false, margin: margins(pixels("top"), pixels("right")) };
  return Plotly.react(chart, data, layout(axes, more), quiet);
}

function traceMarks(line) {
  const at = content.traces.map((trace) => place(trace.row));
  return { x: at.map((p) => p[0]), y: line ? content.traces.map((trace) => line.values[trace.row]) : at.map((p) => p[1]) };
}

// The place of a row, in the units of the axes.
const place = (row) => state.rows.place(row).map((value, axis) => (content.axes[axis] ? unscaled(axis, value) : value));

function drawSlice(chart, axis, row, shade, values, range, logarithmic) {
  const other = 1 - axis, rows = state.rows.slice(row, axis), at = place(row);
  const along = content.kind === "grid"
    ? content.places[axis]
    : Array.from(rows, (_, n) => unscaled(axis, state.rows.low[axis] + (n / (rows.length - 1)) * state.rows.size[axis]));
  const heights = rows.map((each) => (Number.isFinite(values[each]) ? values[each] : null));
  const name = content.axes[other].name, unit = content.axes[other].unit;
  const axes = {
    xaxis: { title: { text: content.axes[axis].label, standoff: 6 }, type: axisType(axis), range: ends(axis), ...logTicks(axis, ends(axis)) },
    yaxis: {
      title: { text: labelled(shade), standoff: 6 }, type: logarithmic ? "log" : "linear",
      ...(range && logarithmic ? ticks(range.map(Math.log10)) : {}),
      range: range && (logarithmic ? range.map(Math.log10) : [range[0], range[1] + 0.04 * (range[1] - range[0])]),
    },
  };
  const more = {
    hovermode: "x", dragmode: false, margin: margins(26),
    title: { text: `${name} = ${digits(at[other], 5)}${unit ? ` ${raised(unit)}` : ""}`, font: { size: 12.5 }, x: 0.5, y: 0.97, yanchor: "top" },
    shapes: [{ type: "line", xref: "x", yref: "paper", x0: at[axis], x1: at[axis], y0: 0, y1: 1, line: { color: token("soft"), width: 1 } }],
  };
  const data = [{ x: along, y: heights, mode: "lines", line: { color: token("accent"), width: 1.8, shape: content.kind === "grid" ? "linear" : "hvh" } }];
  return Plotly.react(chart, data, layout(axes, more), still);
}

function drawMotion(chart, t) {
  const axes = {
    xaxis: { title: { text: "time [s]", standoff: 6 }, anchor: "y2", range: [t.time[0], t.time[t.time.length - 1]] },
    yaxis: { title: { text: "x [m]", standoff: 6 }, domain: [0.54, 1] },
    yaxis2: { title: { text: "v [m/s]", standoff: 6 }, domain: [0, 0.46], zeroline: true, zerolinecolor: token("line") },
  };
  const data = [
    { x: t.time, y: t.x, mode: "lines", line: { color: token("accent"), width: 1.5 }, name: "x" },
    { x: t.time, y: t.v, yaxis: "y2", mode: "lines", line: { color: token("other"), width: 1.5 }, name: "v" },
  ];
  return Plotly.react(chart, data, layout(axes, { hovermode: "x", dragmode: coarse ? false : "zoom" }), still);
}

// The ends of an axis that shows the numbers with some room around them.
function padded(numbers) {
  const low = numbers.reduce((a, b) => Math.min(a, b)), high = numbers.reduce((a, b) => Math.max(a, b));
  const room = 0.05 * (high - low) || 0.05 * Math.abs(high) || 1;
  return [low - room, high + room];
}

// The numbers of the last period of a trace, from between two instants on; its end is joined to its beginning if the motion returns there.
function lastLoop(t, last, part) {
  const cut = (values) => (last > 0 ? [values[last - 1] + part * (values[last] - values[last - 1]), ...values.slice(last)] : [...values]);
  const x = cut(t.x), [low, high] = padded(x), returns = Math.abs(x[x.length - 1] - x[0]) < 0.02 * (high - low);
  return (values) => { const found = cut(values); return returns ? [...found, found[0]] : found; };
}

function drawLoop(chart, t, period) {
  const forces = [["friction_force", "friction on the mass", "accent"], ["wall_force", "force of the wall", "other"]];
  const present = forces.filter(([name]) => t[name].some((value) => value !== 0));
  const from = period ? t.time[t.time.length - 1] - period : t.time[0], last = t.time.findIndex((time) => time > from + 1e-9 * (period || 0));
  const part = last > 0 ? (from - t.time[last - 1]) / (t.time[last] - t.time[last - 1]) : 0, loop = lastLoop(t, last, part);
  const data = [];
  for (const [name, title, color] of present.length ? present : [forces[content.wall ? 1 : 0]]) {
    if (last > 1) data.push({ x: t.x, y: t[name], mode: "lines", line: { color: token(color), width: 1 }, opacity: 0.35, hoverinfo: "skip", showlegend: false });
    data.push({ x: loop(t.x), y: loop(t[name]), mode: "lines", line: { color: token(color), width: 2 }, name: last > 1 ? `${title}, last period` : title });
  }
  const forcesShown = data.map((each) => each.y).flat();
  const axes = {
    xaxis: { title: { text: "x [m]", standoff: 6 }, range: padded(t.x) },
    yaxis: { title: { text: "force [N]", standoff: 6 }, range: padded(forcesShown) },
  };
  const legend = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 } };
  const more = {
    showlegend: true, legend, hovermode: "closest", dragmode: coarse ? false : "zoom",
    margin: margins(34),
  };
  return Plotly.react(chart, data, layout(axes, more), still);
}

// ---- traces of a support of a structure

// What the contact does at each instant: the numbers of a path where it has that state, and null elsewhere. A state reaches back to the
// instant before it, so that the pieces of a path join.
function states(t) {
  const touches = t.normal_force.map((force) => force > 0), slips = t.slips.map((slip, n) => touches[n] && slip > 0.5);
  const kinds = [
    ["no contact", token("soft"), 1, touches.map((touch) => !touch)],
    ["contact holds", token("accent"), 2, touches.map((touch, n) => touch && !slips[n])],
    ["contact slips", token("other"), 2, slips],
  ];
  const only = (mask, values) => values.map((value, n) => (mask[n] || mask[n + 1] ? value : null));
  return kinds.filter(([, , , mask]) => mask.some(Boolean)).map(([name, color, width, mask]) => ({ name, line: { color, width }, of: (values) => only(mask, values) }));
}

function drawForces(chart, t) {
  const axes = {
    xaxis: { title: { text: "time [s]", standoff: 6 }, anchor: "y2", range: [t.time[0], t.time[t.time.length - 1]] },
    yaxis: { title: { text: "normal force [N]", standoff: 6 }, domain: [0.54, 1], rangemode: "tozero" },
    yaxis2: { title: { text: "friction [N]", standoff: 6 }, domain: [0, 0.46], rangemode: "tozero" },
  };
  const data = [{ x: t.time, y: t.normal_force, mode: "lines", line: { color: token("ink"), width: 1.2 }, name: "normal force" }];
  for (const { name, line, of } of states(t)) {
    data.push({ x: t.time, y: of(t.tangential_force), yaxis: "y2", mode: "lines", line: { ...line, width: 1.5 }, name, connectgaps: false });
  }
  return Plotly.react(chart, data, layout(axes, { hovermode: "x", dragmode: coarse ? false : "zoom" }), still);
}

// The path in the plane of the support's first two axes with its clearance, or over time if the structure moves along one axis alone.
function drawOrbit(chart, t, clearance) {
  const largest = [clearance, ...t.place_1, ...(t.place_2 || [])].reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  const [factor, unit] = largest >= 0.5 ? [1, "m"] : largest >= 5e-4 ? [1e3, "mm"] : [1e6, "µm"];
  const [first, second] = [t.place_1, t.place_2].map((values) => values && values.map((value) => factor * value));
  const flat = !second, x = flat ? t.time : first, y = flat ? first : second, gap = factor * clearance;
  const data = states(t).map(({ name, line, of }) => ({ x: of(x), y: of(y), mode: "lines", line, name, connectgaps: false }));
  const edge = { color: token("ink"), width: 1.5 }, about = { mode: "lines", line: edge, name: "clearance", hoverinfo: "skip" };
  const span = flat ? [x[0], x[x.length - 1]] : padded([...y, ...(content.support.obstacle === "ring" ? [-gap, gap] : [])]);
  if (content.support.obstacle === "ring") {
    const turn = Array.from({ length: 129 }, (_, n) => (n * Math.PI) / 64);
    data.push({ x: turn.map((a) => gap * Math.cos(a)), y: turn.map((a) => gap * Math.sin(a)), ...about });
  } else {
    for (const at of content.support.obstacle === "plane" ? [gap] : [-gap, gap]) {
      data.push({ ...(flat ? { x: span, y: [at, at] } : { x: [at, at], y: span }), ...about, showlegend: at === gap });
    }
  }
  const axes = {
    xaxis: { title: { text: flat ? "time [s]" : `along axis 1 [${unit}]`, standoff: 6 } },
    yaxis: { title: { text: `along axis ${flat ? 1 : 2} [${unit}]`, standoff: 6 }, ...(flat ? {} : { scaleanchor: "x" }) },
  };
  const legend = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 } };
  return Plotly.react(chart, data, layout(axes, { showlegend: true, legend, hovermode: "closest", dragmode: coarse ? false : "zoom", margin: margins(34) }), still);
}
