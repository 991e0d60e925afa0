// The controls, and what happens when one changes.
const at = (id) => document.getElementById(id);

function fill(select, options) {
  select.replaceChildren(...options.map(([value, words]) => element("option", { value }, words)));
}

const columnOptions = () => page.columns.map((column, i) => [String(i), column.name]);

function valueField(column, operator, label) {
  if (MISSING.includes(operator)) return null;
  if (column.kind === "labels") {
    const select = element("select", { "aria-label": label });
    fill(select, [...column.codes].map((code, i) => [String(code), column.labels[i]]).filter(([code]) => Number(code) !== column.missing));
    return select;
  }
  const field = element("input", { type: INPUTS[column.kind], "aria-label": label });
  if (field.type === "number") field.step = "any";
  if (field.type === "time" || field.type === "datetime-local") field.step = "1";
  return field;
}

function addCondition() {
  const number = at("conditions").children.length + 1;
  const line = element("div", { class: "condition", role: "group", "aria-label": `condition ${number}` });
  const column = element("select", { "aria-label": "column" });
  const operator = element("select", { "aria-label": "comparison" });
  const place = element("span", {});
  const remove = element("button", { type: "button" }, "Remove");
  const chosen = () => page.columns[Number(column.value)];
  const newValue = () => {
    const field = valueField(chosen(), operator.value, "value");
    place.replaceChildren(...(field ? [field] : []));
  };
  fill(column, columnOptions());
  column.addEventListener("change", () => {
    fill(operator, operatorsOf(chosen()).map((sign) => [sign, sign]));
    newValue();
  });
  operator.addEventListener("change", newValue);
  remove.addEventListener("click", () => {
    line.remove();
    at("add").focus();
    update();
  });
  line.condition = () => conditionOf(chosen(), operator.value, place.firstChild ? place.firstChild.value : "");
  line.append(column, operator, place, remove);
  at("conditions").append(line);
  column.dispatchEvent(new Event("change"));
  column.focus();
  update();
}

function asked() {
  const picked = (id) => (at(id).value === "" ? [] : [page.columns[Number(at(id).value)]]);
  const columns = [...picked("down"), ...picked("across")];
  const kind = at("statistic").value;
  const of = kind.startsWith("mean") ? page.columns[Number(kind.slice(5))] : null;
  const lines = [...at("conditions").children].map((line) => line.condition());
  return {
    columns: columns.length === 2 && columns[0] === columns[1] ? columns.slice(0, 1) : columns,
    statistic: { kind: of ? "mean" : kind, of },
    conditions: lines.filter((condition) => condition),
    waiting: lines.some((condition) => !condition),
  };
}

function update() {
  const { columns, statistic, conditions, waiting } = asked();
  if (statistic.kind === "within" && columns.length < 2) statistic.kind = "share";
  const found = answer(columns, statistic, { conditions, alone: at("source").value === "rows" });
  const caption = captionOf(columns, statistic, conditions);
  const shown = found.sides.length > 1 ? gridOf(found, statistic, caption) : linesOf(found, statistic, caption, { largestFirst: at("largest").checked });
  at("result").replaceChildren(shown);
  at("origin").className = `origin ${found.origin}`;
  at("origin").replaceChildren(element("b", {}, found.origin), ` ${ORIGINS[found.origin]}`);
  at("said").textContent = [
    `${caption}: ${found.origin}.`,
    `${conditions.length ? `${whole.format(found.held)} of ` : ""}${whole.format(page.columns[0].places.length)} synthetic rows on this page${conditions.length ? " satisfy the conditions" : ""}.`,
    waiting ? "A condition without a value is left out." : "",
  ].join(" ").trim();
  const command = found.origin === "synthetic" && at("source").value === "rows" ? null : commandOf(columns, statistic, conditions);
  at("command").hidden = !command;
  at("command").querySelector("code").textContent = command || "";
}

function start() {
  const options = columnOptions();
  fill(at("down"), [["", "(all rows)"], ...options]);
  fill(at("across"), [["", "(none)"], ...options]);
  const means = page.columns.map((column, i) => [column, i]).filter(([column]) => isNumber(column));
  fill(at("statistic"), [
    ["count", "count"],
    ["share", "share of all"],
    ["within", "share within the line"],
    ...means.map(([column, i]) => [`mean:${i}`, `mean of ${column.name}`]),
  ]);
  at("down").value = "0";
  for (const id of ["down", "across", "statistic", "source", "largest"]) at(id).addEventListener("change", update);
  at("conditions").addEventListener("change", update);
  at("conditions").addEventListener("input", update);
  at("add").addEventListener("click", addCondition);
  at("explorer").hidden = false;
  at("waiting").hidden = true;
  update();
}

unpack().then(start, () => {
  at("waiting").textContent = "This browser is too old to unpack the page's numbers: it lacks DecompressionStream. report.html needs no script.";
});
