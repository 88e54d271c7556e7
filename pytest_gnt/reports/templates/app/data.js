/* The cases: index blocks are decoded when the page opens, detail blocks when a case is looked at. */

class Unreadable extends Error {}

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function readBlock(name) {
  const element = byId(`gnt-${name}`);
  if (!element) throw new Unreadable(`The block ${name} is missing: the file was cut off. Write the report again.`);
  if (typeof DecompressionStream === "undefined") {
    throw new Unreadable(
      "This browser cannot unpack the cases (it has no DecompressionStream). Chrome or Edge 80, Firefox 113 and Safari 16.4 and newer can. " +
      "Everything above is complete; the cases stand in cases.jsonl beside this page.");
  }
  const stream = new Blob([bytesOf(element.textContent)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

/** All cases, column by column. */
class Cases {
  static async load() {
    const meta = await readBlock("meta");
    const cases = new Cases(meta);
    const blocks = [];
    for (let number = 0; number < meta.blocks.index; number++) blocks.push(readBlock(`index-${number}`));
    for (let number = 0; number < blocks.length; number++) cases.take(await blocks[number], number * meta.rows.index);
    cases.order = Uint32Array.from({ length: cases.n }, (_, i) => i);
    return cases;
  }

  constructor(meta) {
    this.meta = meta;
    this.n = meta.cases;
    this.id = []; this.group = []; this.source = []; this.text = [];
    this.one = Object.fromEntries(meta.one.map((name) => [name, new Uint16Array(this.n)]));
    this.many = Object.fromEntries(meta.many.map((name) => [name, []]));
    const perCode = (values, Type, fill) => values.map((_, code) => (code ? new Type(this.n).fill(fill) : null));
    this.tests = perCode(meta.values.test, Uint8Array, 0);
    this.changes = perCode(meta.values.test, Uint8Array, 0);
    this.scores = perCode(meta.values.metric, Float64Array, NaN);
    this.details = new Map();
  }

  take(block, start) {
    for (const name of ["id", "group", "source", "text"]) for (const value of block[name]) this[name].push(value);
    for (const name of this.meta.one) this.one[name].set(block.one[name], start);
    for (const name of this.meta.many) for (const codes of block.many[name]) this.many[name].push(codes);
    for (const code in block.tests) this.tests[code].set(block.tests[code], start);
    for (const code in block.changes) this.changes[code].set(block.changes[code], start);
    for (const code in block.scores) block.scores[code].forEach((value, i) => { if (value !== null) this.scores[code][start + i] = value; });
  }

  /** The value of a filter of a case, "" where it has none. */
  value(name, i) { return this.meta.values[name][this.one[name][i]]; }

  /** The names of the tests that a case has. */
  testsOf(i) { return this.meta.values.test.filter((_, code) => code && this.tests[code][i]); }

  outcome(test, i) { return this.meta.outcomes[this.tests[this.meta.values.test.indexOf(test)][i]]; }

  change(test, i) { return this.meta.values.change[this.changes[this.meta.values.test.indexOf(test)][i]]; }

  /** The outcome that matters most among a case's tests (or of the one test named). */
  worst(i, test = "") {
    let worst = "";
    for (let code = 1; code < this.tests.length; code++) {
      if (test && this.meta.values.test[code] !== test) continue;
      const outcome = this.meta.outcomes[this.tests[code][i]];
      if (Cases.RANK.indexOf(outcome) > Cases.RANK.indexOf(worst)) worst = outcome;
    }
    return worst;
  }

  /** The change that matters most, in the order of the page's list of changes. */
  worstChange(i, test = "") {
    let best = Infinity;
    for (let code = 1; code < this.changes.length; code++) {
      if (test && this.meta.values.test[code] !== test) continue;
      const change = this.meta.values.change[this.changes[code][i]];
      if (change) best = Math.min(best, this.meta.changes.indexOf(change));
    }
    return best === Infinity ? "" : this.meta.changes[best];
  }

  find(id) {
    this.places ??= new Map(this.id.map((name, i) => [name, i]));
    return this.places.get(id) ?? -1;
  }

  /** The place of an identity in the corpus' own order; others come after, in the order of their appearance. */
  identityRank(identity) {
    const place = this.meta.identities.indexOf(identity);
    return place >= 0 ? place : this.meta.identities.length + this.meta.values.identity.indexOf(identity);
  }

  /** Cases of the same sentence: its identity variants in their order, or its other languages. */
  siblings(i) {
    this.groups ??= this.id.reduce((map, _, j) => {
      const key = `${this.one.corpus[j]} ${this.group[j]}`;
      if (map.has(key)) map.get(key).push(j); else map.set(key, [j]);
      return map;
    }, new Map());
    const all = this.groups.get(`${this.one.corpus[i]} ${this.group[i]}`);
    if (!this.one.identity[i]) return all;
    const same = all.filter((j) => this.one.identity[j] && this.one.lang[j] === this.one.lang[i]);
    // A sentence that occurs twice in a corpus has two sets of variants.
    const stem = (j) => this.id[j].slice(0, this.id[j].lastIndexOf("/"));
    const near = same.filter((j) => stem(j) === stem(i));
    const rank = (j) => this.identityRank(this.value("identity", j));
    return (near.length > 1 ? near : same).sort((j, k) => rank(j) - rank(k) || j - k);
  }

  /** The text of a case in which the search looks. */
  haystack(i) {
    this.lower ??= new Array(this.n);
    return (this.lower[i] ??= `${this.id[i]}\n${this.source[i]}\n${this.text[i] ?? ""}`.normalize("NFC").toLowerCase());
  }

  async detail(i) {
    const block = Math.floor(i / this.meta.rows.detail);
    if (!this.details.has(block)) this.details.set(block, readBlock(`detail-${block}`));
    return (await this.details.get(block))[i % this.meta.rows.detail];
  }
}
Cases.RANK = ["", "passed", "unscored", "failed"];
