// Rank correlations: the matrix, and the pairs with their intervals.
sections.correlation = {
  show(found) {
    const level = `${+(100 * found.level).toPrecision(4)} %`, number = (value) => (value === null ? "–" : digits(value, 3));
    element("correlation-note").textContent = `Spearman's coefficients. A pair whose ${level} interval holds 0 does not differ from 0 at this level.${found.pairs.length > 40 ? " The 40 strongest pairs are listed." : ""}`;
    const rows = found.pairs.slice(0, 40).map((pair) => [pair.first, pair.second, number(pair.correlation), pair.low === null ? "–" : `${number(pair.low)} to ${number(pair.high)}`, pair.rows.toLocaleString("en")]);
    element("correlation-pairs").replaceChildren(numbersTable(["first", "second", "correlation", level, "rows"], rows, 2));
  },
  draw(found) {
    const names = found.columns, value = new Map(found.pairs.flatMap((pair) => [[`${pair.first}\n${pair.second}`, pair], [`${pair.second}\n${pair.first}`, pair]]));
    const x = names.slice(0, -1), y = names.slice(1).toReversed();
    const cell = (row, column) => (names.indexOf(row) > names.indexOf(column) ? value.get(`${row}\n${column}`) ?? null : null);
    const z = y.map((row) => x.map((column) => cell(row, column)?.correlation ?? null));
    const said = y.map((row) => x.map((column) => { const pair = cell(row, column); return pair && pair.low !== null ? `${escaped(row)} and ${escaped(column)}: ${digits(pair.correlation, 3)} (${digits(pair.low, 3)} to ${digits(pair.high, 3)})` : ""; }));
    const data = [{ type: "heatmap", x: x.map(escaped), y: y.map(escaped), z, text: said, hoverinfo: "text", colorscale: [[0, "#2166ac"], [0.5, "#f7f7f7"], [1, "#b2182b"]], zmin: -1, zmax: 1, colorbar: { thickness: 12 } }];
    return Plotly.react(element("correlation-chart"), data, layout({ xaxis: { type: "category", showgrid: false }, yaxis: { type: "category", showgrid: false } }, { dragmode: false, margin: margins(34) }), still);
  },
};
