// Modules that the rules import and that are not compiled from Python.
const replaced = (given, change) => {
  const made = Object.create(Object.getPrototypeOf(given));
  for (const [name] of given.cls.fields) made[name] = given[name];
  for (const [name, value] of change.items()) made[name] = value;
  return made;
};
const plainly = (value) => {
  if (value instanceof py.Obj) return py.dict(value.cls.fields.map(([name]) => [name, plainly(value[name])]));
  if (Array.isArray(value)) return value.map(plainly);
  return value instanceof py.Dict ? py.dict(value.items().map(([k, v]) => [k, plainly(v)])) : value;
};
const isqrt = (value) => {
  let root = BigInt(Math.floor(Math.sqrt(Number(value))));
  while (root * root > value) root -= 1n;
  while ((root + 1n) * (root + 1n) <= value) root += 1n;
  return root;
};
py.modules.dataclasses = {
  replace: raw(([given], change) => replaced(given, change)), asdict: plainly,
};
py.modules.math = {
  prod: (all) => py.iter(all).reduce(py.mul, 1n), floor: (value) => BigInt(Math.floor(Number(value))), isqrt,
};
py.modules.html = { escape: (text) => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`) };
py.modules.json = {
  dumps: (value) => JSON.stringify(value).replace(/[\u007f-\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`),
};
const pattern = (source) => {
  const filled = (to) => (typeof to === "string" ? () => to : (...found) => to(found.slice(0, -2)));
  const every = new RegExp(source, "g"), entire = new RegExp(`^(?:${source})$`, "s");
  return {
    native: true,
    findall: (text) => [...text.matchAll(every)].map((one) => (one.length > 2 ? one.slice(1) : one[one.length - 1])),
    sub: (to, text) => text.replace(every, filled(to)),
    fullmatch: (text) => entire.exec(text),
  };
};
py.modules.re = {
  DOTALL: 0n, native: true,
  compile: (source) => pattern(source), sub: (source, to, text) => pattern(source).sub(to, text),
  escape: (text) => text.replace(/[^A-Za-z0-9_]/g, "\\$&"),
};

// How alike two texts are: twice the length of all matching blocks over both lengths.
const matched = (a, b) => {
  let best = [0, 0, 0], lengths = {};
  for (let i = 0; i < a.length; i += 1) {
    const next = {};
    for (let j = 0; j < b.length; j += 1) {
      if (a[i] !== b[j]) continue;
      next[j] = (lengths[j - 1] ?? 0) + 1;
      if (next[j] > best[2]) best = [i - next[j] + 1, j - next[j] + 1, next[j]];
    }
    lengths = next;
  }
  const [i, j, size] = best;
  if (!size) return 0;
  return size + matched(a.slice(0, i), b.slice(0, j)) + matched(a.slice(i + size), b.slice(j + size));
};
const alike = (a, b) => (a.length + b.length ? (2 * matched(a, b)) / (a.length + b.length) : 1);
py.modules.difflib = {
  SequenceMatcher: (junk, a, b) => ({ native: true, ratio: () => alike(a, b) }),
  get_close_matches: raw(([word, all], named) => {
    const rows = py.iter(all).map((one) => [alike(one, word), one]);
    const near = rows.filter((row) => row[0] >= named.get("cutoff", 0.6));
    near.sort((a, b) => b[0] - a[0] || (a[1] < b[1] ? 1 : -1));
    return near.slice(0, Number(named.get("n", 3n))).map((row) => row[1]);
  }),
};

// Whole numbers as users write them: 8, 500_000, 1e6.
const wrong = (name) => py.call(py.modules["nbyt.errors"].UsageError, [`${name} is wrong`], null);
const wholeNumber = (least, most) => {
  const check = (value, name) => {
    if (typeof value !== "bigint" || value < least || value > most) throw wrong(name);
    return value;
  };
  const read = (text, name) => {
    let value = NaN;
    try { value = text.length <= 100 ? py.b.float(text) : NaN; } catch (error) { throw wrong(name); }
    if (!Number.isInteger(value)) throw wrong(name);
    const digits = plainDigits(text.trim()).replaceAll("_", "");
    return check(/^[+-]?\d+$/.test(digits) ? BigInt(digits.replace(/^\+/, "")) : BigInt(value), name);
  };
  return { native: true, check, read };
};
py.modules["nbyt.numbers"] = {
  Number: raw(([least, most]) => wholeNumber(least, most)),
  is_huge: (value) => typeof value === "bigint" && value.toString(2).replace("-", "").length > 1024,
  value_shown: (value) => {
    if (py.modules["nbyt.numbers"].is_huge(value)) return `a number of ${grouped(String(value.toString(2).length))} bits`;
    const text = typeof value === "string" ? `'${value}'` : py.repr(value);
    return text.length <= 40 ? text : `${text.slice(0, 40)}... (${grouped(String(text.length))} characters)`;
  },
};
