/* The table of cases: only the rows in sight are in the page. */

const SPARE = 6;
const PRINTED = 24;

class Table {
  constructor(cases, open, sortBy) {
    this.cases = cases;
    this.sortBy = sortBy;
    this.rows = cases.order;
    this.wanted = {};
    this.active = 0;
    this.made = new Map();
    this.grid = byId("grid");
    this.body = byId("rows");
    this.spacer = make("div", { class: "spacer", role: "presentation" });
    this.metrics = cases.meta.values.metric.slice(1);
    this.metric = this.metrics.find((name) => /comet/.test(name)) || this.metrics.find((name) => name === "chrf") || this.metrics[0] || "";
    this.grid.classList.toggle("compared", cases.meta.compared);
    this.grid.setAttribute("aria-colcount", cases.meta.compared ? 6 : 5);
    this.head();
    this.body.addEventListener("scroll", () => { this.waiting ||= requestAnimationFrame(() => { this.waiting = 0; this.draw(); }); }, { passive: true });
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row && !event.target.closest("a") && !getSelection().toString()) open(Number(row.dataset.case));
    });
    addEventListener("resize", () => { this.height = 0; this.draw(); });
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  head() {
    const cell = (name, label, sort) => {
      const active = sort && (this.wanted.sort || "id") === sort;
      return make("div", { role: "columnheader", class: name, "aria-sort": active ? (this.wanted.dir === "down" ? "descending" : "ascending") : null },
        sort ? make("button", { type: "button", "data-sort": sort }, label) : label);
    };
    const cells = [cell("out", "Outcome", "outcome"), cell("case", "Case", "id"), cell("src", "Source"), cell("hyp", "Translation"),
      cell("score", this.metric || "–", this.metric && `score ${this.metric}`)];
    if (this.cases.meta.compared) cells.push(cell("chg", "Change", "change"));
    const head = this.grid.querySelector(".head");
    head.replaceChildren(...cells);
    for (const button of head.querySelectorAll("button")) button.addEventListener("click", () => this.sortBy(button.dataset.sort));
  }

  /** Show these cases; `focus` is the case to keep in sight. */
  show(rows, wanted) {
    this.rows = rows;
    this.wanted = wanted;
    const [kind, ...metric] = (wanted.sort || "").split(" ");
    if (kind === "score" && this.metrics.includes(metric.join(" "))) this.metric = metric.join(" ");
    this.words = searchWords(wanted.q);
    this.active = 0;
    this.grid.setAttribute("aria-rowcount", rows.length + 1);
    this.grid.hidden = rows.length === 0;
    byId("nothing").hidden = rows.length > 0;
    this.head();
    this.made.clear();
    this.body.replaceChildren(this.spacer);
    this.body.scrollTop = 0;
    this.draw();
  }

  measure() {
    if (this.height) return;
    const probe = make("div", { class: "row" });
    this.body.append(probe);
    this.height = probe.getBoundingClientRect().height;
    probe.remove();
    for (const row of this.made.values()) row.remove();
    this.made.clear();
  }

  draw() {
    if (this.printing || this.body.offsetParent === null) return;
    this.measure();
    this.spacer.style.height = `${this.rows.length * this.height}px`;
    const first = Math.max(0, Math.floor(this.body.scrollTop / this.height) - SPARE);
    const last = Math.min(this.rows.length, Math.ceil((this.body.scrollTop + this.body.clientHeight) / this.height) + SPARE);
    const focused = this.body.contains(document.activeElement);
    for (const [place, row] of this.made) {
      if ((place < first || place >= last) && !(focused && place === this.active)) { row.remove(); this.made.delete(place); }
    }
    for (let place = first; place < last; place++) this.place(place);
    if (this.rows.length && !this.made.has(this.active)) this.tabStop(first + (first ? SPARE : 0));
    else this.tabStop(this.active);
  }

  place(place) {
    if (this.made.has(place) || place < 0 || place >= this.rows.length) return;
    const row = this.row(this.rows[place], place);
    row.style.top = `${place * this.height}px`;
    this.made.set(place, row);
    // Rows stand in the document in their order, for those who read it without seeing it.
    let next = null;
    for (const [other, element] of this.made) if (other > place && (next === null || other < next[0])) next = [other, element];
    this.body.insertBefore(row, next ? next[1] : null);
  }

  row(i, place) {
    const { cases } = this, tests = cases.testsOf(i), outcome = cases.worst(i, this.wanted.test);
    const same = this.wanted.test ? 1 : tests.filter((test) => cases.outcome(test, i) === outcome).length;
    const about = [cases.value("subset", i), cases.value("gender", i), cases.value("identity", i)].filter(Boolean).join(" · ");
    const clamp = (name, lang, text) => make("div", { role: "gridcell", class: name }, make("div", { class: "clamp" },
      text === null || text === undefined ? make("span", { class: "muted" }, `no translation: ${this.reasons(i)}`) : spokenText(lang, wrapped(text, searchRanges(text, this.words || []), false))));
    const code = cases.meta.values.metric.indexOf(this.metric), score = this.metric ? cases.scores[code][i] : NaN;
    const cells = [
      make("div", { role: "gridcell", class: "out" }, outcomeTag(outcome), make("span", { class: "meta" }, tests.length > 1 && !this.wanted.test ? `${same} of ${tests.length} tests` : "")),
      make("div", { role: "gridcell", class: "case" }, make("a", { class: "id mono", href: writeFragment({ ...this.wanted, case: cases.id[i] }), tabindex: "-1" }, visible(cases.id[i], false)),
        make("span", { class: "meta" }, make("bdi", {}, visible(`${cases.value("lang", i)} · ${about}`, false)))),
      clamp("src", "en", cases.source[i]),
      clamp("hyp", cases.value("lang", i), cases.text[i]),
      make("div", { role: "gridcell", class: "score" }, Number.isNaN(score) ? "–" : signed(score, 2, /^eas/.test(this.metric)), make("span", { class: "meta sr" }, this.metric)),
    ];
    if (cases.meta.compared) { const change = cases.worstChange(i, this.wanted.test); cells.push(make("div", { role: "gridcell", class: "chg" }, change ? changeTag(change) : "")); }
    return make("div", { role: "row", class: "row", "aria-rowindex": place + 2, "data-case": i, "data-place": place }, cells);
  }

  reasons(i) {
    const codes = this.cases.many.reason[i];
    return codes.map((code) => this.cases.meta.values.reason[code]).join(", ") || "not run";
  }

  /** One row's link takes part in tabbing; the arrow keys move it. */
  tabStop(place) {
    this.made.get(this.active)?.querySelector("a").setAttribute("tabindex", "-1");
    this.active = Math.max(0, Math.min(this.rows.length - 1, place));
    this.made.get(this.active)?.querySelector("a").setAttribute("tabindex", "0");
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.body.clientHeight / this.height) - 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const link = event.target.closest(".row");
    const from = link ? Number(link.dataset.place) : this.active;
    this.focus(Math.max(0, Math.min(this.rows.length - 1, from + step)));
  }

  /** Bring a row into sight and give it the focus. */
  focus(place) {
    this.measure();
    const top = place * this.height;
    if (top < this.body.scrollTop) this.body.scrollTop = top;
    else if (top + this.height > this.body.scrollTop + this.body.clientHeight) this.body.scrollTop = top + this.height - this.body.clientHeight;
    this.draw();
    this.place(place);
    this.tabStop(place);
    this.made.get(place)?.querySelector("a").focus({ preventScroll: true });
  }

  placeOf(i) { return this.rows.indexOf(i); }

  print(on) {
    this.printing = on;
    const rest = byId("print-rest");
    rest.textContent = "";
    if (!on) { this.height = 0; this.made.clear(); this.body.replaceChildren(this.spacer); this.draw(); return; }
    this.body.replaceChildren(...Array.from(this.rows.slice(0, PRINTED), (i, place) => this.row(i, place)));
    if (this.rows.length > PRINTED) rest.textContent = `The first ${PRINTED} of ${count(this.rows.length)} cases are printed. Narrow the table, or export it, for the others.`;
  }
}
