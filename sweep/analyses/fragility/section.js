// Fragility: theta and beta of each curve with their intervals, and its picture.
sections.fragility = {
  show(found) {
    element("fragility-title").textContent = found.title;
    const made = document.createElement("table"), head = made.createTHead().insertRow(), body = made.createTBody();
    made.className = "indices";
    const level = `${100 * found.level} %`, number = (value) => (typeof value === "number" ? digits(value, 4) : value ?? "–");
    const names = ["curve", "rows", "events", `θ${found.unit ? ` [${found.unit.replace(/\^2/g, "²")}]` : ""}`, level, "β", level, "intervals"];
    for (const [n, name] of names.entries()) head.append(Object.assign(document.createElement("th"), { textContent: name, className: n && n < 7 ? "number" : "" }));
    for (const fit of found.fits) {
      const line = body.insertRow(), interval = (name) => (fit[name] === null ? "–" : `${number(fit[`${name}_low`])} to ${number(fit[`${name}_high`])}`);
      const cells = [fit.by || "all", fit.rows.toLocaleString("en"), fit.events.toLocaleString("en"), number(fit.theta), interval("theta"), number(fit.beta), interval("beta"), fit.reason || fit.interval];
      for (const [n, textContent] of cells.entries()) Object.assign(line.insertCell(), { textContent, className: n && n < 7 ? "number" : "" });
    }
    element("fragility-fits").replaceChildren(made);
  },
  draw(found) {
    const colors = hues(), data = [];
    for (const [place, fit] of found.fits.entries()) {
      const color = colors[place % colors.length], by = escaped(fit.by), name = by || "lognormal";
      const [line, points] = [found.curves, found.points].map((rows) => rows.filter(({ curve }) => curve === fit.curve));
      const x = line.map(({ intensity }) => intensity);
      data.push({ x: [...x, ...x.toReversed()], y: [...line.map(({ low }) => low), ...line.map(({ high }) => high).toReversed()], fill: "toself", mode: "lines", line: { width: 0 }, fillcolor: `${color}2e`, hoverinfo: "skip", showlegend: false });
      data.push({ x, y: line.map(({ chance }) => chance), mode: "lines", line: { color, width: 2 }, name });
      data.push({
        x: points.map(({ intensity }) => intensity), y: points.map(({ share }) => share), mode: "markers", marker: { color, size: 6 }, name: by ? `${by}, counted` : "counted",
        error_y: { type: "data", symmetric: false, array: points.map(({ share, high }) => high - share), arrayminus: points.map(({ share, low }) => share - low), color, thickness: 1, width: 2 },
      });
    }
    const axes = {
      xaxis: { title: { text: `${escaped(found.intensity)}${found.unit ? ` [${raised(found.unit)}]` : ""}`, standoff: 6 } },
      yaxis: { title: { text: "probability", standoff: 6 }, range: [-0.03, 1.03] },
    };
    return Plotly.react(element("fragility-chart"), data, layout(axes, { showlegend: true, legend: legendAbove, hovermode: "closest", dragmode: coarse ? false : "zoom", margin: margins(34) }), still);
  },
};
