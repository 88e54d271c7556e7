/* One case, with everything that is known of it. */

class Detail {
  constructor(cases, go) {
    this.cases = cases;
    this.go = go;
    this.dialog = byId("case");
    this.dialog.addEventListener("close", () => go(-1));
    byId("close").addEventListener("click", () => this.dialog.close());
    byId("previous").addEventListener("click", () => this.step(-1));
    byId("next").addEventListener("click", () => this.step(1));
    this.dialog.addEventListener("click", (event) => { if (event.target === this.dialog) this.dialog.close(); });
  }

  step(by) {
    const place = this.rows.indexOf(this.i) + by;
    if (place >= 0 && place < this.rows.length) this.go(this.rows[place]);
  }

  async show(i, rows) {
    this.i = i;
    this.rows = rows.indexOf(i) < 0 ? this.cases.order : rows;
    const place = this.rows.indexOf(i);
    byId("case-title").replaceChildren(visible(this.cases.id[i]));
    byId("case-place").textContent = `${count(place + 1)} of ${count(this.rows.length)}`;
    byId("previous").disabled = place === 0;
    byId("next").disabled = place === this.rows.length - 1;
    if (!this.dialog.open) this.dialog.showModal();
    const detail = await this.cases.detail(i);
    const siblings = this.cases.siblings(i).filter((j) => this.cases.one.identity[i] || j !== i);
    const others = siblings.length > (this.cases.one.identity[i] ? 1 : 0) ? await Promise.all(siblings.map((j) => this.cases.detail(j))) : [];
    if (this.i !== i) return; // the reader has gone on meanwhile
    byId("case-body").replaceChildren(...this.parts(i, detail).filter(Boolean), ...(others.length ? [this.siblings(i, siblings, others)] : []));
    this.dialog.scrollTop = 0;
    byId("case-title").focus();
  }

  close() { this.i = -1; if (this.dialog.open) this.dialog.close(); }

  parts(i, detail) {
    const lang = this.cases.value("lang", i), text = this.cases.text[i];
    const section = (title, ...content) => make("section", {}, make("h3", {}, title), ...content);
    const said = (language, nodes) => make("p", { class: "said", dir: "auto", lang: languageTag(language) }, nodes);
    const list = (title, language, texts) => texts?.length && section(title, ...texts.map((each) => said(language, visible(each))));
    return [
      this.facts(i, detail),
      this.tests(i, detail),
      section("Source", said("en", this.source(i, detail))),
      section("Translation", text === null ? this.missing(detail.translation) : said(lang, this.translation(text, detail)), this.about(i, detail)),
      detail.before && this.before(i, detail, lang, section, said),
      list(detail.expected ? `Reference, ${detail.expected.toLowerCase()}` : "Reference", lang, detail.references),
      list("Reference in the other form", lang, detail.contrast_references),
      detail.judgement && section("Judgement", this.judgement(text, detail.judgement)),
      detail.attitude && section("Attitude", this.attitude(detail.attitude)),
      this.scores(i, detail),
      this.raw("Raw reply of the system", this.reply(detail.translation, text)),
      this.raw("Raw reply of the judge", detail.judgement?.raw),
    ];
  }

