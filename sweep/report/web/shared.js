// What all pages need: elements, numbers, tables, colours, and the start of Plotly.

const sections = {};  // name of an analysis -> what fills its part of the page: show(facts), and if it draws draw(facts) once Plotly is there
const element = (id) => document.getElementById(id);
const seconds = () => (performance.now() / 1000).toFixed(3);

const HUES = ["#17568c", "#c2601a", "#6b3d80", "#3d7a4a", "#9a8c1f", "#7a4030", "#4a7f8c", "#8c4a6b"];
const LIGHT_HUES = ["#8dbde0", "#e6a368", "#c39ad6", "#8fcb9d", "#d8cc6a", "#d39a86", "#93c6d2", "#d69ab8"];  // on a dark page
const hues = () => (parseInt(token("paper").slice(1, 3), 16) < 128 ? LIGHT_HUES : HUES);
const legendAbove = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 } };

const LONG = 22;  // letters; longer values do not stand beside a name

function digits(value, count) {
  if (!Number.isFinite(value)) return "–";
  const text = value.toPrecision(count), size = Math.abs(value);
  if (value === 0) return "0";
  if (size < 1e-4 || size >= 10 ** Math.max(count, 6)) return value.toExponential(count - 1).replace(/\.?0+e/, "e");
  return text.includes("e") ? String(Math.round(value)) : text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function table(target, rows) {
  const body = document.createElement("tbody");
  for (const [name, value, unit, kind] of rows) {
    const line = body.insertRow();
    if (kind) line.className = kind;
    const head = line.insertCell();
    head.textContent = name.replace("[", "\u200b[");  // a long name may break there
    if (unit !== undefined && String(value).length > LONG) {  // words, or a table of numbers: below the name, over the whole width
      head.colSpan = 3;
      head.className = "long";
      head.append(Object.assign(document.createElement("div"), { textContent: `${value} ${unit}` }));
      continue;
    }
    const cell = line.insertCell();
    cell.textContent = value;
    if (unit !== undefined) {
      cell.className = /[a-z]{3}/.test(value) ? "number word" : "number";
      const last = line.insertCell();
      last.className = "unit";
      last.textContent = unit.replace(/\^2/g, "²").replace(/\^3/g, "³");
    }
  }
  const made = document.createElement("table");
  made.append(body);
  target.replaceChildren(made);
}

function list(target, items) {
  target.replaceChildren(...items.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
}

// Words of a table: a line for each row, numbers from column `words` on.
function numbersTable(names, rows, words) {
  const made = document.createElement("table"), head = made.createTHead().insertRow(), body = made.createTBody();
  made.className = "indices";
  for (const [n, name] of names.entries()) head.append(Object.assign(document.createElement("th"), { textContent: name, className: n < words ? "" : "number" }));
  for (const cells of rows) {
    const line = body.insertRow();
    for (const [n, textContent] of cells.entries()) Object.assign(line.insertCell(), { textContent, className: n < words ? "" : "number" });
  }
  return made;
}

// Plotly takes a second to start: the browser first paints what is there.
async function startPlotly() {
  await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); setTimeout(done, 200); });
  document.head.append(Object.assign(document.createElement("script"), { textContent: element("plotly").textContent }));
  element("plotly").remove();
}
