// Rare event: its probability with the interval, the levels that lead to it, and its picture.
sections.rare = {
  show(found) {
    element("rare-title").textContent = found.title;
    const number = (value, most = 4) => (typeof value === "number" ? digits(value, most) : "–"), count = (value) => value.toLocaleString("en");
    const several = found.repeats.length > 1, of = found.estimate ? [["all repeats", found.estimate]] : [];
    if (several) of.push(...found.repeats.map((each) => [`repeat ${each.repeat}`, each]));
    const chances = of.map(([name, each]) => [name, number(each.probability), `${number(each.low, 3)} to ${number(each.high, 3)}`, number(each.variation, 3), count(each.families)]);
    element("rare-chance").replaceChildren(numbersTable(["of", "probability", `${100 * found.confidence} %`, "coefficient of variation", "families"], chances, 1));
    const goal = `${found.across}${found.unit ? ` [${found.unit.replace(/\^2/g, "²")}]` : ""}`;
    const levels = found.levels.map((row) => [`${row.repeat}`, `${row.level}`, number(row.goal, 5), number(row.probability), number(row.exceedance), number(row.accepted, 3), count(row.rows), count(row.failed)]);
    element("rare-levels").replaceChildren(numbersTable(["repeat", "level", goal, "share", "probability", "accepted", "rows", "failed"], levels, 2));
  },
  draw(found) {
    if (!found.curve.length) return null;
    const [color, mark, ink] = ["#17568c", "#c2601a", "#8c1c13"], x = found.curve.map(({ value }) => value);
    const least = Math.min(...found.curve.map(({ low }) => low)), levels = found.levels.filter(({ exceedance }) => exceedance > 0);
    const data = [
      { x: [...x, ...x.toReversed()], y: [...found.curve.map(({ low }) => low), ...found.curve.map(({ high }) => high).toReversed()], fill: "toself", mode: "lines", line: { width: 0 }, fillcolor: `${color}2e`, hoverinfo: "skip", name: `${100 * found.confidence} % interval` },
      { x, y: found.curve.map(({ chance }) => chance), mode: "lines", line: { color, width: 2 }, name: "probability to pass the value" },
      { x: [found.limit, found.limit], y: [least, 1], mode: "lines", line: { color: ink, dash: "dash", width: 1.2 }, name: "limit" },
    ];
    if (found.repeats.length <= 6) data.push({ x: levels.map(({ goal }) => goal), y: levels.map(({ exceedance }) => exceedance), mode: "markers", marker: { color: mark, size: 7 }, name: "levels" });
    const axes = {
      xaxis: { title: { text: `${escaped(found.across)}${found.unit ? ` [${raised(found.unit)}]` : ""}`, standoff: 6 } },
      yaxis: { title: { text: "probability", standoff: 6 }, type: "log", ...(least < 0.01 ? { exponentformat: "power", dtick: 1 } : ticks([Math.log10(least), 0])) },
    };
    return Plotly.react(element("rare-chart"), data, layout(axes, { showlegend: true, legend: legendAbove, hovermode: "closest", dragmode: coarse ? false : "zoom", margin: margins(34) }), still);
  },
};
