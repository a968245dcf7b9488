// The page of a study of branches: an observable over the parameter, curves of special points, and tables of both.

const SYMBOLS = { fold: "circle-open", flip: "diamond-open", "Neimark-Sacker": "triangle-up-open", "branch point": "square-open", grazing: "x-thin-open" };
const MANY = 8;  // points of the study that are told apart by colour
const numbers = {};  // columns that are unpacked

// Pieces of the rows from `start` to `stop` in which all motions are stable, or none; each begins with the last row of the one before it.
function* pieces(start, stop) {
  const { stable } = numbers;
  for (let from = start; from < stop;) {
    let to = from + 1;
    while (to < stop && stable[to] === stable[from]) to++;
    yield { rows: [Math.max(from - 1, start), to], stable: stable[from] === 1 };
    from = to;
  }
}

// A line through many pieces, with gaps between them.
function line(spans, x, y, words) {
  const found = { x: [], y: [], text: [] };
  for (const [from, to] of spans) {
    for (let row = from; row < to; row++) {
      found.x.push(x[row]);
      found.y.push(Number.isFinite(y[row]) ? y[row] : null);
      found.text.push(words(row));
    }
    found.x.push(null), found.y.push(null), found.text.push("");
  }
  return found;
}

const titled = (facts) => `${escaped(facts.said)}${facts.unit ? ` [${raised(facts.unit)}]` : ""}`;

async function drawBranches() {
  const facts = content.observables.find(({ name }) => name === element("observable").value);
  const [x, y] = [numbers.along, await column(facts.name)], point = element("point").value, colors = hues();
  const shown = content.points.filter(({ number }) => point === "all" || number === Number(point)), colored = shown.length <= MANY;
  const several = shown.length > 1, data = [];
  const words = (row) => {
    const at = content.points[numbers.place[row]], kind = content.kinds[numbers.special[row]];
    return [several ? escaped(at.label) : "", `branch ${numbers.branch[row]}`, kind || (numbers.stable[row] ? "stable" : "unstable")].filter(Boolean).join("<br>");
  };
  const hovertemplate = `${content.along.name} = %{x:.7~g}<br>${facts.name} = %{y:.7~g}<br>%{text}<extra></extra>`;
  for (const [n, { spans, label }] of shown.entries()) {
    const found = spans.flatMap(([start, stop]) => [...pieces(start, stop)]), color = colored ? colors[content.points.indexOf(shown[n]) % colors.length] : token("ink");
    for (const stable of [true, false]) {
      const rows = found.filter((piece) => piece.stable === stable).map((piece) => piece.rows);
      if (!rows.length) continue;
      data.push({ ...line(rows, x, y, words), mode: "lines", hovertemplate, connectgaps: false, legendgroup: label, showlegend: colored && several && (stable || !found.some((piece) => piece.stable)), name: escaped(label), line: { color, width: stable ? 2 : 1.3, dash: stable ? "solid" : "dash" } });
    }
  }
  for (const [code, kind] of content.kinds.entries()) {
    const rows = shown.flatMap(({ spans }) => spans.flatMap(([start, stop]) => Array.from({ length: stop - start }, (_, n) => start + n))).filter((row) => code && numbers.special[row] === code);
    if (!rows.length) continue;
    data.push({ x: rows.map((row) => x[row]), y: rows.map((row) => y[row]), text: rows.map(words), hovertemplate, mode: "markers", name: kind, marker: { symbol: SYMBOLS[kind], size: colored ? 8 : 5, color: token("ink"), line: { width: 1.5, color: token("ink") } } });
  }
  const bones = content.backbone.filter(({ point: of, y: has }) => facts.name in has && shown.some(({ number }) => number === of));
  for (const [n, { point: of, x: frequency, y: motions }] of bones.entries()) {
    const text = several ? escaped(content.points.find(({ number }) => number === of).label) : "";
    data.push({ x: frequency, y: motions[facts.name], mode: "lines", name: "backbone", legendgroup: "backbone", showlegend: n === 0, line: { color: token("ink"), width: 1.5, dash: "dot" }, hovertemplate: `${content.along.name} = %{x:.7~g}<br>${facts.name} = %{y:.7~g}<br>free motion${text && `<br>${text}`}<extra></extra>` });
  }
  if (facts.name === content.multiplier) {
    data.push({ x: content.along.range, y: [1, 1], mode: "lines", hoverinfo: "skip", name: "the unit circle", line: { color: token("soft"), width: 1, dash: "dot" } });
  }
  const logarithmic = element("logarithmic").checked;
  const axes = {
    xaxis: { title: { text: content.along.label, standoff: 6 }, type: content.along.log ? "log" : "linear", range: content.along.range.map((value) => (content.along.log ? Math.log10(value) : value)) },
    yaxis: { title: { text: titled(facts), standoff: 6 }, type: logarithmic ? "log" : "linear" },
  };
  return Plotly.react(element("branches-chart"), data, layout(axes, { showlegend: true, legend: legendAbove, hovermode: "closest", dragmode: coarse ? false : "zoom", margin: margins(56, pixels("right")) }), quiet);
}

