"use strict";
// The part of Python that the rules use: its numbers, collections, equality and calls.
// Whole numbers are BigInt, fractions are Number, None is null, tuples and lists are arrays.
const py = { modules: {}, b: {} };

py.Obj = class {};
py.Dict = class {
  constructor(pairs = []) {
    this.rows = new Map();
    for (const [key, value] of pairs) this.set(key, value);
  }
  set(key, value) { this.rows.set(py.hash(key), [key, value]); }
  has(key) { return this.rows.has(py.hash(key)); }
  at(key) {
    const row = this.rows.get(py.hash(key));
    if (!row) throw py.b.KeyError(py.str(key));
    return row[1];
  }
  get size() { return this.rows.size; }
  get(key, other = null) { return this.has(key) ? this.at(key) : other; }
  keys() { return [...this.rows.values()].map((row) => row[0]); }
  values() { return [...this.rows.values()].map((row) => row[1]); }
  items() { return [...this.rows.values()].map((row) => [...row]); }
  setdefault(key, value) {
    if (!this.has(key)) this.set(key, value);
    return this.at(key);
  }
  pop(key, other) {
    if (!this.has(key) && other !== undefined) return other;
    const value = this.at(key);
    this.rows.delete(py.hash(key));
    return value;
  }
  update(other) { for (const [key, value] of py.pairs(other)) this.set(key, value); return null; }
};
py.Set = class {
  constructor(values = []) {
    this.rows = new Map();
    for (const value of values) this.add(value);
  }
  add(value) { if (!this.has(value)) this.rows.set(py.hash(value), value); return null; }
  has(value) { return this.rows.has(py.hash(value)); }
  get size() { return this.rows.size; }
  values() { return [...this.rows.values()]; }
  isdisjoint(other) { return !py.iter(other).some((one) => this.has(one)); }
};

let identity = 0;
py.hash = (value) => {
  if (value === null || value === undefined) return "None";
  switch (typeof value) {
    case "string": return `s${value}`;
    case "bigint": return `n${value}`;
    case "boolean": return `n${Number(value)}`;
    case "number": return Number.isInteger(value) ? `n${BigInt(value)}` : `n${value}`;
    case "function": return `f${value.identity ??= identity += 1}`;
  }
  if (Array.isArray(value)) return `(${value.map(py.hash).join()})`;
  if (value instanceof py.Obj) {
    return `${value.cls.title}{${value.cls.fields.map(([name]) => py.hash(value[name])).join()}}`;
  }
  throw new Error("this cannot be a key");
};
py.pairs = (given) => (given instanceof py.Dict ? given.items() : [...py.iter(given)]);
py.dict = (rows) => new py.Dict(rows.flatMap((row) => (row.length === 1 ? py.pairs(row[0]) : [row])));
py.iter = (value) => {
  if (Array.isArray(value)) return value;
  if (value instanceof py.Dict) return value.keys();
  if (value instanceof py.Set) return value.values();
  if (value && typeof value[Symbol.iterator] === "function") return [...value];
  throw new Error(`this has no items: ${py.str(value)}`);
};
// What a loop goes over: as it is, where it can be gone over.
py.each = (value) => (value && typeof value[Symbol.iterator] === "function" && typeof value !== "string"
  ? value : py.iter(value));
py.gen = (loop) => loop();

