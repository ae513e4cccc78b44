// The functions of Python's library that the rules use.
const raw = (code) => Object.assign((...args) => code(args, new py.Dict()), { raw: code });
const kinds = ["Exception"];
const failure = (title, base) => {
  const made = py.cls(title, base, [], []);
  made.prototype.__init__ = py.fn(["message"], "", function (message = "") { this.message = message; });
  return Object.assign(made, { params: ["message"] });
};
py.b.Exception = failure(kinds[0], null);
for (const one of ["ValueError", "KeyError", "IndexError", "TypeError", "ArithmeticError", "AssertionError"]) {
  py.b[one] = failure(one, py.b.Exception);
}
for (const one of ["OverflowError", "ZeroDivisionError"]) py.b[one] = failure(one, py.b.ArithmeticError);

// Text.
py.text = {
  join: (text, all) => py.iter(all).join(text),
  split: (text, by = null) => (by === null ? text.split(/\s+/).filter(Boolean) : text.split(by)),
  splitlines: (text) => text.replace(/\r?\n$/, "").split(/\r?\n/),
  partition: (text, by) => {
    const at = text.indexOf(by);
    return at < 0 ? [text, "", ""] : [text.slice(0, at), by, text.slice(at + by.length)];
  },
  rpartition: (text, by) => {
    const at = text.lastIndexOf(by);
    return at < 0 ? ["", "", text] : [text.slice(0, at), by, text.slice(at + by.length)];
  },
  removeprefix: (text, one) => (text.startsWith(one) ? text.slice(one.length) : text),
  removesuffix: (text, one) => (one && text.endsWith(one) ? text.slice(0, -one.length) : text),
  replace: (text, from, to) => text.split(from).join(to),
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
  strip: (text, signs = null) => py.text.rstrip(py.text.lstrip(text, signs), signs),
  lstrip: (text, signs = null) => {
    let at = 0;
    while (at < text.length && (signs === null ? /\s/.test(text[at]) : signs.includes(text[at]))) at += 1;
    return text.slice(at);
  },
  rstrip: (text, signs = null) => {
    let at = text.length;
    while (at && (signs === null ? /\s/.test(text[at - 1]) : signs.includes(text[at - 1]))) at -= 1;
    return text.slice(0, at);
  },
  startswith: (text, one) => [one].flat().some((start) => text.startsWith(start)),
  endswith: (text, one) => [one].flat().some((end) => text.endsWith(end)),
};
py.list = {
  append: (list, one) => { list.push(one); return null; },
  extend: (list, all) => { list.push(...py.iter(all)); return null; },
  index: (list, one) => BigInt(list.findIndex((other) => py.eq(one, other))),
  sort: (list, named) => {
    list.splice(0, list.length, ...py.call(py.b.sorted, [list], named));
    return null;
  },
};
py.float = { is_integer: (value) => Number.isInteger(value) };

