/* Text of models and files made visible: what a page would swallow, reorder or hide is shown as its code point. */

const HIDDEN = /[\p{Cc}\p{Cs}\p{Co}\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFDD0-\uFDEF\uFEFF\uFFF0-\uFFFB\uFFFE\uFFFF\u{E0000}-\u{E0FFF}]/gu;
const JOINED = /\p{Extended_Pictographic}|[\uFE0F\u{1F3FB}-\u{1F3FF}]/u;

const codePoint = (char) => "U+" + char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");

/** Whether a joiner does what it is for: between emoji, or between letters of scripts that need it. */
function joins(text, at) {
  const before = [...text.slice(Math.max(0, at - 2), at)].pop() || "", after = text.slice(at + 1, at + 3);
  if (text[at] === "\u200D" && JOINED.test(before) && JOINED.test(after)) return true;
  return /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Tamil}\p{Script=Kannada}\p{Script=Telugu}]/u.test(before);
}

/** The text as nodes, hidden characters as marked code points; line feeds break the line where `breaks` is set. */
function visible(text, breaks = true) {
  const out = document.createDocumentFragment();
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const char = match[0];
    if ((char === "\u200D" || char === "\u200C") && joins(text, match.index)) continue;
    out.append(text.slice(from, match.index));
    from = match.index + char.length;
    if (char === "\n" && breaks) out.append(make("span", { class: "ctl", title: "line feed" }, "↵"), "\n");
    else if (char === "\t" && breaks) out.append("\t");
    else out.append(make("span", { class: "ctl" }, char === "\n" ? "↵" : codePoint(char)));
  }
  out.append(text.slice(from));
  return out;
}

/** Text with ranges {from, to, make} wrapped; ranges that overlap an earlier one are left out. */
function wrapped(text, ranges, breaks = true) {
  const out = document.createDocumentFragment();
  let from = 0;
  for (const range of [...ranges].sort((a, b) => a.from - b.from || b.to - a.to)) {
    if (range.from < from || range.to <= range.from) continue;
    out.append(visible(text.slice(from, range.from), breaks), range.make(visible(text.slice(range.from, range.to), breaks)));
    from = range.to;
  }
  out.append(visible(text.slice(from), breaks));
  return out;
}

/** Where each piece stands in the text: the longest first, each at the first place not taken yet. */
function placed(text, pieces) {
  const taken = [], found = new Map();
  const free = (from, to) => taken.every((range) => to <= range[0] || from >= range[1]);
  for (const piece of [...pieces].sort((a, b) => b.text.length - a.text.length)) {
    if (!piece.text) continue;
    for (const [hay, needle] of [[text, piece.text], [text.toLowerCase(), piece.text.toLowerCase()]]) {
      if (hay.length !== text.length || found.has(piece)) continue;
      for (let at = hay.indexOf(needle); at >= 0; at = hay.indexOf(needle, at + 1)) {
        if (!free(at, at + needle.length)) continue;
        taken.push([at, at + needle.length]);
        found.set(piece, [at, at + needle.length]);
        break;
      }
    }
  }
  return found;
}

/** Ranges of every place where the words of a search stand. */
function searchRanges(text, words) {
  const ranges = [];
  for (const word of words) {
    const pattern = new RegExp(word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "giu");
    for (const match of text.matchAll(pattern)) {
      ranges.push({ from: match.index, to: match.index + match[0].length, make: (inner) => make("mark", {}, inner) });
    }
  }
  return ranges;
}

/** A text of a language, isolated so that its direction cannot touch its surroundings. */
const spokenText = (lang, inner) => make("bdi", { lang: languageTag(lang), dir: "auto" }, inner);