// Numbers.
const whole = (value) => (typeof value === "boolean" ? BigInt(value) : value);
const both = (a, b) => [whole(a), whole(b)];
const areWhole = (a, b) => typeof a === "bigint" && typeof b === "bigint";
const numeric = (value) => ["bigint", "number", "boolean"].includes(typeof value);
py.add = (a, b) => {
  if (typeof a === "string") return a + b;
  if (Array.isArray(a)) return [...a, ...py.iter(b)];
  const [x, y] = both(a, b);
  return areWhole(x, y) ? x + y : Number(x) + Number(y);
};
py.sub = (a, b) => {
  if (a instanceof py.Set) return new py.Set(a.values().filter((one) => !py.isin(one, b)));
  const [x, y] = both(a, b);
  return areWhole(x, y) ? x - y : Number(x) - Number(y);
};
py.mul = (a, b) => {
  const [x, y] = both(a, b);
  return areWhole(x, y) ? x * y : Number(x) * Number(y);
};
const notZero = (value) => {
  if (Number(value) === 0) throw py.b.ZeroDivisionError("division by zero");
  return value;
};
py.div = (a, b) => Number(a) / Number(notZero(b));
py.floordiv = (a, b) => {
  const [x, y] = both(a, notZero(b));
  if (!areWhole(x, y)) return Math.floor(Number(x) / Number(y));
  const quotient = x / y;
  return x % y !== 0n && (x < 0n) !== (y < 0n) ? quotient - 1n : quotient;
};
py.mod = (a, b) => {
  const [x, y] = both(a, b);
  return areWhole(x, y) ? x - py.floordiv(x, y) * y : Number(x) - py.floordiv(x, y) * Number(y);
};
py.pow = (a, b) => {
  const [x, y] = both(a, b);
  return areWhole(x, y) && y >= 0n ? x ** y : Number(x) ** Number(y);
};
py.shl = (a, b) => a << b;
py.shr = (a, b) => a >> b;
py.or = (a, b) => {
  if (a instanceof py.Dict) return new py.Dict([...a.items(), ...py.pairs(b)]);
  if (a instanceof py.Set) return new py.Set([...a.values(), ...py.iter(b)]);
  if (typeof a === "function" || Array.isArray(a)) return [a, b].flat();
  return a || b;
};
py.and = (a, b) => {
  if (a instanceof py.Set) return new py.Set(a.values().filter((one) => py.isin(one, b)));
  return typeof a === "bigint" ? a & b : a && b;
};
py.update = (a, b) => {
  if (a instanceof py.Dict) a.update(b);
  else if (a instanceof py.Set) for (const one of py.iter(b)) a.add(one);
  else return py.or(a, b);
  return a;
};

// Comparisons.
py.truth = (value) => {
  if (value === null || value === undefined || value === false || value === "") return false;
  if (value === 0n || value === 0) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof py.Dict || value instanceof py.Set) return value.size > 0;
  return true;
};
py.eq = (a, b) => {
  if (a === b || (a ?? null) === (b ?? null)) return true;
  if (numeric(a) && numeric(b)) return whole(a) == whole(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((one, at) => py.eq(one, b[at]));
  }
  if (a instanceof py.Dict && b instanceof py.Dict) {
    return a.size === b.size && a.items().every(([key, one]) => b.has(key) && py.eq(one, b.at(key)));
  }
  if (a instanceof py.Set && b instanceof py.Set) {
    return a.size === b.size && a.values().every((one) => b.has(one));
  }
  if (a instanceof py.Obj && b instanceof py.Obj && a.cls === b.cls) {
    return a.cls.fields.every(([name]) => py.eq(a[name], b[name]));
  }
  return false;
};
py.ne = (a, b) => !py.eq(a, b);
py.order = (a, b) => {
  if (Array.isArray(a)) {
    for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
      const found = py.order(a[at], b[at]);
      if (found) return found;
    }
    return a.length - b.length;
  }
  const [x, y] = both(a, b);
  if (x === null || y === null || typeof x === "string" !== (typeof y === "string")) {
    throw py.b.TypeError("these have no order");
  }
  return x < y ? -1 : x > y ? 1 : 0;
};
const among = (a, b) => a.values().every((one) => b.has(one));
py.lt = (a, b) => py.order(a, b) < 0;
py.gt = (a, b) => py.order(a, b) > 0;
// Not the negation of the others: a number that is none is neither.
py.le = (a, b) => (a instanceof py.Set ? among(a, b) : numeric(a) ? whole(a) <= whole(b) : py.order(a, b) <= 0);
py.ge = (a, b) => (a instanceof py.Set ? among(b, a) : numeric(a) ? whole(a) >= whole(b) : py.order(a, b) >= 0);
py.is = (a, b) => (a ?? null) === (b ?? null);
py.isnot = (a, b) => !py.is(a, b);
py.isin = (one, all) => {
  if (typeof all === "string") return all.includes(one);
  if (all instanceof py.Dict || all instanceof py.Set) return all.has(one);
  return py.iter(all).some((other) => py.eq(one, other));
};
py.notin = (one, all) => !py.isin(one, all);
py.all_of = (...parts) => {
  let value = true;
  for (const part of parts) if (!py.truth((value = part()))) return value;
  return value;
};
py.any_of = (...parts) => {
  let value = false;
  for (const part of parts) if (py.truth((value = part()))) return value;
  return value;
};

