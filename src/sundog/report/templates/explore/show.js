// Answers as tables: every number with its interval, in words and as a bar with a band. Labels are written as text, never as markup.
const ORIGINS = {
  measured: "Measured with noise: the interval holds the exact value with probability 95 %.",
  composed: "Put together from several measurements: the 95 % interval includes what that leaves open.",
  synthetic: "A guess: counted on the synthetic rows. The interval follows from how far these rows are from what was measured; it is no guarantee.",
};
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  const made = name === "svg" || name === "rect" ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const precise = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

function shownNumber(value, kind) {
  if (kind === "count") return whole.format(value);
  if (kind === "mean") return Math.abs(value) >= 10000 ? whole.format(value) : precise.format(value);
  return `${(100 * value).toFixed(1)}\u00a0%`;
}

function shownInterval(cell, kind) {
  const [low, high] = [cell.low, cell.high].map((value) => shownNumber(value, kind));
  return `${low} to ${high}`.replace(/\u00a0% to/, " to");
}

// A bar up to the estimate, and a band over the interval; `from` and `to` are the ends of the scale.
function bar(cell, from, to) {
  const place = (value) => (100 * (Math.min(Math.max(value, from), to) - from)) / (to - from || 1);
  const picture = element("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "bar", "aria-hidden": "true", focusable: "false" });
  picture.append(
    element("rect", { class: "syn", x: 0, y: 2, height: 6, width: place(cell.estimate).toFixed(2) }),
    element("rect", { class: "band", x: place(cell.low).toFixed(2), y: 0, height: 10, width: Math.max(place(cell.high) - place(cell.low), 0.5).toFixed(2) }),
  );
  return picture;
}

// The scale of the bars: from zero for counts and shares, over all intervals (not cut by more than half) for means.
function scaleOf(cells, kind) {
  const most = Math.max(...cells.map((cell) => cell.estimate));
  const high = Math.max(most, Math.min(Math.max(...cells.map((cell) => cell.high)), 2 * most));
  if (kind !== "mean") return [0, high || 1];
  const [low, top] = [Math.min(...cells.map((cell) => cell.low)), Math.max(...cells.map((cell) => cell.high))];
  return [low - (top - low) / 10, top];
}

const tagged = (made, role) => {
  made.setAttribute("role", role);
  return made;
};

const head = (words, kind = "") => tagged(element("th", { scope: "col", class: kind }, words), "columnheader");
const side = (words) => tagged(element("th", { scope: "row" }, words), "rowheader");
const row = (...cells) => tagged(element("tr", {}, ...cells), "row");

function cellOf(label, kind, ...children) {
  return tagged(element("td", { "data-label": label, class: kind }, ...children), "cell");
}

function tableOf(caption, heads, rows, kind) {
  const made = element("table", { class: kind }, element("caption", {}, caption), element("thead", {}, row(...heads)), element("tbody", {}, ...rows));
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption }, tagged(made, "table"));
}

// One side (or none): a line per cell.
function linesOf(found, statistic, caption, { largestFirst }) {
  const names = found.sides.length ? found.sides[0].axis.names : ["all rows"];
  const [from, to] = scaleOf(found.cells, statistic.kind);
  const order = names.map((_, i) => i);
  if (largestFirst) order.sort((a, b) => found.cells[b].estimate - found.cells[a].estimate || a - b);
  const rows = order.map((i) =>
    row(
      side(names[i]),
      cellOf("", "picture", bar(found.cells[i], from, to)),
      cellOf(wordOf(statistic), "number", shownNumber(found.cells[i].estimate, statistic.kind)),
      cellOf("95 % interval", "number", shownInterval(found.cells[i], statistic.kind)),
      cellOf("synthetic rows", "number soft", whole.format(found.rows[i])),
    ),
  );
  const title = found.sides.length ? found.sides[0].column.name : "";
  const picture = head("", "picture");
  picture.append(element("span", { class: "unseen" }, "bar"));
  return tableOf(caption, [head(title), picture, head(wordOf(statistic), "number"), head("95 % interval", "number"), head("synthetic rows", "number")], rows, "lines stack");
}

// Two sides: the number, its interval and a bar in every cell.
function gridOf(found, statistic, caption) {
  const [down, across] = found.sides;
  const [from, to] = scaleOf(found.cells, statistic.kind);
  const rows = down.axis.names.map((name, i) =>
    row(
      side(name),
      ...across.axis.names.map((label, k) => {
        const cell = found.cells[i * across.axis.names.length + k];
        return cellOf(label, "number", element("b", {}, shownNumber(cell.estimate, statistic.kind)), bar(cell, from, to), element("small", {}, shownInterval(cell, statistic.kind)));
      }),
    ),
  );
  return tableOf(caption, [head(`${down.column.name} \\ ${across.column.name}`), ...across.axis.names.map((name) => head(name, "number"))], rows, "cross stack");
}

const wordOf = (statistic) => ({ count: "count", share: "share of all", within: "share within the line", mean: `mean of ${statistic.of ? statistic.of.name : ""}` })[statistic.kind];

function captionOf(columns, statistic, conditions) {
  const by = columns.length ? ` by ${columns.map((column) => column.name).join(" and ")}` : "";
  const where = conditions.length ? `, where ${conditions.map(inWords).join(" and ")}` : "";
  const words = wordOf(statistic);
  return `${words[0].toUpperCase()}${words.slice(1)}${by}${where}`;
}
