"use strict";
/* Small helpers. Text from the data only ever becomes text nodes; no string is parsed as markup anywhere. */

const byId = (id) => document.getElementById(id);

/** Make an element. `attributes` come from this program, `children` are nodes or text. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const count = (number) => number.toLocaleString("en-US");

/** A number with a real minus sign and, if wanted, a plus sign; what rounds to zero has none. */
function signed(value, digits, plus = true) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return (value < 0 ? "−" : plus ? "+" : "") + text;
}

/** A language tag that is safe to put on an element, or null. */
const languageTag = (text) => (/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(text || "") ? text : null);

const SYMBOLS = { passed: "✓", failed: "✕", unscored: "?" };

const outcomeTag = (outcome) => make("span", { class: `tag ${outcome in SYMBOLS ? outcome : ""}` }, `${SYMBOLS[outcome] || "–"} ${outcome || "not run"}`);

const WORSE = ["regressed", "lost"], BETTER = ["fixed", "recovered"];

const changeTag = (change) =>
  make("span", { class: `tag ${WORSE.includes(change) ? "worse" : BETTER.includes(change) ? "better" : ""}` }, change);

const spoken = (test) => test.replace(/^test_/, "").replaceAll("_", " ");