// Items.
const place = (value, at) => {
  const index = Number(at);
  const found = index < 0 ? value.length + index : index;
  if (found < 0 || found >= value.length) throw py.b.IndexError("index out of range");
  return found;
};
py.item = (value, at) => {
  if (value instanceof py.Dict) return value.at(at);
  if (typeof value === "function") return value;
  return value[place(value, at)];
};
py.slice = (value, low, high) => {
  const end = (one, other) => (one === null ? other : Number(one));
  return value.slice(end(low, 0), end(high, value.length));
};
py.setitem = (value, at, one) => {
  if (value instanceof py.Dict) value.set(at, one);
  else value[place(value, at)] = one;
};

// Functions, classes and modules.
py.fn = (params, star, code) => Object.assign(code, { params, star });
py.call = (code, args, named) => {
  if (code.raw) return code.raw(args, named ?? new py.Dict());
  if (!named && !code.star) return code(...args);
  const given = [...args];
  const extra = new py.Dict();
  for (const [name, value] of named ? named.items() : []) {
    const at = code.params.indexOf(name);
    if (at >= 0) given[at] = value;
    else if (code.star) extra.set(name, value);
    else throw py.b.TypeError(`${name} is no argument`);
  }
  if (code.star) given[code.params.length] = extra;
  return code(...given);
};
const bind = (code, self) => {
  const bound = (...args) => code.apply(self, args);
  return py.fn(code.params, code.star, bound);
};
py.attr = (value, name) => {
  const found = value?.[name];
  if (found === undefined) throw new Error(`no attribute ${name} of ${py.str(value)}`);
  return typeof found === "function" && value instanceof py.Obj && found.params
    ? bind(found, value) : found;
};
py.method = (value, name, args, named) => {
  if (value instanceof py.Obj && typeof value[name] === "function") {
    const code = value[name];
    return named || code.star ? py.call(bind(code, value), args, named) : code.apply(value, args);
  }
  const kind = typeof value === "string" ? py.text : Array.isArray(value) ? py.list : null;
  if (kind) return kind[name](value, ...(named ? [named] : args));
  if (typeof value === "number") return py.float[name](value);
  if (value === null || value === undefined) throw new Error(`no method ${name} of None`);
  if (value instanceof py.Dict || value instanceof py.Set || value.native) return value[name](...args);
  return py.call(value[name], args, named);
};
py.super = (base, name, self, args, named) => py.call(bind(base.prototype[name], self), args, named);
py.cls = (title, base, own, members) => {
  const inherited = (base?.fields ?? []).filter(([name]) => !own.some((one) => one[0] === name));
  const fields = [...inherited, ...own];
  const made = (...args) => {
    const self = Object.create(made.prototype);
    if (self.__init__) self.__init__(...args);
    else fields.forEach(([name, other], at) => {
      if (args[at] === undefined && !other) throw py.b.TypeError(`${title} needs ${name}`);
      self[name] = args[at] === undefined ? other() : args[at];
    });
    return self;
  };
  made.prototype = Object.create((base ?? py.Obj).prototype);
  Object.defineProperty(made.prototype, "cls", { value: made });
  for (const [kind, name, value] of members) {
    if (kind === "get") Object.defineProperty(made.prototype, name, { get: once(name, value) });
    else made.prototype[name] = value;
  }
  const init = made.prototype.__init__;
  return Object.assign(made, { title, fields, base, params: init?.params ?? fields.map((one) => one[0]) });
};
// Objects never change, so a property is worked out once.
const once = (name, code) => function () {
  const known = this.known ?? Object.defineProperty(this, "known", { value: new Map() }).known;
  if (!known.has(name)) known.set(name, code.call(this));
  return known.get(name);
};
py.cache = (code) => {
  const known = new py.Dict();
  return py.fn(code.params, code.star, (...args) => {
    if (!known.has(args)) known.set(args, code(...args));
    return known.at(args);
  });
};
py.module = (name, fill) => { py.modules[name] = fill(); };
py.imported = (module, name) => {
  const inner = py.modules[`${module}.${name}`];
  return inner ?? py.modules[module]?.[name] ?? py.type;
};
// What stands for types that only describe: Mapping, Any, Callable.
py.type = Object.assign(() => py.type, { params: [], identity: -1 });
