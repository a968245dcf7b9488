// Statistics over draws and over rows: quantiles and probabilities at every place. Plotly draws them.

const whole = (values) => Array.from(values, (value) => (Number.isFinite(value) ? value : null));

// The band between two curves, without the places where one of them is missing.
function band(x, low, high, color, more = {}) {
  const there = x.map((_, n) => n).filter((n) => low[n] !== null && high[n] !== null), at = there.map((n) => x[n]);
  return { x: [...at, ...at.toReversed()], y: [...there.map((n) => low[n]), ...there.map((n) => high[n]).toReversed()], fill: "toself", mode: "lines", line: { width: 0 }, fillcolor: `${color}2e`, hoverinfo: "skip", showlegend: false, ...more };
}

// ---- draws

function showGroups() {
  const found = content.groups;
  element("groups").hidden = !found;
  if (!found) return;
  const [least, most] = found.rows, rows = least === most ? `${least.toLocaleString("en")} rows` : `${least.toLocaleString("en")} to ${most.toLocaleString("en")} rows`;
  element("groups-title").textContent = `${found.title}: ${rows} with results at each place`;
  element("chances-side").hidden = !found.chances.length;
  const chart = content.axes.length > 1;
  for (const [id, statistics, first] of [["quantile", found.quantiles, 1], ["chance", found.chances, 0]]) {
    element(id).parentElement.hidden = !chart;
    element(id).replaceChildren(...statistics.map(({ name }, n) => new Option(id === "quantile" ? `${name} of ${found.quantity.name}` : `probability of ${name}`, n)));
    element(id).value = first;
    element(id).onchange = () => drawGroups(id);
  }
  element("quantiles-side").className = found.chances.length ? "" : "alone";
  const level = `${100 * found.confidence} %`, notes = [chart ? `The pointer shows the number of a place and its ${level} interval, of independent rows.` : `Bands are ${level} intervals, of independent rows; a curve has none where its rows are too few.`];
  if (chart && found.sought !== null) notes.push(`On the line the probability is ${digits(100 * found.sought, 4)} %, on dashed lines an end of its interval.`);
  else if (chart && found.chances.some(({ lines }) => lines.length)) notes.push("On the lines the probability is 5 % (dotted), 50 % and 95 % (dashed).");
  element("groups-note").textContent = notes.join(" ");
}

async function unpackStatistic(statistic, count) {
  const found = {};
  for (const name of ["value", "lower", "upper"]) found[name] = Array.from(await unpackFloats(statistic[name], count, 9));
  return found;
}

async function drawGroups(only) {
  const found = content.groups;
  if (!found) return;
  const places = [];
  for (const text of found.places) places.push(Array.from(await unpackFloats(text, found.count, 0)));
  for (const [id, statistics] of [["quantile", found.quantiles], ["chance", found.chances]]) {
    if ((only && only !== id) || !statistics.length) continue;
    const chart = element(`${id}s-chart`);
    if (places.length === 1) await drawGroupCurves(chart, id, statistics, places[0]);
    else await drawGroupMap(chart, id, statistics[Number(element(id).value)], places);
  }
}

async function drawGroupCurves(chart, id, statistics, x) {
  const found = content.groups, data = [], of = found.quantity, colors = hues();
  for (const [n, statistic] of statistics.entries()) {
    const { value, lower, upper } = await unpackStatistic(statistic, found.count), color = id === "quantile" ? colors[[1, 0, 2][n]] : colors[n % colors.length];
    data.push(band(x, whole(lower), whole(upper), color));
    data.push({ x, y: whole(value), mode: x.length > 60 ? "lines" : "lines+markers", line: { color, width: 1.8 }, marker: { size: 4 }, name: escaped(statistic.name) });
  }
  const axes = {
    xaxis: { title: { text: content.axes[0].label, standoff: 6 }, type: axisType(0), ...logTicks(0, ends(0)) },
    yaxis: id === "quantile" ? { title: { text: labelled(of), standoff: 6 } } : { title: { text: "probability", standoff: 6 }, range: [-0.03, 1.03] },
  };
  return Plotly.react(chart, data, layout(axes, { showlegend: true, legend: legendAbove, hovermode: "closest", dragmode: coarse ? false : "zoom", margin: margins(34) }), still);
}

const RAMP = [[0, "#f4eee2"], [0.5, "#7fa8c9"], [1, "#17568c"]];

async function drawGroupMap(chart, id, statistic, [x, y]) {
  const found = content.groups, { value, lower, upper } = await unpackStatistic(statistic, found.count), chance = id === "chance";
  const unit = chance ? "" : found.quantity.unit ? ` ${raised(found.quantity.unit)}` : "", of = (number) => (Number.isFinite(number) ? digits(number, 4) : number === Infinity ? "∞" : number === -Infinity ? "−∞" : "–");
  const text = value.map((each, n) => (Number.isFinite(each) ? `${of(each)}${unit} (${of(lower[n])} to ${of(upper[n])})` : "no value"));
  const bar = { thickness: 12, outlinewidth: 0, title: { text: chance ? "probability" : labelled(found.quantity), side: "right" } };
  const hover = { text, hovertemplate: "%{text}<extra></extra>" }, range = chance ? [0, 1] : [undefined, undefined], data = [];
  if (found.gridded) data.push({ type: "heatmap", x, y, z: whole(value), zmin: range[0], zmax: range[1], colorscale: RAMP, colorbar: bar, ...hover });
  else {
    const there = value.map((_, n) => n).filter((n) => Number.isFinite(value[n])), pick = (values) => there.map((n) => values[n]);
    const size = Math.max(4, Math.min(9, 300 / Math.sqrt(there.length)));
    data.push({ mode: "markers", x: pick(x), y: pick(y), marker: { color: pick(value), cmin: range[0], cmax: range[1], size, colorscale: RAMP, colorbar: bar, line: { width: 0.5, color: "#5a5a5a" } }, text: pick(text), hovertemplate: hover.hovertemplate });
  }
  const dashes = { 0.05: "dot", 0.95: "dash" };
  for (const line of statistic.lines) {
    const ending = line.of !== "value", color = ending ? "#5a5a5a" : "#1b1b1b";
    data.push({ x: line.x, y: line.y, mode: "lines", connectgaps: false, hoverinfo: "skip", line: { color, width: ending ? 1 : 2, dash: ending ? "dash" : statistic.lines.length > 1 && found.sought === null ? dashes[line.level] ?? "solid" : "solid" } });
  }
  if (chance && found.sought !== null) {
    for (const { name, x: along, y: up } of content.boundaries.filter(({ theory }) => !theory)) {
      const ending = name.includes("interval");
      data.push({ x: along, y: up, mode: "lines", connectgaps: false, hoverinfo: "skip", line: { color: "#c2331a", width: ending ? 1.2 : 2.2, dash: ending ? "dash" : "solid" } });
    }
  }
  const axes = Object.fromEntries(["xaxis", "yaxis"].map((name, n) => [name, { title: { text: content.axes[n].label, standoff: 6 }, type: axisType(n), showgrid: false, ...logTicks(n, ends(n)) }]));
  return Plotly.react(chart, data, layout(axes, { hovermode: "closest", dragmode: coarse ? false : "zoom", margin: margins(14) }), still);
}