const floated = (value) => {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  const [digits, power] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) return `${digits}e${sign(exponent)}`;
  const text = exponent < 0 ? value.toFixed(Math.max(-exponent + digits.replace(/[-.]/g, "").length - 1, 1)) : String(value);
  return text.includes(".") ? text : `${text}.0`;
};
const sign = (exponent) => `${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
py.str = (value) => {
  if (value === null || value === undefined) return "None";
  switch (typeof value) {
    case "string": return value;
    case "boolean": return value ? "True" : "False";
    case "number": return floated(value);
    case "bigint": return String(value);
    case "function": return value.title ?? "function";
  }
  if (Array.isArray(value)) return `[${value.map(py.repr).join(", ")}]`;
  if (value instanceof py.Dict) {
    return `{${value.items().map(([key, one]) => `${py.repr(key)}: ${py.repr(one)}`).join(", ")}}`;
  }
  if (value instanceof py.Set) return `{${value.values().map(py.repr).join(", ")}}`;
  return value.message ?? value.cls?.title ?? String(value);
};
py.repr = (value) => {
  if (typeof value !== "string") return py.str(value);
  const mark = value.includes("'") && !value.includes('"') ? '"' : "'";
  return mark + value.replaceAll("\\", "\\\\").replaceAll(mark, `\\${mark}`) + mark;
};
const grouped = (text) => text.replace(/^(-?\d+)/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
// Rounded to a number of digits, half to even as Python does; all digits of a fraction are known.
const rounded = (value, digits) => {
  const [exact, power] = value.toExponential(60).split("e");
  const near = value.toExponential(digits);
  const rest = exact.replace(/[-.]/g, "").slice(digits + 1);
  const isTie = /^50*$/.test(rest) && /[13579](e|$)/.test(near.split("e")[0]);
  if (!isTie) return near;
  const kept = exact.replace("-", "").slice(0, digits ? digits + 2 : 1);
  return `${value < 0 ? "-" : ""}${kept}e${power}`;
};
const general = (value, digits) => {
  if (!Number.isFinite(value) || value === 0) return floated(value).replace(/\.0$/, "");
  const near = rounded(value, digits - 1);
  const [mantissa, power] = near.split("e");
  if (Number(power) < -4 || Number(power) >= digits) return `${trimmed(mantissa)}e${sign(Number(power))}`;
  return trimmed(fixed(Number(near), Math.max(digits - 1 - Number(power), 0)));
};
const fixed = (value, digits) => {
  const size = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  return size + digits < 0 ? value.toFixed(digits) : Number(rounded(value, Math.min(size + digits, 60))).toFixed(digits);
};
const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
py.format = (value, spec) => {
  if (!spec) return py.str(value);
  const [, fill, comma, , digits, kind] = /^(\d*)(,?)(\.(\d+))?([a-z%]?)$/.exec(spec);
  let text = py.str(value);
  if (kind === "g") text = general(Number(value), digits === undefined ? 6 : Math.max(Number(digits), 1));
  else if (kind === "f") text = fixed(Number(value), digits === undefined ? 6 : Number(digits));
  else if (kind === "%") text = `${fixed(Number(value) * 100, digits === undefined ? 6 : Number(digits))}%`;
  else if (digits !== undefined) text = text.slice(0, Number(digits));
  return (comma ? grouped(text) : text).padEnd(Number(fill || 0));
};

// Numbers.
const DIGITS = /^[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)(e[+-]?\d+(_\d+)*)?$/i;
// Digits of any script are digits, as Python reads them.
const isDigit = (code) => /\p{Nd}/u.test(String.fromCodePoint(code));
const plainDigits = (text) => text.replace(/(?![0-9])\p{Nd}/gu, (one) => {
  let steps = 0;
  while (isDigit(one.codePointAt(0) - steps - 1)) steps += 1;
  return String(steps % 10);
});
py.b.float = (value = 0) => {
  if (typeof value !== "string") return Number(value);
  const text = plainDigits(value.trim());
  const named = { inf: Infinity, infinity: Infinity, nan: NaN }[text.replace(/^[+-]/, "").toLowerCase()];
  if (named !== undefined) return text.startsWith("-") ? -named : named;
  if (!DIGITS.test(text)) throw py.b.ValueError(`not a number: ${text}`);
  return Number(text.replaceAll("_", ""));
};
py.b.int = (value = 0n) => {
  if (typeof value === "string" && !/^[+-]?\d+(_\d+)*$/.test(value.trim())) throw py.b.ValueError(value);
  return typeof value === "string" ? BigInt(value.trim().replaceAll("_", "").replace(/^\+/, ""))
    : typeof value === "number" ? BigInt(Math.trunc(value)) : BigInt(value);
};
py.b.str = (value = "") => py.str(value);
py.b.bool = (value) => py.truth(value);
py.b.repr = py.repr;
py.b.abs = (value) => (value < 0 ? -value : value);
py.b.round = (value) => {
  if (typeof value === "bigint") return value;
  const low = Math.floor(value), rest = value - low;
  return BigInt(rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low);
};
py.b.divmod = (a, b) => [py.floordiv(a, b), py.mod(a, b)];
py.b.sum = (all) => py.iter(all).reduce(py.add, 0n);

// Collections.
py.b.len = (all) => BigInt(all.size ?? all.length);
py.b.list = (all = []) => [...py.iter(all)];
py.b.tuple = py.b.list;
py.b.set = (all = []) => new py.Set(py.iter(all));
py.b.frozenset = py.b.set;
py.b.dict = raw(([given = []], named) => py.dict([[given], [named]]));
py.b.dict.fromkeys = (all, value = null) => py.dict(py.iter(all).map((one) => [one, value]));
py.b.dict.native = true;
py.b.any = (all) => { for (const one of all) if (py.truth(one)) return true; return false; };
py.b.all = (all) => { for (const one of all) if (!py.truth(one)) return false; return true; };
py.b.range = (...ends) => {
  const [low, high, step] = ends.length === 1 ? [0n, ends[0], 1n] : [ends[0], ends[1], ends[2] ?? 1n];
  return {
    * [Symbol.iterator]() {
      for (let at = low; step > 0n ? at < high : at > high; at += step) yield at;
    },
  };
};
py.b.enumerate = (all) => py.iter(all).map((one, at) => [BigInt(at), one]);
py.b.zip = raw((lists) => {
  const rows = lists.map(py.iter);
  const count = Math.min(...rows.map((row) => row.length));
  return Array.from({ length: count }, (_, at) => rows.map((row) => row[at]));
});
py.b.map = (code, ...lists) => py.b.zip(...lists).map((row) => code(...row));
py.b.filter = (code, all) => py.iter(all).filter((one) => py.truth(code ? code(one) : one));
py.b.reversed = (all) => [...py.iter(all)].reverse();
py.b.next = (all, other) => {
  const { done, value } = all.next ? all.next() : { done: !all.length, value: all[0] };
  if (done && other === undefined) throw py.b.ValueError("nothing is left");
  return done ? other : value;
};
py.b.iter = (all) => py.iter(all)[Symbol.iterator]();
py.b.sorted = raw(([all], named) => {
  const key = named.get("key"), down = py.truth(named.get("reverse", false));
  const rows = py.iter(all).map((one) => [key ? key(one) : one, one]);
  rows.sort((a, b) => (down ? py.order(b[0], a[0]) : py.order(a[0], b[0])));
  return rows.map((row) => row[1]);
});
const extreme = (better) => raw((args, named) => {
  const all = args.length > 1 ? args : py.iter(args[0]);
  const key = named.get("key") ?? ((one) => one);
  if (!all.length && named.has("default")) return named.get("default");
  if (!all.length) throw py.b.ValueError("nothing to choose from");
  return all.reduce((best, one) => (better(py.order(key(one), key(best))) ? one : best));
});
py.b.min = extreme((order) => order < 0);
py.b.max = extreme((order) => order > 0);
py.b.type = (value) => {
  const kind = { bigint: "int", number: "float", string: "str", boolean: "bool" }[typeof value];
  return kind ? py.b[kind] : value instanceof py.Obj ? value.cls : py.b.list;
};
py.b.isinstance = (value, kind) => {
  if (Array.isArray(kind)) return kind.some((one) => py.b.isinstance(value, one));
  if (kind === py.b.int) return ["bigint", "boolean"].includes(typeof value);
  if (kind === py.b.float) return typeof value === "number";
  if (kind === py.b.str) return typeof value === "string";
  if (kind === py.b.bool) return typeof value === "boolean";
  if (kind === py.b.list || kind === py.b.tuple) return Array.isArray(value);
  if (kind === py.b.dict || kind === py.type) return value instanceof py.Dict;
  return Boolean(value) && kind.prototype !== undefined && kind.prototype.isPrototypeOf(Object(value));
};
py.b.getattr = (value, name, other) => (value[name] === undefined ? other : py.attr(value, name));
py.b.hasattr = (value, name) => value[name] !== undefined;
py.b.vars = (value) => py.dict(value.cls.fields.map(([name]) => [name, value[name]]));
