// The page's numbers: planes of bytes, deflated, in base64 (see pack.py).
const page = JSON.parse(document.getElementById("document").textContent);
const segments = [];

async function unpack() {
  const text = atob(document.getElementById("packed").textContent.trim());
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let at = 0;
  for (const [width, count] of page.pack) {
    segments.push(width === 1 ? bytes.subarray(at, at + count) : joined(bytes.subarray(at, at + width * count), width, count));
    at += width * count;
  }
  page.columns.forEach(prepare);
}

function joined(bytes, width, count) {
  const numbers = width === 2 ? new Uint16Array(count) : width <= 4 ? new Uint32Array(count) : new Float64Array(count);
  for (let plane = 0, factor = 1; plane < width; plane++, factor *= 256)
    for (let i = 0; i < count; i++) numbers[i] += bytes[plane * count + i] * factor;
  return numbers;
}

// The codes of a column's dictionary, and what they mean: numbers, or steps of a calendar's grid.
function prepare(column) {
  const steps = segments[column.values];
  const codes = new Float64Array(steps.length);
  for (let i = 0, sum = 0; i < steps.length; i++) codes[i] = sum += steps[i];
  column.codes = codes;
  column.places = segments[column.places];
  column.numbers = codes.map((code) => numberOf(column, code));
  for (const axis of column.axes) axis.cells = segments[axis.cells];
}

function numberOf(column, code) {
  if (code === column.missing) return NaN;
  return column.kind === "labels" ? code : (column.lower + code) / 10 ** column.decimals;
}

const isNumber = (column) => column.kind === "integer" || column.kind === "number";
