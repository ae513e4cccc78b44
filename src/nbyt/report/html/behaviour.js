"use strict";
(() => {
  const page = JSON.parse(document.getElementById("page-data").textContent);
  const root = document.documentElement;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paper = matchMedia("print");
  const PRINTED = 660; // pixels between the margins of an A4 sheet
  const NARROWEST_TICK = 34;
  const DIGIT = 6.9; // pixels of a tick's letters, most of which are digits
  const LETTER = 6.1; // pixels of a title's letters
  const LINE = 15;
  const at = {}; // where each slider is
  const near = new Set(page.lazy ? [] : Object.keys(page.charts)); // charts that are to be seen
  const fresh = new Set(); // charts that are drawn as they should be now
  let printing = paper.matches;

  // Colours: "@blue" is a property of the style sheet, "@blue:0.2" the same, let through.
  function colour(name) {
    const [key, alpha] = name.slice(1).split(":");
    const hex = getComputedStyle(root).getPropertyValue("--" + key).trim();
    if (alpha === undefined) return hex;
    const full = hex.length === 4 ? hex.replace(/[0-9a-f]/gi, "$&$&") : hex;
    const parts = [1, 3, 5].map((k) => parseInt(full.slice(k, k + 2), 16));
    return "rgba(" + [...parts, alpha].join(",") + ")";
  }

  function coloured(value) {
    if (typeof value === "string") return value.startsWith("@") ? colour(value) : value;
    if (Array.isArray(value)) return value.map(coloured);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, coloured(v)]));
  }

  // Ticks that have no room are left out, from left to right; on an axis that needs all, they turn.
  function thinned({ all: whole, ...axis }, width) {
    if (!axis.tickvals || !axis.range) return axis;
    const place = (x) => (axis.type === "log" ? Math.log10(x) : x);
    const pixels = width / (axis.range[1] - axis.range[0]);
    const wide = (text) => DIGIT * Math.max(...text.split("<br>").map((line) => line.length));
    let last = -Infinity;
    let half = 0; // of the width of the last one
    const kept = axis.tickvals.map((x, k) => {
      const own = wide(axis.ticktext[k]) / 2;
      const fits = (place(x) - last) * pixels >= Math.max(NARROWEST_TICK, half + own + 8);
      if (fits) [last, half] = [place(x), own];
      return fits;
    });
    if (whole) return { ...axis, tickangle: kept.every((one) => one) ? 0 : -38, ticklabeloverflow: "allow" };
    return {
      ...axis,
      tickvals: axis.tickvals.filter((_, k) => kept[k]),
      ticktext: axis.ticktext.filter((_, k) => kept[k]),
    };
  }

  // Words of an axis on as many lines as its length needs.
  function folded(axis, length) {
    if (!axis.title) return { lines: 1, axis };
    const lines = [];
    const long = (text) => LETTER * text.replace(/<[^>]*>/g, "").replace(/&[a-z0-9#]+;/gi, "x").length;
    for (const word of axis.title.text.split(" ")) {
      const last = lines.length - 1;
      if (last >= 0 && long(lines[last] + " " + word) <= length) lines[last] += " " + word;
      else lines.push(word);
    }
    return { lines: lines.length, axis: { ...axis, title: { ...axis.title, text: lines.join("<br>") } } };
  }

  function styled(axis) {
    return {
      automargin: false, fixedrange: true, gridcolor: "@line", linecolor: "@line", zerolinecolor: "@muted",
      zerolinewidth: 1, ticks: "outside", ticklen: 4, tickcolor: "@line", ...axis,
      title: { standoff: 12, ...axis.title, font: { size: 12, color: "@muted" } },
    };
  }

  function layoutOf(figure, width) {
    const { xaxis, yaxis, margin: given, square, ...rest } = figure.layout;
    const inner = width - given.l - given.r;
    const height = square ? Math.min(rest.height, inner + given.t + given.b) : rest.height;
    const below = folded(xaxis, inner);
    const beside = folded(yaxis, height - given.t - given.b);
    const margin = { ...given, b: given.b + LINE * (below.lines - 1), l: given.l + LINE * (beside.lines - 1) };
    return coloured({
      ...rest, margin, width, height, showlegend: false, dragmode: false, hovermode: "closest",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: "@ink" },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      hoverlabel: { bgcolor: "@ink", bordercolor: "@ink", font: { color: "@paper", size: 13 }, align: "left" },
      xaxis: styled(thinned(below.axis, inner)),
      yaxis: styled(beside.axis),
    });
  }

  function draw(id) {
    fresh.delete(id);
    if (!printing && !near.has(id)) return;
    const place = document.getElementById(id);
    const figures = page.charts[id];
    const figure = figures[figures.length > 1 ? at[place.dataset.slider] : 0];
    const width = printing ? PRINTED : place.clientWidth;
    if (!width) return;
    const config = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false };
    const layout = layoutOf(figure, width);
    if (figure.layout.square) place.style.minHeight = layout.height + "px";
    Plotly.react(place, coloured(figure.data), layout, config);
    fresh.add(id);
  }

  const drawAll = () => Object.keys(page.charts).forEach(draw);

  // Many charts are drawn as the reader comes near.
  if (page.lazy) {
    const seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) near.delete(target.id);
        else near.add(target.id);
        if (isIntersecting && !fresh.has(target.id)) draw(target.id);
      }
    }, { rootMargin: "600px 0px" });
    all(".chart").forEach((one) => seen.observe(one));
  }

  // Sliders
  function put(slider, place) {
    const name = slider.id;
    at[name] = place;
    slider.setAttribute("aria-valuetext", page.sliders[name].words[place]);
    for (const one of all(`[data-word-of="${name}"]`)) one.textContent = page.sliders[name].words[place];
    for (const block of all(`[data-of="${name}"]`)) block.hidden = Number(block.dataset.place) !== place;
  }
  for (const [name, { start }] of Object.entries(page.sliders)) {
    const slider = document.getElementById(name);
    slider.value = String(start); // a browser may bring back where it was before a reload
    put(slider, start);
    slider.addEventListener("input", () => {
      put(slider, Number(slider.value));
      for (const chart of all(`[data-slider="${name}"]`)) draw(chart.id);
    });
  }

  // Theme
  const theme = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  function told() {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", "Switch to " + (isDark() ? "light" : "dark") + " colours");
    drawAll();
  }
  theme.removeAttribute("aria-pressed");
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    told();
  });
  dark.addEventListener("change", told);

  // Print: light, as wide as the paper, nothing folded away.
  function print(on) {
    if (printing === on) return;
    printing = on;
    for (const one of all("details")) {
      if (on && !one.open) one.dataset.folded = "";
      if (on || "folded" in one.dataset) one.open = on;
      if (!on) delete one.dataset.folded;
    }
    const before = root.dataset.theme;
    if (on) {
      root.dataset.theme = "light";
      root.dataset.before = before || "";
    } else {
      if (root.dataset.before) root.dataset.theme = root.dataset.before;
      else delete root.dataset.theme;
      delete root.dataset.before;
    }
    drawAll();
  }
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  paper.addEventListener("change", () => print(paper.matches));

  // A link to what is folded away unfolds it.
  function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) for (const one of target.querySelectorAll(":scope > details")) one.open = true;
  }
  addEventListener("hashchange", unfold);
  unfold();

  // Size
  let wait = 0;
  let wide = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === wide) return;
    wide = innerWidth;
    clearTimeout(wait);
    wait = setTimeout(drawAll, 120);
  });

  // Libraries
  const tabs = all('[role="tab"]');
  const menu = document.getElementById("more-libraries");
  function open(place) {
    tabs.forEach((tab, k) => {
      tab.setAttribute("aria-selected", String(k === place));
      tab.tabIndex = k === place || (place >= tabs.length && k === 0) ? 0 : -1;
    });
    all(".panel").forEach((panel, k) => { panel.hidden = k !== place; });
    if (!menu) return;
    menu.classList.toggle("chosen", place >= tabs.length);
    if (place < tabs.length) menu.value = "";
  }
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => open(k));
    tab.addEventListener("keydown", (event) => {
      const moves = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: tabs.length - 1 };
      if (!(event.key in moves)) return;
      event.preventDefault();
      const next = (moves[event.key] + tabs.length) % tabs.length;
      open(next);
      tabs[next].focus();
    });
  });
  if (menu) menu.addEventListener("change", () => open(menu.value === "" ? 0 : Number(menu.value)));

  // Ranking
  for (const button of all("[data-show]")) {
    button.addEventListener("click", () => {
      for (const one of all("[data-show]")) one.setAttribute("aria-pressed", String(one === button));
      for (const one of all("[data-kind]")) one.hidden = one.dataset.kind !== button.dataset.show;
    });
  }

  // Claims of one verdict
  for (const button of all("[data-filter]")) {
    button.addEventListener("click", () => {
      const wanted = button.dataset.filter;
      for (const one of all("[data-filter]")) one.setAttribute("aria-pressed", String(one === button));
      for (const one of all("[data-verdict]")) one.hidden = wanted !== "" && one.dataset.verdict !== wanted;
      const count = all("[data-verdict]:not([hidden])").length;
      document.getElementById("said").textContent = count + (count === 1 ? " claim" : " claims");
    });
  }

  // Copying. A page from a file may have no clipboard of its own: then the old way.
  function copyOld(text) {
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("readonly", "");
    area.className = "visually-hidden";
    document.body.append(area);
    area.select();
    const worked = document.execCommand("copy");
    area.remove();
    return worked;
  }
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copyOld(text);
    }
  }
  for (const button of all("[data-copy]")) {
    button.addEventListener("click", async () => {
      const worked = await copy(document.getElementById(button.dataset.copy).textContent);
      button.focus();
      button.textContent = worked ? "Copied" : "Not copied";
      document.getElementById("said").textContent = worked ? "Copied" : "Copying was refused";
      setTimeout(() => { button.textContent = "Copy"; }, 1600);
    });
  }

  // Words: what they mean, beside the word, for the mouse and for the keyboard.
  const tip = document.getElementById("tip");
  let explained = null;
  function explain(word) {
    hush();
    explained = word;
    tip.textContent = document.querySelector("#term-" + word.dataset.term + " dd").textContent;
    tip.hidden = false;
    word.setAttribute("aria-describedby", "tip");
    place();
  }
  function place() {
    if (!explained) return;
    const at = explained.getBoundingClientRect();
    const own = tip.getBoundingClientRect();
    const left = Math.min(Math.max(at.left, 12), innerWidth - own.width - 12);
    const above = at.top - own.height - 8;
    tip.style.left = left + "px";
    tip.style.top = (above > 8 ? above : at.bottom + 8) + "px";
  }
  function hush() {
    if (explained) explained.removeAttribute("aria-describedby");
    explained = null;
    tip.hidden = true;
  }
  const wordAt = (event) => event.target.closest && event.target.closest(".term");
  for (const name of ["mouseover", "focusin"]) {
    document.addEventListener(name, (event) => { const word = wordAt(event); if (word) explain(word); });
  }
  for (const name of ["mouseout", "focusout"]) {
    document.addEventListener(name, (event) => { if (wordAt(event)) hush(); });
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hush(); });
  // The word may have been scrolled into view by its focus: the meaning goes along.
  addEventListener("scroll", place, { passive: true, capture: true });

  if (printing) { printing = false; print(true); }
  told();
})();
