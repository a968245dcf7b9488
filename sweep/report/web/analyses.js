// Tables of what was analysed besides the points.

// Indices of sensitivity: for each parameter a bar of each measure, and the numbers with half their intervals.
function showIndices() {
  const found = content.sensitivity;
  element("sensitivity").hidden = !found;
  if (!found) return;
  element("sensitivity-title").textContent = found.title;
  element("sensitivity-note").textContent = found.note;
  const largest = Math.max(...found.rows.flatMap(({ values }) => values.map(([value]) => value)).filter(Number.isFinite), 1e-300);
  const made = document.createElement("table"), head = made.createTHead().insertRow(), body = made.createTBody();
  made.className = "indices";
  for (const [n, name] of ["parameter", "", ...found.measures].entries()) head.append(Object.assign(document.createElement("th"), { textContent: name, className: n > 1 ? "number" : "" }));
  for (const { parameter, values } of found.rows) {
    const line = body.insertRow();
    line.insertCell().textContent = parameter;
    const bars = Object.assign(line.insertCell(), { className: "bars" });
    values.forEach(([value], n) => {
      const bar = Object.assign(document.createElement("div"), { className: n ? "index second" : "index" });
      bar.style.width = `${(100 * Math.max(0, value ?? 0)) / largest}%`;
      bars.append(bar);
    });
    for (const [value, half] of values) {
      const text = value === null ? "–" : `${digits(value, 3)}${half === null ? "" : ` ± ${digits(half, 2)}`}`;
      Object.assign(line.insertCell(), { className: "number", textContent: text });
    }
  }
  element("indices").replaceChildren(made);
}

function showCurves() {
  element("boundaries").hidden = !content.curves.length;
  if (!content.curves.length) return;
  const made = document.createElement("table"), head = made.createTHead().insertRow(), body = made.createTBody();
  made.className = "indices";
  for (const [n, name] of ["between", "curves", "places", "widest bracket, relative"].entries()) head.append(Object.assign(document.createElement("th"), { textContent: name, className: n ? "number" : "" }));
  for (const { between, curves, places, width } of content.curves) {
    const line = body.insertRow();
    line.insertCell().textContent = between;
    for (const number of [curves, places.toLocaleString("en"), width.toExponential(1)]) Object.assign(line.insertCell(), { className: "number", textContent: number });
  }
  element("curves").replaceChildren(made);
}

// Rare event: its chance with the interval, and the levels that lead to it. `drawRare` adds the picture once Plotly is there.
function showRare() {
  const found = content.rare;
  element("rare").hidden = !found;
  if (!found) return;
  element("rare-title").textContent = found.title;
  const number = (value, most = 4) => (typeof value === "number" ? digits(value, most) : "–"), count = (value) => value.toLocaleString("en");
  const several = found.repeats.length > 1, of = found.estimate ? [["all repeats", found.estimate]] : [];
  if (several) of.push(...found.repeats.map((each) => [`repeat ${each.repeat}`, each]));
  const chances = of.map(([name, each]) => [name, number(each.probability), `${number(each.low, 3)} to ${number(each.high, 3)}`, number(each.variation, 3), count(each.families)]);
  element("rare-chance").replaceChildren(numbersTable(["of", "chance", `${100 * found.confidence} %`, "coefficient of variation", "families"], chances, 1));
  const goal = `${found.across}${found.unit ? ` [${found.unit.replace(/\^2/g, "²")}]` : ""}`;
  const levels = found.levels.map((row) => [`${row.repeat}`, `${row.level}`, number(row.goal, 5), number(row.probability), number(row.exceedance), number(row.accepted, 3), count(row.rows), count(row.failed)]);
  element("rare-levels").replaceChildren(numbersTable(["repeat", "level", goal, "share", "chance", "accepted", "rows", "failed"], levels, 2));
}

function drawRare() {
  const found = content.rare;
  if (!found || !found.curve.length) return null;
  const [color, mark, ink] = ["#17568c", "#c2601a", "#8c1c13"], x = found.curve.map(({ value }) => value);
  const least = Math.min(...found.curve.map(({ low }) => low)), levels = found.levels.filter(({ exceedance }) => exceedance > 0);
  const data = [
    { x: [...x, ...x.toReversed()], y: [...found.curve.map(({ low }) => low), ...found.curve.map(({ high }) => high).toReversed()], fill: "toself", mode: "lines", line: { width: 0 }, fillcolor: `${color}2e`, hoverinfo: "skip", name: `${100 * found.confidence} % interval` },
    { x, y: found.curve.map(({ chance }) => chance), mode: "lines", line: { color, width: 2 }, name: "chance to pass the value" },
    { x: [found.limit, found.limit], y: [least, 1], mode: "lines", line: { color: ink, dash: "dash", width: 1.2 }, name: "limit" },
  ];
  if (found.repeats.length <= 6) data.push({ x: levels.map(({ goal }) => goal), y: levels.map(({ exceedance }) => exceedance), mode: "markers", marker: { color: mark, size: 7 }, name: "levels" });
  const axes = {
    xaxis: { title: { text: `${escaped(found.across)}${found.unit ? ` [${raised(found.unit)}]` : ""}`, standoff: 6 } },
    yaxis: { title: { text: "chance", standoff: 6 }, type: "log", ...(least < 0.01 ? { exponentformat: "power", dtick: 1 } : ticks([Math.log10(least), 0])) },
  };
  return Plotly.react(element("rare-chart"), data, layout(axes, { showlegend: true, legend: legendAbove, hovermode: "closest", dragmode: coarse ? false : "zoom", margin: margins(34) }), still);
}