async function drawCurves() {
  const found = content.curves;
  if (!found) return null;
  const colors = hues(), kinds = content.kinds.slice(1), named = new Set(), data = [];
  for (const curve of found.lines) {
    const color = curve.kind === "grazing" ? token("ink") : colors[kinds.indexOf(curve.kind) % colors.length], first = !named.has(curve.kind);
    named.add(curve.kind);
    data.push({
      x: curve.x, y: curve.y, mode: curve.x.length > 1 ? "lines" : "markers", name: curve.kind, legendgroup: curve.kind, showlegend: first,
      line: { color, width: 1.8, dash: curve.kind === "grazing" ? "dash" : "solid" }, marker: { color, size: 6 },
      hovertemplate: `${content.along.name} = %{x:.7~g}<br>${found.second.name} = %{y:.7~g}<br>${curve.kind}${curve.label ? `<br>${escaped(curve.label)}` : ""}<extra></extra>`,
    });
  }
  data.push({ x: content.along.range, y: [found.place, found.place], mode: "lines", hoverinfo: "skip", name: "the branches above", line: { color: token("soft"), width: 1, dash: "dot" } });
  const axes = Object.fromEntries([["xaxis", content.along], ["yaxis", found.second]].map(([name, { label, log, range }]) => [name, {
    title: { text: label, standoff: 6 }, type: log ? "log" : "linear", range: range.map((value) => (log ? Math.log10(value) : value)),
  }]));
  return Plotly.react(element("curves-chart"), data, layout(axes, { showlegend: true, legend: legendAbove, hovermode: "closest", dragmode: coarse ? false : "zoom", margin: margins(34, pixels("right")) }), quiet);
}

function showFacts() {
  element("study").textContent = content.study;
  element("about").textContent = content.about;
  list(element("state"), content.state);
  element("sentences").replaceChildren(...content.summary.flatMap(([what, said]) =>
    [["dt", what], ["dd", said.replace(/\^2/g, "²").replace(/\^3/g, "³")]].map(([kind, textContent]) => Object.assign(document.createElement(kind), { textContent }))));
  for (const { name, said, unit } of content.observables) element("observable").add(new Option(`${said}${unit ? ` [${unit}]` : ""}`, name));
  element("observable").value = content.shown;
  element("logarithmic").checked = content.logarithmic;
  element("point").add(new Option(`all ${content.points.length} points of the study`, "all"));
  for (const { number, label } of content.points) element("point").add(new Option(label, number));
  element("one").hidden = content.points.length < 2;
  element("curves").hidden = !content.curves;
  if (content.curves) {
    element("curves-title").textContent = content.curves.title;
    element("curves-note").textContent = "On a curve the motions of this kind change. The dotted line is where the branches above lie.";
  }
  element("branches").replaceChildren(numbersTable(content.branches.names, content.branches.rows, content.branches.words));
  element("special").hidden = !content.specials.rows.length;
  element("specials").replaceChildren(numbersTable(content.specials.names, content.specials.rows, content.specials.words));
  table(element("fixed"), content.fixed);
  table(element("provenance"), content.provenance);
  element("config").textContent = content.config;
  list(element("notes"), content.notes);
}

async function begin() {
  showFacts();
  const names = ["along", "place", "branch", "special", "stable"];
  for (const [n, values] of (await Promise.all(names.map(column))).entries()) numbers[names[n]] = values;
  document.body.dataset.painted = seconds();
  await startPlotly();
  const draw = async () => { await drawBranches(); await drawCurves(); };
  await draw();
  for (const name of ["observable", "point", "logarithmic"]) element(name).addEventListener("change", drawBranches);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  const onPaper = (is) => { document.documentElement.classList.toggle("paper", is); draw(); };
  window.addEventListener("beforeprint", () => onPaper(true));
  window.addEventListener("afterprint", () => onPaper(location.hash === "#paper"));
  document.body.dataset.ready = document.body.dataset.complete = seconds();
}

function fail(error) {
  console.error(error);
  element("notes").replaceChildren(Object.assign(document.createElement("li"), { textContent: `This report cannot be drawn here: ${error.message || error}. It needs a browser of 2023 or later.` }));
}

document.documentElement.classList.toggle("paper", location.hash === "#paper");
if (typeof DecompressionStream === "undefined") fail(new Error("the browser cannot unpack its numbers"));
else begin().catch(fail);
