"""The form that a labelled reply has to have: ``<it> **NEUTRAL** [translation]`` (Savoldi et al. 2025, section 4).

Tolerated: any white space (also no-break and ideographic blanks, line ends) between the three parts; full-width signs;
a code fence, quotation marks or a remark around the whole; brackets and line ends inside the translation; a second
answer on a later line with the same label. Not tolerated: another label than exactly ``**NEUTRAL**`` or
``**GENDERED**`` (upper case, no blanks inside the stars), another language's tag, two answers whose labels differ, and
brackets that can be read in two ways.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_gnt.case import Form
from pytest_gnt.prompts.languages import base_code

_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUOTES = "\"'`“”„‟‘’‚«»‹›「」『』＂＇"
_INVISIBLE = "\u200b\u200e\u200f\u2060\ufeff"
_GAP = rf"[\s{_INVISIBLE}]{{0,20}}"
_LABELS = "|".join(Form)
_HEADER_PARTS = (
    rf"[ \t\u00a0\u3000>{_QUOTES}{_INVISIBLE}]{{0,20}}"
    rf"[<＜]\s?(?P<lang>[A-Za-z]{{2,3}}(?:[-_][A-Za-z]{{2,8}})?)\s?[>＞]{_GAP}"
    rf"[*＊]{{2}}(?P<label>{_LABELS})[*＊]{{2}}{_GAP}(?P<open>[\[［【])"
)
_HEADER = re.compile(rf"(?:\A|[{_BREAKS}]){_HEADER_PARTS}")
_HEADER_HERE = re.compile(_HEADER_PARTS)
_ANY_BREAK = re.compile(f"[{_BREAKS}]")
_NEAR_HEADER = re.compile(rf"[<＜]\s?[A-Za-z]{{2,3}}\s?[>＞]{_GAP}(?P<slot>[^\[［【<]{{0,40}})[\[［【]")
_CLOSERS = {"[": "]", "［": "］", "【": "】"}
_FENCES = ("```", "~~~")
_FENCE_START = re.compile(r"(?:`{3,20}|~{3,20})(?:[A-Za-z0-9+-]{0,20}(?=[\r\n]|\Z))?")


@dataclass(frozen=True, slots=True)
class FormReading:
    """What was found: a label and a text, or ``problem`` (one sentence) why the reply does not have the form."""

    text: str | None = None
    label: Form | None = None
    problem: str = ""
    flags: tuple[str, ...] = ()


def as_one_line(text: str) -> str:
    """The text as all later steps see it: one line, without blanks around it, encodable.

    Normalised are only these: line ends of every kind with the blanks beside them become one blank, blanks at both ends
    go, half surrogates become U+FFFD. Everything else stays byte for byte.
    """
    lines = (line.strip() for line in _ANY_BREAK.split(text))
    return _SURROGATE.sub("\ufffd", " ".join(line for line in lines if line))


def render_form(text: str, label: Form, lang: str) -> str:
    """A labelled reply; `read_form` of it gives back label and ``as_one_line(text)``.

    The exception are texts whose brackets close before they open (``a] b [c``): they are refused, never shortened.
    """
    return f"<{lang}> **{label}** [{text}]"


def unfenced(text: str) -> str:
    """The text without a code fence at its beginning or end, and without blanks around it."""
    text = text.strip()
    for fence in _FENCES:
        if text.startswith(fence):
            text = text[_FENCE_START.match(text).end() :]  # type: ignore[union-attr]
        if text.endswith(fence):
            text = text.rstrip(fence[0])
    return text.strip()


def is_inside_answer(text: str, position: int, since: int) -> bool:
    """Whether a place of a reply lies inside the brackets of an answer that begins its line, or begins at ``since``."""
    line_start = max(since, 1 + max(text.rfind(line_break, since, position) for line_break in _BREAKS))
    if _HEADER_HERE.match(text, line_start, position) is None:
        return False
    line_end = _ANY_BREAK.search(text, position)
    rest = text[position : line_end.start() if line_end else len(text)]
    return any(closer in rest for closer in _CLOSERS.values())


def read_form(text: str, lang: str) -> FormReading:
    """Find label and translation in a reply whose thinking has been taken out. Never raises."""
    headers = list(_HEADER.finditer(text))
    if not headers:
        return FormReading(problem=_near_miss(text, lang))
    first = headers[0]
    if base_code(first["lang"]) != base_code(lang):
        return FormReading(problem=f"the reply is tagged <{first['lang']}>, asked for was <{lang}>")
    if len({header["label"] for header in headers}) > 1:
        return FormReading(problem="the reply holds two answers whose labels differ")
    segment_end = headers[1].start() if len(headers) > 1 else len(text)
    segment = text[first.end() : segment_end]
    end, problem = _end_of_answer(segment, first["open"])
    if end is None:
        return FormReading(problem=problem)
    flags = _surroundings(text[: first.start()], segment[end + 1 :], len(headers))
    return FormReading(as_one_line(segment[:end]), Form(first["label"]), flags=flags)


def _end_of_answer(segment: str, opener: str) -> tuple[int | None, str]:
    """Where the bracket closes whose inside begins the segment."""
    closer = _CLOSERS[opener]
    if closer not in segment:
        # ``［text]``: opened full-width, closed half-width or the other way round
        closer = max(_CLOSERS.values(), key=segment.rfind)
    last = segment.rfind(closer)
    if last < 0:
        return None, "the bracket of the answer is never closed"
    partner = _partner(segment, opener, closer)
    if partner is None or partner == last or not _balanced(segment[partner + 1 :], opener, closer):
        return last, ""
    rest_of_line = _ANY_BREAK.split(segment[partner + 1 :], maxsplit=1)[0]
    if not rest_of_line.strip(f" \t{_QUOTES}"):
        return partner, ""
    return None, "text with brackets follows the answer on the same line: where the answer ends cannot be told"


def _partner(segment: str, opener: str, closer: str) -> int | None:
    depth = 1
    for match in re.finditer(f"[{re.escape(opener + closer)}]", segment):
        depth += 1 if match[0] == opener else -1
        if depth == 0:
            return match.start()
    return None


def _balanced(text: str, opener: str, closer: str) -> bool:
    depth = 0
    for match in re.finditer(f"[{re.escape(opener + closer)}]", text):
        depth += 1 if match[0] == opener else -1
        if depth < 0:
            return False
    return depth == 0


def _surroundings(before: str, after: str, answers: int) -> tuple[str, ...]:
    flags = []
    if unfenced(before).strip():
        flags.append("text-before-answer")
    if unfenced(after).strip(f" \t*_{_QUOTES}{_BREAKS}"):
        flags.append("text-after-answer")
    if answers > 1:
        flags.append("second-answer-ignored")
    return tuple(flags)


def _near_miss(text: str, lang: str) -> str:
    near = _NEAR_HEADER.search(text)
    if near is None:
        return f"the reply does not have the form <{lang}> **LABEL** [translation]"
    slot = as_one_line(near["slot"])
    return f"no readable label: {slot!r} is neither **NEUTRAL** nor **GENDERED**" if slot else "the label is missing"
