/* Which cases are shown, in which order; all of it stands in the page's address. */

const KEYS = ["q", "test", "outcome", "change", "corpus", "lang", "subset", "gender", "identity", "reason", "judged", "said", "shift", "flag", "sort", "dir", "case"];
const NONE = "none";

/** The address's fragment as an object; unknown keys and broken escapes are left out. */
function readFragment(fragment) {
  const wanted = {};
  for (const pair of fragment.replace(/^#/, "").split("&")) {
    const at = pair.indexOf("=");
    if (at < 0 || !KEYS.includes(pair.slice(0, at))) continue;
    try { wanted[pair.slice(0, at)] = decodeURIComponent(pair.slice(at + 1)); } catch { /* not an address of ours */ }
  }
  return wanted;
}

function writeFragment(wanted) {
  return "#" + KEYS.filter((key) => wanted[key]).map((key) => `${key}=${encodeURIComponent(wanted[key].toWellFormed?.() ?? wanted[key]).replaceAll("%2F", "/")}`).join("&");
}

/** The cases that meet every condition, in file order. */
function filtered(cases, wanted) {
  const { values, one, many } = cases.meta;
  const conditions = [];
  for (const name of one) {
    if (!wanted[name]) continue;
    const code = wanted[name] === NONE && !values[name].includes(NONE) ? 0 : values[name].indexOf(wanted[name]), column = cases.one[name];
    conditions.push((i) => column[i] === code);
  }
  for (const name of many) {
    if (!wanted[name]) continue;
    const code = values[name].indexOf(wanted[name]), column = cases.many[name];
    conditions.push((i) => column[i].includes(code));
  }
  const codes = values.test.map((_, code) => code).filter((code) => code && (!wanted.test || values.test[code] === wanted.test));
  if (wanted.test || wanted.outcome || wanted.change) {
    const outcome = cases.meta.outcomes.indexOf(wanted.outcome || ""), change = values.change.indexOf(wanted.change || "");
    conditions.push((i) => codes.some((code) =>
      cases.tests[code][i] && (!wanted.outcome || cases.tests[code][i] === outcome) && (!wanted.change || cases.changes[code][i] === change)));
  }
  const words = searchWords(wanted.q);
  if (words.length) conditions.push((i) => words.every((word) => cases.haystack(i).includes(word)));
  return cases.order.filter((i) => conditions.every((condition) => condition(i)));
}

const searchWords = (query) => (query || "").normalize("NFC").toLowerCase().split(/\s+/).filter(Boolean);

/** What the table can be sorted by: name → [label, value of a case]. Cases without a value come last. */
function sortings(cases) {
  const rank = { "": 0, passed: 1, unscored: 2, failed: 3 };
  const found = {
    id: ["case", null],
    outcome: ["outcome", (i, wanted) => -rank[cases.worst(i, wanted.test)]],
  };
  if (cases.meta.compared) found.change = ["change", (i, wanted) => cases.meta.changes.indexOf(cases.worstChange(i, wanted.test))];
  for (const name of ["lang", "subset", "identity"]) {
    if (cases.meta.values[name].length > 2) found[name] = [{ lang: "language", subset: "set" }[name] || name, (i) => (name === "identity" ? (cases.one.identity[i] ? cases.identityRank(cases.value(name, i)) : null) : cases.value(name, i) || null)];
  }
  cases.meta.values.metric.forEach((metric, code) => { if (code) found[`score ${metric}`] = [metric, (i) => (Number.isNaN(cases.scores[code][i]) ? null : cases.scores[code][i])]; });
  found.source = ["length of the source", (i) => cases.source[i].length];
  return found;
}

/** Sort case numbers; equal ones stay in file order. */
function sorted(cases, rows, wanted) {
  const [, valueOf] = sortings(cases)[wanted.sort] || [];
  const down = wanted.dir === "down";
  if (!valueOf) return down ? rows.slice().reverse() : rows;
  const keys = new Map();
  for (const i of rows) keys.set(i, valueOf(i, wanted));
  return Uint32Array.from(rows).sort((i, j) => {
    const a = keys.get(i), b = keys.get(j);
    if (a === b) return i - j;
    if (a === null) return 1;
    if (b === null) return -1;
    return (a < b ? -1 : 1) * (down ? -1 : 1);
  });
}

/** Fill the form's lists with the values that occur, each with its number of cases. */
function fillFilters(form, cases) {
  const { values, one, many, outcomes, changes } = cases.meta;
  const tally = (name, total) => {
    const counts = new Array(values[name].length).fill(0);
    for (let i = 0; i < cases.n; i++) total(i, counts);
    return values[name].map((value, code) => [value, counts[code]]).slice(1);
  };
  const put = (name, options, every, least = 2) => {
    const select = form.elements[name];
    if (!select) return;
    select.replaceChildren(make("option", { value: "" }, every), ...options.map(([value, number, label]) =>
      make("option", { value }, visible(label || value, false), number === null ? "" : ` (${count(number)})`)));
    select.parentElement.hidden = options.length < least;
  };
  for (const name of one) put(name, tally(name, (i, counts) => counts[cases.one[name][i]]++).sort((a, b) => (name === "identity" ? cases.identityRank(a[0]) - cases.identityRank(b[0]) : a[0] < b[0] ? -1 : 1)), "all", name === "shift" ? 1 : 2);
  for (const name of many) put(name, tally(name, (i, counts) => { for (const code of cases.many[name][i]) counts[code]++; }), "all", 1);
  const column = (columns, code) => { const counts = []; for (const each of columns) if (each) for (const value of each) counts[value] = (counts[value] || 0) + 1; return counts[code] || 0; };
  put("test", values.test.slice(1).map((name, code) => [name, cases.tests[code + 1].reduce((sum, outcome) => sum + (outcome > 0), 0), spoken(name)]), "all");
  put("outcome", outcomes.slice(1).map((name, code) => [name, column(cases.tests, code + 1)]), "all", 1);
  put("change", changes.filter((name) => values.change.includes(name)).map((name) => [name, column(cases.changes, values.change.indexOf(name))]), "all", 1);
  for (const option of form.elements.shift.options) if (option.value) option.replaceChildren(option.textContent.replace("-", " → "));
  const sorts = [];
  for (const [name, [label]] of Object.entries(sortings(cases))) sorts.push([name, null, label], [`${name} down`, null, `${label}, descending`]);
  put("sort", sorts.slice(1), "case");
}
