// The hierarchy drawn: envs x steps coloured by mini-batch, the mini-batches, the epochs.
const NS = "http://www.w3.org/2000/svg";
const COLOURS = ["--blue", "--orange", "--green", "--sky", "--vermillion", "--star"];
const ROWS = 8, PASSES = 6;
// On a narrow screen fewer cells are drawn, and names stand above what they name.
const measure = () => (innerWidth < 720
  ? { width: 340, left: 0, above: 18, columns: 16, bars: 24 }
  : { width: 700, left: 92, above: 0, columns: 32, bars: 48 });
const colour = (at) => `var(${COLOURS[at % COLOURS.length]})`;
const shape = (name, attributes, text) => {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};
const counted = (value) => Number(value).toLocaleString("en-US");

// Which mini-batch a cell of the grid is in: as the library mixes them, drawn with fixed chance.
const owner = (mixing, row, column, rows, columns, count) => {
  if (mixing === "block_order") return Math.floor((column * count) / columns);
  if (["env_blocks", "slices", "unrolls"].includes(mixing)) return Math.floor(((row * columns + column) * count) / (rows * columns));
  if (mixing === "whole") return 0;
  let seed = (row * 7919 + column * 104729 + 12345) >>> 0;
  for (let turn = 0; turn < 3; turn += 1) seed = (Math.imul(seed ^ (seed >>> 15), 2246822519) + 3266489917) >>> 0;
  return seed % count;
};

const named = (svg, { left, above }, y, name, note) => {
  svg.append(shape("text", { x: 0, y: above ? y - 5 : y + 15, class: "strong" }, name));
  if (note) svg.append(shape("text", { x: left || 92, y: y - 6 }, note));
};

const grid = (svg, reading, start, wide) => {
  const top = start + wide.above;
  const size = reading.sizes, count = Math.max(1, Math.min(Number(reading.cut.count), 1e6));
  const rows = Math.min(Number(size.envs), ROWS), columns = Math.min(Number(size.steps), wide.columns);
  const cell = Math.min((wide.width - wide.left - 4) / columns, 34), high = Math.min(cell, 20);
  const cutShort = Number(size.envs) > rows || Number(size.steps) > columns;
  const part = cutShort ? `; ${rows} x ${columns} drawn` : "";
  const repeat = count > COLOURS.length && !wide.above ? "; a colour is a mini-batch, and colours repeat" : "";
  named(svg, wide, top, `${counted(size.envs)} env${size.envs === 1n ? "" : "s"}`, `${counted(size.steps)} steps each${part}${repeat}`);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const fill = colour(owner(reading.rules.mixing, row, column, rows, columns, count));
      svg.append(shape("rect", { x: wide.left + column * cell, y: top + row * high, width: Math.max(cell - 1.5, 1), height: high - 1.5, rx: 1.5, fill }));
    }
  }
  return top + rows * high + 30;
};

const bars = (svg, reading, start, wide) => {
  const top = start + wide.above;
  const pieces = [];
  for (const [size, count] of reading.cut.runs) {
    for (let at = 0n; at < count && pieces.length < wide.bars; at += 1n) pieces.push(Number(size));
  }
  const last = Number(reading.cut.runs.at(-1)[0]);
  const all = Number(reading.cut.count);
  if (all > pieces.length) pieces[pieces.length - 1] = last;
  const over = reading.cut.whole_update ? "update" : "epoch";
  named(svg, wide, top, `an ${over}`);
  const left = wide.left, unit = (wide.width - left - 2) / pieces.reduce((sum, one) => sum + one, 0), usual = pieces[0];
  let x = left;
  pieces.forEach((size, at) => {
    const odd = size !== usual;
    svg.append(shape("rect", { x, y: top, width: Math.max(size * unit - 1.5, 1.2), height: 26, rx: 2, fill: colour(at), class: odd ? "odd" : "" }));
    x += size * unit;
  });
  const note = all > wide.bars ? `${counted(all)} mini-batches (${wide.bars} drawn)` : `${counted(all)} mini-batch${all === 1 ? "" : "es"}`;
  const tail = last !== usual ? `; the last: ${counted(last)}` : "";
  svg.append(shape("text", { x: left, y: top + 44 }, `${note} of ${counted(usual)} samples${tail}`));
  return top + 66;
};

const passes = (svg, reading, start, wide) => {
  const top = start + wide.above, left = wide.left;
  const epochs = Number(reading.sizes.epochs), drawn = Math.min(epochs, PASSES);
  named(svg, wide, top, "an update");
  for (let at = 0; at < drawn; at += 1) {
    svg.append(shape("rect", { x: left, y: top + at * 11, width: wide.width - left - 2, height: 8, rx: 2, fill: "var(--blue)", opacity: 1 - at * 0.11 }));
  }
  const more = epochs > drawn ? ` (${drawn} drawn)` : "";
  svg.append(shape("text", { x: left, y: top + drawn * 11 + 15 },
    `${counted(epochs)} epoch${epochs === 1 ? "" : "s"}${more} = ${counted(reading.gradient_steps_per_update)} gradient steps`));
  return top + drawn * 11 + 24;
};

const drawing = (reading) => {
  const svg = shape("svg", { class: "drawing", role: "img" });
  const size = reading.sizes;
  svg.setAttribute("aria-label", `${size.envs} envs times ${size.steps} steps make a batch of ${size.batch}; `
    + `${reading.cut.count} mini-batches, ${size.epochs} epochs`);
  const wide = measure();
  let top = grid(svg, reading, 24, wide);
  if (reading.cut.count > 0n) top = passes(svg, reading, bars(svg, reading, top, wide), wide);
  svg.setAttribute("viewBox", `0 0 ${wide.width} ${top}`);
  return svg;
};
