// The page: two settings, what they do, the same in another library, and both compared.
const el = (name, attributes = {}, ...inside) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else made.setAttribute(key, value);
  }
  made.append(...inside.filter((one) => one !== null));
  return made;
};
const at = (id) => document.getElementById(id);
const SIZES = ["envs", "steps", "fragment", "batch", "batch_or", "minibatch", "minibatch_or", "minibatches", "epochs", "total", "evaluation", "learning_rate", "gamma", "lam"];

// Settings pasted as text: a command line, arguments of a call, YAML, INI or JSON.
const flattened = (value) => Object.entries(value).flatMap(([key, one]) =>
  (one && typeof one === "object" && !Array.isArray(one) ? flattened(one) : [[key, String(one)]]));
const commanded = (text) => {
  const words = text.split(/[\s]+/).filter(Boolean), found = [];
  words.forEach((word, place) => {
    if (!word.startsWith("--")) {
      if (/^\+{0,2}[A-Za-z_][\w.]*=.+/.test(word)) found.push([word.split("=")[0], word.slice(word.indexOf("=") + 1)]);
      return;
    }
    const [name, value] = [word.slice(2).split("=")[0], word.includes("=") ? word.slice(word.indexOf("=") + 1) : null];
    const next = words[place + 1] ?? "--";
    if (value !== null) found.push([name, value]);
    else if (name.startsWith("no-")) found.push([name.slice(3), "false"]);
    else found.push(next.startsWith("--") || /^[\w.+]+=/.test(next) ? [name, "true"] : [name, next]);
  });
  return found;
};
const pasted = (text) => {
  const plain = text.replace(/\\\r?\n/g, " ").trim();
  if (plain.startsWith("{")) {
    try { return flattened(JSON.parse(plain)); } catch (error) { /* read as lines, below */ }
  }
  return plain.split("\n").flatMap((line) => {
    const bare = line.replace(/(^|\s)#.*$/, "").trim();
    if (/(^|\s)--\w/.test(bare)) return commanded(bare);
    const yaml = /^["']?([A-Za-z_][\w.-]*)["']?\s*:\s*(?:!!\w+\s+)?["']?([^\s"',{}]+)["']?,?$/.exec(bare);
    if (yaml) return [[yaml[1], yaml[2]]];
    return [...bare.matchAll(/([A-Za-z_+][\w.+]*)\s*=\s*["']?([^\s,)"']+)/g)].map((one) => [one[1], one[2]]);
  });
};

// One side: a library, a field for each of its sizes, and a place to paste.
const side = (form, start, changed) => {
  const id = form.id;
  const library = el("select", { id: `${id}-library` });
  for (const name of answers.names()) {
    const one = answers.dialect(name);
    library.append(el("option", { value: name }, `${one.library}, ${one.algorithm}`.slice(0, 60)));
  }
  library.value = start.library;
  const fields = el("div", { class: "fields" });
  const area = el("textarea", { id: `${id}-paste`, spellcheck: "false", placeholder: "n_envs=8 n_steps=256\n--num-envs 8 --no-norm-adv\nnum_envs: 4096" });
  form.append(el("label", { for: `${id}-library` }, "Library"), library, fields,
    el("label", { for: `${id}-paste` }, "Type or paste more: arguments, a command, YAML"), area);
  const given = () => [
    ...[...fields.querySelectorAll("input")].filter((one) => one.value.trim()).map((one) => [one.name, one.value.trim()]),
  ];
  const build = (values = {}) => {
    const dialect = answers.dialect(library.value);
    const seen = new Set();
    fields.replaceChildren();
    for (const word of SIZES) {
      for (const key of dialect.words.get(word) ?? []) {
        if (seen.has(key)) continue;
        seen.add(key);
        const name = `${id}-${key}`;
        const meaning = py.modules["nbyt.dialects.vocabulary"].MEANING.get(dialect.role(key)) ?? "";
        const other = dialect.defaults.get(key);
        const input = el("input", { id: name, name: key, inputmode: "decimal", placeholder: other === null ? "needed" : py.str(other) });
        if (word === "total" || word === "learning_rate") input.placeholder = other === null ? "" : py.str(other);
        input.value = values[key] ?? "";
        fields.append(el("div", { class: "field" }, el("label", { for: name }, el("code", {}, key), el("small", {}, meaning)), input));
      }
    }
  };
  build(start.values);
  library.addEventListener("change", () => { build(); area.value = ""; changed(); });
  form.addEventListener("input", (event) => { if (event.target !== library) changed(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  return {
    name: () => library.value,
    pairs: () => {
      const typed = given(), own = answers.dialect(library.value);
      const keys = new Set(typed.map(([key]) => key));
      return [...pasted(area.value).filter(([key]) => !keys.has(own.own(key))), ...typed];
    },
    set: (change) => {
      for (const [key, value] of Object.entries(change)) {
        const input = [...fields.querySelectorAll("input")].find((one) => one.name === key);
        if (input) input.value = value;
        else area.value += `\n${key}=${value}`;
      }
      changed();
    },
    take: (name, values) => { library.value = name; build(values); area.value = ""; },
  };
};

// What could not be read strictly is read as a file is: names that are not known are put aside.
const asked = (kind, ...given) => {
  const strict = answers[kind](...given);
  if (!strict.error || strict.partial) return strict;
  const loose = answers[kind](...given, true);
  return loose.error ? strict : { ...loose, warning: strict.error };
};
const wrong = ({ message, fix }) => el("div", { class: "wrong" }, el("p", {}, message), fix ? el("p", {}, "fix: ", fix) : null);
const listed = (rows) => el("dl", { class: "facts" }, ...rows.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
const values = (change) => Object.fromEntries(change.items().map(([key, value]) => [key, py.str(value)]));
const offer = (change, on) => {
  const button = el("button", { type: "button" }, change.items().map(([key, value]) => `${key}=${py.str(value)}`).join(" "));
  button.addEventListener("click", () => on.set(values(change)));
  return button;
};
const trapped = (trap, on) => el("div", { class: "trap" },
  el("p", {}, el("strong", {}, trap.code.replaceAll("_", " ")), `: ${trap.message}`),
  el("p", {}, "fix: ", trap.fix),
  trap.nearest.length ? el("div", { class: "fixes" }, ...trap.nearest.map((change) => offer(change, on))) : null);

const shown = (found) => {
  const reading = found.reading, size = reading.sizes;
  const updates = reading.updates;
  const figures = [["mini-batches an epoch", py.format(reading.minibatches, ",.6g")], ["mini-batch", py.format(reading.minibatch, ",")],
    ["epochs", py.format(size.epochs, ",")], ["gradient steps an update", py.format(reading.gradient_steps_per_update, ",")],
    ["updates of the run", updates === null ? "length not given" : py.format(updates, ",")],
    ["gradient steps of the run", updates === null ? "length not given" : py.format(updates * reading.gradient_steps_per_update, ",")]];
  return [
    el("p", { class: "headline" }, el("span", { class: "big" }, `${counted(size.envs)} × ${counted(size.steps)}`), el("span", { class: "muted" }, `envs × steps = ${counted(size.batch)} samples in a batch`)),
    el("dl", { class: "figures" }, ...figures.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text)))),
    drawing(reading),
    ...(found.traps.length ? found.traps.map((trap) => trapped(trap, first)) : [el("p", { class: "good" }, "No traps found.")]),
    el("h3", {}, "In full"), listed(answers.facts(found)),
  ];
};
const showResult = () => {
  const { data, error, partial, warning } = asked("explain", first.name(), first.pairs());
  if (data) return at("result").replaceChildren(...(warning ? [wrong(warning)] : []), ...shown(data));
  const says = partial ? [...partial.at("says").map((one) => el("p", { class: "good" }, one)), listed(partial.at("missing").map((one) => [one.at("key"), `${one.at("meaning")}: ${one.at("where")}`]))] : [];
  return at("result").replaceChildren(wrong(error), ...says);
};
const showTranslation = () => {
  const { data, error } = asked("translate", first.name(), first.pairs(), at("target").value);
  if (error) return at("translation").replaceChildren(wrong(error));
  const copy = el("button", { type: "button", class: "copy" }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(data.paste);
    at("said").textContent = "copied";
    copy.textContent = "Copied";
  });
  const count = data.not_same.length;
  const rest = count ? `; ${count} other setting${count === 1 ? " or rule is" : "s or rules are"} not` : ", and so is every setting that was read";
  return at("translation").replaceChildren(el("pre", { tabindex: "0" }, data.paste), copy,
    el("p", { class: data.is_exact ? "good" : "wrong" }, data.is_exact ? `The layout is the same${rest}.` : "The layout is not the same:"),
    el("ul", { class: "told" }, ...data.differences.map((one) => el("li", {}, el("span", { class: `kind ${one.kind}` }, one.kind), el("span", {}, one.message)))));
};
const showComparison = () => {
  const sides = [first, second].map((one) => [one.name(), one.pairs()]);
  const { data, error } = asked("compare", ...sides);
  if (error) return at("comparison").replaceChildren(wrong(error));
  const rows = data.changes.map((one) => el("tr", { class: one.is_same ? "same" : "" }, el("th", { scope: "row" }, one.name),
    ...[one.before, one.after].map((value) => el("td", {}, py.format(value, ",.6g"))), el("td", {}, one.is_same ? "same" : `× ${py.format(one.factor, ".4g")}`)));
  const head = el("tr", {}, ...["", "first", "second", "factor"].map((word) => el("th", { scope: "col" }, word)));
  return at("comparison").replaceChildren(
    el("ul", {}, ...data.findings.map((one) => el("li", {}, one.at("message")))),
    el("table", { class: "changes" }, el("thead", {}, head), el("tbody", {}, ...rows)),
    ...(data.equal_batch.length ? [el("p", {}, "Second setting with the batch of the first:"), el("div", { class: "fixes" }, ...data.equal_batch.map((change) => offer(change, second)))] : []));
};
const showAll = () => { showResult(); showTranslation(); showComparison(); };

let waiting = 0;
const soon = () => { clearTimeout(waiting); waiting = setTimeout(showAll, 120); };
const first = side(at("first"), { library: "sb3", values: { n_envs: "8", n_steps: "256", total_timesteps: "1e6" } }, soon);
const second = side(at("second"), { library: "sb3", values: { n_envs: "64", n_steps: "256", total_timesteps: "1e6" } }, soon);
for (const name of answers.names()) at("target").append(el("option", { value: name }, answers.dialect(name).library + ", " + answers.dialect(name).algorithm));
at("target").value = "cleanrl";
at("target").addEventListener("change", showTranslation);
at("theme").addEventListener("click", () => {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : dark;
  root.dataset.theme = isDark ? "light" : "dark";
  at("theme").textContent = isDark ? "Dark" : "Light";
  at("theme").setAttribute("aria-pressed", String(!isDark));
});
let narrow = innerWidth < 720;
addEventListener("resize", () => {
  if (narrow !== innerWidth < 720) showResult();
  narrow = innerWidth < 720;
});
if (matchMedia("(prefers-color-scheme: dark)").matches) at("theme").textContent = "Light";
showAll();
