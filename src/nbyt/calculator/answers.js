// What the page asks of the compiled rules; every answer is plain data, as `--json` has it.
py.json = (value) => {
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return floated(value);
  if (Array.isArray(value)) return `[${value.map(py.json).join()}]`;
  if (value instanceof py.Dict) {
    return `{${value.items().map(([key, one]) => `${JSON.stringify(py.str(key))}:${py.json(one)}`).join()}}`;
  }
  return String(value);
};
const rules = (module) => py.modules[`nbyt.dialects.${module}`];
const load = (name) => rules("dialect").load(name);
const explained = (name, pairs, lenient) =>
  py.call(rules("explaining").explained, [load(name), pairs], py.dict([["lenient", lenient]]));
// An answer, or what is wrong: a message and a fix, and what is known of settings that lack some.
const attempt = (code) => {
  try {
    return { data: code() };
  } catch (error) {
    if (!(error instanceof py.Obj)) throw error;
    const isPartial = py.b.isinstance(error, rules("missing").MissingSettingsError);
    return { error: { message: error.message, fix: error.fix ?? "" },
      partial: isPartial ? error.partial() : null };
  }
};
const answers = {
  names: () => rules("dialect").names(),
  dialect: (name) => load(name),
  explain: (name, pairs, lenient = false) => attempt(() => explained(name, pairs, lenient)),
  translate: (name, pairs, target, lenient = false) => attempt(() =>
    rules("translating").translated(explained(name, pairs, lenient), load(target))),
  compare: (one, other, lenient = false) => attempt(() =>
    rules("comparing").compared(explained(...one, lenient), explained(...other, lenient))),
  facts: (explanation) => rules("describing").facts(explanation.reading),
  // The whole answer as text, to be held to what Python says.
  text: (kind, ...given) => {
    const { data, error, partial } = answers[kind](...given);
    return error ? `{"error":${py.json(py.dict([["message", error.message], ["fix", error.fix]]))},"partial":${py.json(partial)}}`
      : py.json(data.as_dict());
  },
};
