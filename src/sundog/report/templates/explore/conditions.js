// Conditions on rows: what can be asked of a column, as a test of its codes, in words, and as `sundog answer` writes them.

const COMPARED = {
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};
const MISSING = ["is missing", "is not missing"];
const INPUTS = { integer: "number", number: "number", date: "date", datetime: "datetime-local", time: "time" };

function operatorsOf(column) {
  const compared = column.ordered ? [">=", "<=", "=", "!=", "<", ">"] : ["=", "!="];
  return column.missing === null ? compared : [...compared, ...MISSING];
}

// What was typed as a number on the column's scale; NaN where it is none.
function typedNumber(column, text) {
  if (text.trim() === "") return NaN;
  if (column.kind === "date") return Date.parse(`${text}T00:00Z`) / 86400000;
  if (column.kind === "datetime") return Date.parse(`${text}Z`) / 1000 / column.resolution;
  if (column.kind === "time") return Date.parse(`1970-01-01T${text}Z`) / 1000 / column.resolution;
  return Number(text);
}

// A condition, or null where it is not complete. `value` is a code (labels) or what was typed.
function conditionOf(column, operator, value) {
  if (MISSING.includes(operator)) {
    const wanted = operator === "is missing";
    return { column, operator, said: "", test: (code) => (code === column.missing) === wanted };
  }
  const compare = COMPARED[operator];
  const asked = column.kind === "labels" ? Number(value) : typedNumber(column, value);
  if (value === "" || Number.isNaN(asked)) return null;
  const said = column.kind === "labels" ? column.labels[column.codes.indexOf(asked)] : value;
  return { column, operator, said, test: (code, number) => code !== column.missing && compare(number, asked) };
}

const inWords = (condition) => `${condition.column.name} ${condition.operator} ${condition.said}`.trim();

const PLAIN = /^(?!(?:and|or|not|in|is|missing)$)[^\s'"=<>!(),]+$/i;
const quoted = (text) => (PLAIN.test(text) ? text : `'${text.replaceAll("'", "''")}'`);
const shell = (text) => (/^[\w.,:=/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// The same question for the command line; null where a name was cut or cannot be written there.
function commandOf(columns, statistic, conditions) {
  const names = [...columns, ...conditions.map((each) => each.column), ...(statistic.of ? [statistic.of] : [])];
  if (names.some((column) => column.asked !== column.name || column.name.includes(",")) || conditions.some(({ said }) => said.endsWith("…"))) return null;
  const by = columns.map((column) => column.asked);
  const words = ["sundog answer FOLDER"];
  if (statistic.kind === "within" && by.length === 2) words.push("--share", shell(by.pop()));
  if (statistic.kind === "share" && by.length) return null;
  if (statistic.kind === "mean") words.push("--mean", shell(statistic.of.asked));
  if (by.length) words.push("--by", shell(by.join(",")));
  const where = conditions.map(({ column, operator, said }) => [quoted(column.asked), operator, said && quoted(said)].join(" ").trim());
  if (where.length) words.push("--where", shell(where.join(" and ")));
  return words.join(" ");
}
