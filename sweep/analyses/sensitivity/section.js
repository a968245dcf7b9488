// Indices of sensitivity: for each parameter a bar of each measure, and the numbers with half their intervals.
sections.sensitivity = {
  show(found) {
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
  },
};