  pairs(entries) {
    const shown = entries.filter(([, value]) => value !== null && value !== undefined && value !== "");
    return make("dl", { class: "pairs" }, shown.map(([name, value]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, value instanceof Node ? value : make("bdi", {}, visible(String(value)))))));
  }

  facts(i, detail) {
    const { cases } = this;
    return this.pairs([["corpus", cases.value("corpus", i)], ["language", cases.value("lang", i)], ["set", cases.value("subset", i)],
      ["expected", detail.expected], ["stated gender", cases.value("gender", i)], ["identity", cases.value("identity", i)], ["from", detail.origin]]);
  }

  tests(i, detail) {
    const { cases } = this;
    return make("div", { class: "tests" }, cases.testsOf(i).map((test) => {
      const [reason, message] = detail.tests?.[test] || ["", ""], change = cases.change(test, i);
      return make("div", {}, make("p", {}, outcomeTag(cases.outcome(test, i)), " ", make("bdi", {}, visible(spoken(test))), " ", change ? changeTag(change) : "",
        reason ? make("span", { class: "muted" }, " ", visible(reason)) : ""), message ? make("p", { class: "message muted small", dir: "auto" }, message.split("\n").flatMap((line) => [visible(line), "\n"])) : "");
    }));
  }

  missing(translation) {
    return make("p", {}, "There is none: ", make("strong", {}, visible(translation?.reason || "not run")), ". ", make("bdi", { class: "muted" }, visible(translation?.detail || "")));
  }

  about(i, { translation = {} }) {
    return this.pairs([["says itself", this.cases.value("said", i)], ["finished by", translation.finish_reason], ["flags", translation.flags?.join(", ")]]);
  }

  source(i, detail) {
    const text = this.cases.source[i], word = detail.attitude?.source_word || detail.attitude_word;
    const found = word ? placed(text, [{ text: word }]) : new Map();
    return wrapped(text, [...found.values()].map(([from, to]) => ({ from, to, make: (inner) => make("mark", { class: "att", title: "attitude word" }, inner) })));
  }

  /** The translation with the judge's phrases, by gender, and the words that the attitude word was aligned to. */
  translation(text, detail) {
    const phrases = detail.judgement?.phrases || [], words = (detail.attitude?.target_words || []).map((word) => ({ text: word }));
    const ranges = [...placed(text, phrases)].map(([phrase, [from, to]]) => ({ from, to, make: (inner) => this.phrase(phrase, inner) }));
    for (const [, [from, to]] of placed(text, words)) ranges.push({ from, to, make: (inner) => make("mark", { class: "att", title: "aligned to the attitude word" }, inner) });
    return wrapped(text, ranges);
  }

  phrase(phrase, inner) {
    const known = ["M", "F", "N"].includes(phrase.gender);
    return make("mark", { class: `${known ? phrase.gender : ""} ${phrase.correct === false ? "wrong" : ""}`, title: phrase.correct === false ? "against the source" : null },
      inner, make("sup", {}, visible(String(phrase.gender)), phrase.correct === false ? "✕" : ""));
  }

  before(i, detail, lang, section, said) {
    const { before } = detail, text = this.cases.text[i];
    const tests = Object.entries(before.tests || {}).map(([test, [outcome, reason]]) => make("p", {}, outcomeTag(outcome), " ", make("bdi", {}, visible(spoken(test))), reason ? make("span", { class: "muted" }, " ", visible(reason)) : ""));
    const about = this.pairs([["judged", before.judged], ["said itself", before.label], ["attitude", before.attitude && `${signed(before.attitude[0], 2)} → ${signed(before.attitude[1], 2)}`]]);
    let words;
    if (before.same) words = make("p", { class: "muted" }, text === null ? "It had no translation either." : "The same translation.");
    else if (before.text === null || before.text === undefined) words = make("p", { class: "muted" }, "It had no translation.");
    else if (text === null) words = said(lang, visible(before.text));
    else {
      words = said(lang, difference(before.text, text, lang).map(([kind, part]) =>
        kind === "same" ? visible(part) : make(kind === "gone" ? "del" : "ins", {}, visible(part))));
    }
    return section(before.same ? "Baseline" : "Baseline, and what became of it", words, ...tests, about);
  }

  judgement(text, judgement) {
    const phrases = judgement.phrases || [], found = placed(text || "", phrases);
    return make("div", { class: "panel scroll", tabindex: "0", role: "group", "aria-label": "Judgement" },
      make("p", {}, judgement.label ? make("strong", {}, visible(judgement.label)) : make("span", {}, "none: ", make("strong", {}, visible(judgement.reason || "no label"))), " ", make("bdi", { class: "muted" }, visible(judgement.detail || ""))),
      this.pairs([["votes", (judgement.votes || []).length > 1 ? judgement.votes.join(", ") : ""], ["flags", (judgement.flags || []).join(", ")]]),
      phrases.length ? make("table", { class: "small" },
        make("thead", {}, make("tr", {}, ["Phrase", "Gender", "Agrees with the source", "Rests on"].map((name) => make("th", { scope: "col" }, name)))),
        make("tbody", {}, phrases.map((phrase) => make("tr", {}, make("td", {}, make("bdi", {}, visible(phrase.text)), found.has(phrase) ? "" : make("span", { class: "muted" }, " (not in the translation)")),
          make("td", {}, visible(String(phrase.gender))), make("td", {}, { true: "yes", false: "no" }[phrase.correct] || "–"), make("td", { class: "muted" }, make("bdi", {}, visible(phrase.note || "–"))))))) : "");
  }

  attitude(attitude) {
    const score = (value) => (typeof value === "number" ? signed(value, 2) : "–");
    return this.pairs([["word", attitude.source_word], ["score", score(attitude.source_score)], ["aligned to", (attitude.target_words || []).join(" ") || "–"],
      ["score", score(attitude.target_score)], ["shift", score(attitude.shift)], ["unscored", attitude.reason], ["", attitude.detail]]);
  }

  scores(i, detail) {
    const scores = Object.entries(detail.quality?.scores || {});
    if (!detail.quality) return null;
    const body = scores.map(([metric, value]) => {
      const was = detail.before?.scores?.[metric];
      return make("tr", {}, make("th", { scope: "row" }, visible(metric)), make("td", { class: "num" }, typeof value === "number" ? value.toFixed(2) : String(value)),
        ...(detail.before ? [make("td", { class: "num" }, typeof was === "number" ? was.toFixed(2) : "–"), make("td", { class: "num" }, typeof was === "number" && typeof value === "number" ? signed(value - was, 2) : "–")] : []));
    });
    const names = detail.before ? ["Score", "now", "before", "change"] : ["Score", "now"];
    return make("section", {}, make("h3", {}, "Quality"), scores.length
      ? make("table", { class: "small fit" }, make("thead", {}, make("tr", {}, names.map((name, place) => make("th", { scope: "col", class: place ? "num" : null }, name)))), make("tbody", {}, body))
      : make("p", {}, "unscored: ", visible(detail.quality.reason || "no scores"), " ", make("bdi", { class: "muted" }, visible(detail.quality.detail || ""))));
  }

  reply(translation, text) {
    if (!translation) return null;
    return translation.around ? translation.around[0] + text + translation.around[1] : translation.raw;
  }

  raw(title, text) {
    return text ? make("details", {}, make("summary", {}, title), make("pre", { class: "raw", dir: "auto" }, visible(text))) : null;
  }

  /** The variants of a sentence side by side; words that differ from the opened case's translation are underlined. */
  siblings(i, rows, details) {
    const { cases } = this, byIdentity = Boolean(cases.one.identity[i]), metrics = cases.meta.values.metric.slice(1).filter((_, code) => rows.some((j) => !Number.isNaN(cases.scores[code + 1][j])));
    const chosen = [metrics.find((name) => /comet/.test(name)) || metrics.find((name) => !/^eas/.test(name)), metrics.includes("eas shift") ? "eas shift" : null].filter(Boolean);
    const score = (metric, j) => { const value = cases.scores[cases.meta.values.metric.indexOf(metric)][j]; return Number.isNaN(value) ? "–" : signed(value, 2, /^eas/.test(metric)); };
    const translation = (j, detail) => {
      const text = cases.text[j], lang = cases.value("lang", j);
      if (text === null) return make("span", { class: "muted" }, "no translation: ", visible(detail.translation?.reason || "not run"));
      if (j === i || !byIdentity || cases.text[i] === null) return spokenText(lang, visible(text));
      return spokenText(lang, difference(cases.text[i], text, lang).map(([kind, part]) => (kind === "gone" ? "" : kind === "same" ? visible(part) : make("span", { class: "differs" }, visible(part)))));
    };
    const tests = [...new Set(rows.flatMap((j) => cases.testsOf(j)))];
    const body = rows.map((j, place) => make("tr", { class: j === i ? "here" : null },
      make("th", { scope: "row" }, make("a", { href: writeFragment({ ...readFragment(location.hash), case: cases.id[j] }), "aria-current": j === i ? "true" : null }, visible(cases.value(byIdentity ? "identity" : "lang", j)))),
      tests.map((test) => make("td", {}, cases.outcome(test, j) ? outcomeTag(cases.outcome(test, j)) : "")),
      make("td", { class: "text" }, translation(j, details[place])), chosen.map((metric) => make("td", { class: "num" }, score(metric, j)))));
    return make("section", {}, make("h3", {}, byIdentity ? `The sentence with its ${rows.length} identities` : "The same sentence in other languages"),
      make("div", { class: "scroll panel", tabindex: "0", role: "group", "aria-label": "Variants of the sentence" }, make("table", { class: "siblings small" },
        make("thead", {}, make("tr", {}, [byIdentity ? "Identity" : "Language", ...tests.map(spoken), "Translation", ...chosen].map((name, place) => make("th", { scope: "col", class: place > tests.length + 1 ? "num" : null }, visible(name))))), make("tbody", {}, body))),
      byIdentity ? make("p", { class: "muted small" }, "Underlined words differ from the case opened here.") : "");
  }
}
