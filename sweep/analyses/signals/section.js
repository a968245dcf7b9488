// Signals: a chart for each list, and the numbers of all.
sections.signals = {
  show(found) {
    element("signals-title").textContent = found.title;
    const [low, , high] = found.shares.map((share) => `${100 * share} %`);
    element("signals-note").textContent = `A band lies between the ${low} and the ${high} quantile of the rows. The total of a spectrum is the root of its area, of classes the sum.`;
    element("signal-charts").replaceChildren(...found.panels.map(() => Object.assign(document.createElement("div"), { className: "chart tall" })));
    const number = (value) => (value === null ? "" : digits(value, 4)), several = found.numbers.some(({ curve }) => curve);
    const rows = found.numbers.map(({ signal, unit, curve, rows: count, total, largest, at, along_unit: along }) =>
      [signal, unit === "1" ? "" : unit.replace(/\^2/g, "²").replace(/\^3/g, "³"), ...(several ? [curve] : []), count.toLocaleString("en"), number(total), number(largest), at === null ? "" : `${number(at)} ${along}`]);
    element("signal-numbers").replaceChildren(numbersTable(["signal", "unit", ...(several ? ["curve"] : []), "rows", "total", "largest", "at"], rows, several ? 3 : 2));
  },
  async draw(found) {
    for (const [n, panel] of found.panels.entries()) await drawSignal(element("signal-charts").children[n], panel);
  },
};

// The outline of counts of classes whose lower edges are `x`; the last class is drawn as wide as the one before.
function stepped(x, values) {
  const last = x[x.length - 1], edges = [...x, last + (x.length > 1 ? last - x[x.length - 2] : 1)];
  return [x.flatMap((_, n) => [edges[n], edges[n + 1]]), values.flatMap((value) => [value, value])];
}

async function drawSignal(chart, panel) {
  const data = [], colors = hues(), unit = panel.along_unit ? ` [${raised(panel.along_unit)}]` : "", spectrum = panel.along === "frequency";
  const words = spectrum ? `density [${raised(panel.unit)}]` : { range: "cycles", level: "upward crossings" }[panel.along] ?? "impacts";
  let least = Infinity, most = 0;
  for (const [n, { name, rows, values }] of panel.curves.entries()) {
    const color = colors[n % colors.length], unpackedCurves = [];
    for (const text of values) unpackedCurves.push(whole(await unpackFloats(text, panel.entries.length, 9)));
    const [low, median, high] = unpackedCurves.map((each) => (panel.counts ? stepped(panel.entries, each)[1] : each));
    const x = panel.counts ? stepped(panel.entries, median)[0] : panel.entries;
    for (const value of unpackedCurves[1]) if (value > 0) [least, most] = [Math.min(least, value), Math.max(most, value)];
    const label = [name, rows > 1 ? `${rows.toLocaleString("en")} rows` : ""].filter(Boolean).join(", ");
    if (rows > 1) data.push(band(x, low, high, color));
    data.push({ x, y: median, mode: "lines", line: { color, width: 1.6 }, name: escaped(label || "one row") });
  }
  const logarithmic = most > 0 && !panel.signed && (spectrum || (panel.along === "range" && most > 30 * least));
  const floor = spectrum ? Math.max(least, 1e-9 * most) / 2 : least / 2;
  const frequencies = [panel.entries[1], panel.entries[panel.entries.length - 1]].map(Math.log10), spread = spectrum && panel.entries.length > 2;
  const heights = [floor, 3 * most].map(Math.log10);
  const axes = {
    xaxis: { title: { text: `${escaped(panel.along)}${unit}`, standoff: 6 }, ...(spread ? { type: "log", range: frequencies, ...ticks(frequencies) } : {}) },
    yaxis: { title: { text: words, standoff: 6 }, ...(logarithmic ? { type: "log", range: heights, exponentformat: "power", dtick: Math.max(1, Math.ceil((heights[1] - heights[0]) / 6)) } : { rangemode: panel.signed ? "normal" : "tozero", exponentformat: "power" }) },
  };
  const title = { text: escaped(panel.name), font: { size: 13 }, x: 0, xref: "paper", xanchor: "left", y: 0.99, yanchor: "top" };
  const legend = { orientation: "h", x: 1, xanchor: "right", y: 1.0, yanchor: "bottom", font: { size: 11 } };
  return Plotly.react(chart, data, layout(axes, { title, legend, showlegend: true, hovermode: "closest", dragmode: coarse ? false : "zoom", margin: margins(46) }), still);
}
