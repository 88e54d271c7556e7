/* Puts the parts together: address → filters → table → case. */

function themeButton() {
  const button = byId("theme"), root = document.documentElement, order = ["auto", "light", "dark"];
  const say = () => { button.querySelector("span").textContent = root.dataset.theme || "auto"; };
  button.hidden = false;
  say();
  button.addEventListener("click", () => {
    const next = order[(order.indexOf(root.dataset.theme || "auto") + 1) % order.length];
    if (next === "auto") delete root.dataset.theme; else root.dataset.theme = next;
    try { localStorage.setItem("gnt-theme", next); } catch { /* then it lasts as long as the page */ }
    say();
  });
}

class Browser {
  constructor(cases) {
    this.cases = cases;
    this.form = byId("filters");
    this.wanted = {};
    this.opened = -1;
    fillFilters(this.form, cases);
    byId("loading").hidden = true;
    byId("browser").hidden = false;
    this.table = new Table(cases, (i) => this.open(i), (name) => this.sortBy(name));
    this.detail = new Detail(cases, (i) => this.open(i));
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("change", (event) => { if (event.target.name !== "q") this.read(); });
    this.form.elements.q.addEventListener("input", () => { clearTimeout(this.timer); this.timer = setTimeout(() => this.read(), 150); });
    byId("clear").addEventListener("click", () => { this.form.reset(); this.read(); });
    byId("export").addEventListener("click", () => exportCsv(cases, this.rows));
    addEventListener("hashchange", () => this.follow());
    const wanted = readFragment(location.hash);
    this.apply(wanted);
    if (!wanted.case && this.filters(wanted).some(Boolean)) byId("cases").scrollIntoView({ behavior: "instant" });
  }

  /** Take the form's values. */
  read() {
    const wanted = {};
    for (const element of this.form.elements) if (element.name && element.value) wanted[element.name] = element.value;
    const [sort, down] = (wanted.sort || "").split(/ (down)$/);
    this.apply({ ...wanted, sort, dir: down || "" });
  }

  sortBy(name) {
    const again = (this.wanted.sort || "id") === name;
    this.apply({ ...this.wanted, sort: name === "id" ? "" : name, dir: again && this.wanted.dir !== "down" ? "down" : "" });
  }

  /** A link or the reader's own hand changed the address; anchors of sections are left alone. */
  follow() {
    if (location.hash && !location.hash.includes("=")) return;
    const wanted = readFragment(location.hash), narrowed = JSON.stringify(this.filters(wanted)) !== JSON.stringify(this.filters(this.wanted));
    this.apply(wanted);
    if (narrowed && !wanted.case) { byId("cases").scrollIntoView(); byId("cases-title").focus({ preventScroll: true }); }
  }

  filters(wanted) { return KEYS.filter((key) => key !== "case").map((key) => wanted[key] || ""); }

  apply(wanted) {
    const same = this.rows && JSON.stringify(this.filters(wanted)) === JSON.stringify(this.filters(this.wanted));
    this.wanted = wanted;
    if (!same) {
      this.fill();
      this.rows = sorted(this.cases, filtered(this.cases, wanted), wanted);
      this.table.show(this.rows, { ...wanted, case: "" });
      byId("count").textContent = this.rows.length === this.cases.n ? `${count(this.cases.n)} cases` : `${count(this.rows.length)} of ${count(this.cases.n)} cases`;
      byId("clear").disabled = this.filters({ ...wanted, sort: "", dir: "" }).every((value) => !value);
      byId("export").disabled = this.rows.length === 0;
    }
    const i = wanted.case ? this.cases.find(wanted.case) : -1;
    byId("trouble").hidden = !wanted.case || i >= 0;
    if (wanted.case && i < 0) byId("trouble").replaceChildren("This report has no case ", make("bdi", { class: "mono" }, visible(wanted.case)), ".");
    this.opened = i;
    if (i >= 0) this.detail.show(i, this.rows).catch(failed); else this.detail.close();
    this.remember();
  }

  /** Put the conditions into the form. */
  fill() {
    for (const element of this.form.elements) {
      if (!element.name) continue;
      const value = element.name === "sort" ? [this.wanted.sort || (this.wanted.dir ? "id" : ""), this.wanted.dir].filter(Boolean).join(" ") : this.wanted[element.name] || "";
      if (element.value !== value) element.value = value;
      // A condition that the list does not offer still holds, and has to be seen.
      if (element.tagName === "SELECT" && element.value !== value) { element.append(make("option", { value }, visible(value, false))); element.value = value; element.parentElement.hidden = false; }
      element.classList.toggle("on", Boolean(value) && element.name !== "sort");
    }
  }

  open(i) {
    if (i === this.opened) return;
    const left = this.opened;
    this.apply({ ...this.wanted, case: i >= 0 ? this.cases.id[i] : "" });
    if (i < 0 && left >= 0 && this.table.placeOf(left) >= 0) this.table.focus(this.table.placeOf(left));
  }

  remember() {
    const fragment = writeFragment(this.wanted);
    if (fragment !== location.hash && !(fragment === "#" && !location.hash.includes("="))) history.replaceState(null, "", fragment === "#" ? location.pathname + location.search : fragment);
  }
}

function failed(error) {
  byId("loading").hidden = true;
  const box = byId("trouble");
  box.hidden = false;
  box.textContent = error instanceof Unreadable ? error.message : `The cases cannot be shown: ${error.message}. They stand in cases.jsonl beside this page.`;
}

async function start() {
  byId("loading").hidden = false;
  const cases = await Cases.load();
  new Browser(cases);
  document.documentElement.dataset.ready = Math.round(performance.now());
}

themeButton();
if (byId("browser")) start().catch(failed);
