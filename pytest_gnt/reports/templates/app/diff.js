/* Word differences of two texts. */

const MOST_CELLS = 4e6;

function tokens(text, lang) {
  if (typeof Intl.Segmenter === "function") {
    return Array.from(new Intl.Segmenter(languageTag(lang) || "en", { granularity: "word" }).segment(text), (part) => part.segment);
  }
  return text.match(/[\p{L}\p{M}\p{N}]+|\s+|[^]/gu) || [];
}

/** Pieces [kind, text] that turn `before` into `after`; kind is "same", "gone" or "come". */
function difference(before, after, lang) {
  let a = tokens(before, lang), b = tokens(after, lang);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const head = a.slice(0, start), tail = end ? a.slice(a.length - end) : [];
  a = a.slice(start, a.length - end);
  b = b.slice(start, b.length - end);
  const middle = a.length * b.length > MOST_CELLS ? [["gone", a.join("")], ["come", b.join("")]] : common(a, b);
  return joined([["same", head.join("")], ...middle, ["same", tail.join("")]]);
}

/** The longest common subsequence of two lists, as pieces. */
function common(a, b) {
  const width = b.length + 1, best = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      best[i * width + j] = a[i] === b[j] ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  const pieces = [];
  let i = 0, j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) { pieces.push(["same", a[i]]); i++; j++; }
    else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) pieces.push(["gone", a[i++]]);
    else pieces.push(["come", b[j++]]);
  }
  while (i < a.length) pieces.push(["gone", a[i++]]);
  while (j < b.length) pieces.push(["come", b[j++]]);
  return pieces;
}

/** Neighbours of one kind as one piece; a blank between two changes belongs to both sides of them. */
function joined(pieces) {
  const out = [];
  let gone = "", come = "", blank = "";
  const flush = () => {
    if (gone) out.push(["gone", gone]);
    if (come) out.push(["come", come]);
    if (blank) out.push(["same", blank]);
    gone = come = blank = "";
  };
  for (const [kind, text] of pieces) {
    if (!text) continue;
    if (kind === "same" && (gone || come) && !blank && /^\s+$/.test(text)) { blank = text; continue; }
    if (kind === "same") { flush(); const last = out.at(-1); if (last && last[0] === "same") last[1] += text; else out.push(["same", text]); continue; }
    if (blank) { gone += blank; come += blank; blank = ""; }
    if (kind === "gone") gone += text; else come += text;
  }
  flush();
  return out;
}
