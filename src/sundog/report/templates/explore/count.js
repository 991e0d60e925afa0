// Counts on the synthetic rows, with the intervals of estimate/guesses.py; and answers that were made ahead.

// Which rows satisfy all conditions: 1 or 0 per row.
function heldRows(conditions) {
  const held = new Uint8Array(page.columns[0].places.length).fill(1);
  for (const { column, test } of conditions) {
    const fits = Uint8Array.from(column.codes, (code, i) => (test(code, column.numbers[i]) ? 1 : 0));
    for (let row = 0; row < held.length; row++) held[row] &= fits[column.places[row]];
  }
  return held;
}

// Sums over the held rows by cells of at most two sides: rows, weights, and the weighted number and its square.
function tabulate(sides, held, number) {
  const size = sides.reduce((product, side) => product * side.axis.names.length, 1);
  const made = { rows: new Float64Array(size), weight: new Float64Array(size), sum: new Float64Array(size), square: new Float64Array(size) };
  const weights = page.weights && segments[page.weights.of];
  for (let row = 0; row < held.length; row++) {
    if (!held[row]) continue;
    const value = number ? number.numbers[number.places[row]] : 0;
    if (Number.isNaN(value)) continue;
    let cell = 0;
    for (const { column, axis } of sides) cell = cell * axis.names.length + axis.cells[column.places[row]];
    const weight = weights ? weights[row] * page.weights.unit : 1;
    made.rows[cell] += 1;
    made.weight[cell] += weight;
    made.sum[cell] += weight * value;
    made.square[cell] += weight * value * value;
  }
  return made;
}

const varianceOf = (count) => page.sampling * Math.max(count, 1) + page.unseen * (page.relative * count * count + page.absolute);

function relativeVariance(count) {
  const counted = Math.max(count, 1);
  return Math.min(varianceOf(counted) / (counted * counted), 1);
}

const within = (estimate, half, low, high) => ({ estimate, low: Math.max(estimate - half, low), high: Math.min(estimate + half, high) });

function guessedCount(weight) {
  const count = weight * page.scale;
  return within(count, page.z * Math.sqrt(varianceOf(count)), 0, Infinity);
}

function guessedShare(weight, total) {
  const all = Math.max(total * page.scale, page.scale);
  const share = (weight * page.scale) / all;
  return within(share, page.z * Math.sqrt(Math.max(share * (1 - share), 1e-3) * relativeVariance(total * page.scale)), 0, 1);
}

function guessedMean(made, cell, column) {
  const lowest = column.lower / 10 ** column.decimals;
  const reach = (column.steps - 1) / 10 ** column.decimals;
  const weight = made.weight[cell];
  const mean = weight > 0 ? made.sum[cell] / weight : lowest + reach / 2;
  const spread = Math.max(weight > 0 ? made.square[cell] / weight - mean * mean : 0, (reach / 100) ** 2);
  return within(mean, page.z * Math.sqrt(spread * relativeVariance(weight * page.scale)), lowest, lowest + reach);
}

// The answer of the synthetic rows: an estimate with an interval per cell, in the order of the sides.
function guess(sides, statistic, held) {
  const made = tabulate(sides, held, statistic.of);
  const across = sides.length > 1 ? sides[1].axis.names.length : 1;
  const all = made.weight.reduce((sum, weight) => sum + weight, 0);
  const rowTotal = (cell) => {
    const first = Math.floor(cell / across) * across;
    return made.weight.subarray(first, first + across).reduce((sum, weight) => sum + weight, 0);
  };
  const one = {
    count: (cell) => guessedCount(made.weight[cell]),
    share: (cell) => guessedShare(made.weight[cell], all),
    within: (cell) => guessedShare(made.weight[cell], rowTotal(cell)),
    mean: (cell) => guessedMean(made, cell, statistic.of),
  }[statistic.kind];
  return { sides, origin: "synthetic", cells: Array.from(made.weight, (_, cell) => one(cell)), rows: made.rows };
}

// The table that was made ahead over these columns; `turned` where its sides are the other way round.
function tableOver(columns) {
  const wanted = columns.map((column) => page.columns.indexOf(column));
  for (const table of page.tables) {
    if (table.columns.length !== wanted.length) continue;
    if (table.columns.every((column, k) => column === wanted[k])) return { table, turned: false };
    if (wanted.length === 2 && table.columns[0] === wanted[1] && table.columns[1] === wanted[0]) return { table, turned: true };
  }
  return null;
}

function sidesOf(table, turned) {
  const sides = table.columns.map((number, k) => ({ column: page.columns[number], axis: page.columns[number].axes[table.axes[k]] }));
  return turned ? sides.reverse() : sides;
}

function readAhead(numbers, unit) {
  const [estimate, below, above] = [numbers.estimate, numbers.below, numbers.above].map((place) => segments[place]);
  return Array.from(estimate, (value, i) => ({ estimate: value / unit, low: (value - below[i]) / unit, high: (value + above[i]) / unit }));
}

// Cells of a table whose sides are `rows` by `across`, taken from the same table with the sides the other way round.
const turnedRound = (cells, rows, across) => cells.map((_, i) => cells[(i % across) * rows + Math.floor(i / across)]);

// The answer that was made ahead, or null where there is none.
function madeAhead(columns, statistic) {
  if (!columns.length) return aheadOfAll(statistic);
  if (statistic.kind === "mean") return columns.length === 1 ? aheadMean(columns[0], statistic.of) : null;
  const found = tableOver(columns);
  if (!found) return null;
  const { table, turned } = found;
  const sides = sidesOf(table, turned);
  if (statistic.kind === "within" && columns.length === 2) {
    const numbers = table.shares[turned ? 1 : 0];
    return { sides, origin: numbers.origin, cells: readAhead(numbers, 10000) };
  }
  const unit = statistic.kind === "count" ? 1 : page.total;
  const read = readAhead(table.count, unit);
  const cells = turned ? turnedRound(read, sides[0].axis.names.length, sides[1].axis.names.length) : read;
  return { sides, origin: table.count.origin, cells };
}

function aheadMean(column, of) {
  const found = column === of ? null : tableOver([column, of]);
  const means = found && found.table.means[found.turned ? 1 : 0];
  if (!means) return null;
  return { sides: sidesOf(found.table, found.turned).slice(0, 1), origin: means.origin, cells: listed(means) };
}

const listed = (means) => means.estimate.map((estimate, i) => ({ estimate, low: means.low[i], high: means.high[i] }));

function aheadOfAll(statistic) {
  if (!page.rowsKnown) return null;
  if (statistic.kind === "mean") {
    const found = tableOver([statistic.of]);
    const means = found && found.table.means[0];
    return means ? { sides: [], origin: means.origin, cells: listed(means) } : null;
  }
  if (statistic.kind !== "count") return null;
  return { sides: [], origin: "measured", cells: [within(page.total, page.rowsHalf, 0, Infinity)] };
}

// The best answer that this page has, with the synthetic rows' own count of each cell.
function answer(columns, statistic, { conditions, alone }) {
  const held = heldRows(conditions);
  const ahead = alone || conditions.length ? null : madeAhead(columns, statistic);
  const single = columns.length < 2;
  const sides = ahead ? ahead.sides : columns.map((column) => ({ column, axis: column.axes[single ? column.alone : column.beside] }));
  const guessed = guess(sides, statistic, held);
  return { ...guessed, ...(ahead || {}), rows: guessed.rows, held: held.reduce((sum, one) => sum + one, 0) };
}
