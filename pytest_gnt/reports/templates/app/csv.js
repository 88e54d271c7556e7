/* The cases in sight as a CSV file (RFC 4180, UTF-8 with a byte-order mark, so that spreadsheets read it right). */

/** A cell of text. What a spreadsheet would take for a formula gets an apostrophe in front, however it is disguised. */
function csvCell(text) {
  const plain = text.replace(/[\p{Cs}\0]/gu, (char) => `\\u${char.codePointAt(0).toString(16).padStart(4, "0")}`);
  const safe = /^[\s\p{C}\p{Z}"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20\u2212|%]/u.test(plain) || /^[\t\r\n]/.test(plain) ? `'${plain}` : plain;
  return /[",\r\n;]/.test(safe) || /^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvLines(cases, rows) {
  const { values } = cases.meta, tests = values.test.slice(1), metrics = values.metric.slice(1), compared = cases.meta.compared;
  const head = ["id", "corpus", "language", "set", "gender", "identity", "group", "source", "translation", "says itself", "judged", "error kinds", "flags", "attitude"];
  const lines = [[...head, ...tests, ...(compared ? tests.map((test) => `change of ${test}`) : []), ...metrics].map(csvCell).join(",")];
  const names = (name, i) => cases.many[name][i].map((code) => values[name][code]).join(" ");
  for (const i of rows) {
    const texts = [cases.id[i], ...["corpus", "lang", "subset", "gender", "identity"].map((name) => cases.value(name, i)), cases.group[i], cases.source[i], cases.text[i] ?? "",
      cases.value("said", i), cases.value("judged", i), names("reason", i), names("flag", i), cases.value("shift", i),
      ...tests.map((test) => cases.outcome(test, i)), ...(compared ? tests.map((test) => cases.change(test, i)) : [])];
    const numbers = metrics.map((_, code) => { const value = cases.scores[code + 1][i]; return Number.isNaN(value) ? "" : String(value); });
    lines.push([...texts.map(csvCell), ...numbers].join(","));
  }
  return lines;
}

function exportCsv(cases, rows) {
  const lines = csvLines(cases, rows).map((line) => line + "\r\n");
  const address = URL.createObjectURL(new Blob(["\uFEFF", ...lines], { type: "text/csv;charset=utf-8" }));
  const link = make("a", { download: "gnt-cases.csv" });
  link.href = address;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
