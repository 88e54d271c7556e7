"""Converted sentences beside published ones: how many are equal, and why the others are not.

Each difference has a cause: a flaw of the published file (that the conversion does not imitate), a judgement call, or
the conversion's own. What no rule recognises counts as the conversion's own.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_gnt.case import Identity
from pytest_gnt.corpora.blocks import IDENTITIES, Block
from pytest_gnt.corpora.conversion_forms import forms_of, third_person
from pytest_gnt.corpora.conversion_plan import PRONOUN_KINDS, Kind, Plan
from pytest_gnt.corpora.textfile import TextFile


class Side(StrEnum):
    """Whose a difference is."""

    PUBLISHED = "flaw of the published file"
    JUDGEMENT = "judgement call"
    OURS = "the conversion's own"


@dataclass(frozen=True, slots=True)
class Difference:
    """A stretch in which a converted sentence and the published one differ.

    Attributes:
        line: line of the published file.
        identity: whose sentence it is.
        ours: the stretch in the converted sentence.
        published: the stretch in the published one.
        side: whose the difference is.
        cause: why, in a few words.
    """

    line: int
    identity: Identity
    ours: str
    published: str
    side: Side
    cause: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A file of converted sentences beside the published one.

    Attributes:
        lines: how many were compared.
        equal: how many are equal to the published line.
        differences: of the others, in file order.
        skipped: published lines whose block has no neutral sentence, or whose sentence cannot be converted.
    """

    lines: int
    equal: int
    differences: tuple[Difference, ...]
    skipped: int

    def lines_by_side(self) -> Counter[Side]:
        """Differing lines by the gravest side of their differences: ours before judgement before published."""
        gravest: dict[int, Side] = {}
        order = [Side.PUBLISHED, Side.JUDGEMENT, Side.OURS]
        for found in self.differences:
            known = gravest.get(found.line, Side.PUBLISHED)
            gravest[found.line] = max(known, found.side, key=order.index)
        return Counter(gravest.values())

    def causes(self) -> list[tuple[Side, str, int, Difference]]:
        """Side, cause, number of lines and the first example of each cause, the most frequent first in each side."""
        lines: dict[tuple[Side, str], dict[int, Difference]] = {}
        for found in self.differences:
            lines.setdefault((found.side, found.cause), {}).setdefault(found.line, found)
        counted = [(side, cause, len(found), next(iter(found.values()))) for (side, cause), found in lines.items()]
        return sorted(counted, key=lambda row: (list(Side).index(row[0]), -row[2], row[1]))


def compare_english(plans: Sequence[Plan | None], blocks: Sequence[Block], published: TextFile) -> Comparison:
    """Compare the sentences of each block's plan with its published lines.

    Args:
        plans: the plan of each neutral line, None for one that cannot be converted.
        blocks: the blocks of the published file, see `match_blocks`.
        published: the all-identity file.
    """
    rows = []
    for block in blocks:
        plan = plans[block.line - 1] if block.line else None
        sentences = [plan.sentence(identity) for identity in IDENTITIES] if plan else None
        rows.append((block, sentences, plan))
    return _compare(rows, published, _english_cause)


def compare_chinese(
    sentences: Sequence[Sequence[str] | None], blocks: Sequence[Block], published: TextFile
) -> Comparison:
    """Compare Chinese sentences, 14 for each neutral line, with the published lines; see `compare_english`."""
    rows = [(block, sentences[block.line - 1] if block.line else None, None) for block in blocks]
    return _compare(rows, published, _chinese_cause)


_Rows = Sequence[tuple[Block, Sequence[str] | None, Plan | None]]
_CauseOf = Callable[[str, str, str, str, Identity, Plan | None], tuple[Side, str]]


def _compare(rows: _Rows, published: TextFile, cause_of: _CauseOf) -> Comparison:
    equal = skipped = 0
    differences: list[Difference] = []
    for block, sentences, plan in rows:
        lines = published.lines[block.first_line - 1 : block.first_line - 1 + len(IDENTITIES)]
        if sentences is None:
            skipped += len(lines)
            continue
        for place, (identity, ours, theirs) in enumerate(zip(IDENTITIES, sentences, lines, strict=True)):
            if ours == theirs:
                equal += 1
                continue
            for left, old, new, right in _stretches(ours, theirs):
                side, cause = cause_of(old, new, left, right, identity, plan)
                differences.append(Difference(block.first_line + place, identity, old, new, side, cause))
    compared = len(rows) * len(IDENTITIES) - skipped
    return Comparison(compared, equal, tuple(differences), skipped)


_TOKEN = re.compile(r"[^\W\d_]+|['’]\w+|\s+|.", re.DOTALL)
_CHINESE = re.compile("[\u4e00-\u9fff]")


def _stretches(ours: str, theirs: str) -> Iterator[tuple[str, str, str, str]]:
    """Differing stretches of two sentences: what stands left of it in ours, ours, theirs, what stands right in ours."""
    first, second = ([*text] if _CHINESE.search(text) else _TOKEN.findall(text) for text in (ours, theirs))
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    for kind, start, end, start_2, end_2 in matcher.get_opcodes():
        if kind == "equal":
            continue
        # Words one by one, so that each has its own cause.
        old, new = first[start:end], second[start_2:end_2]
        if len(old) == len(new):
            for place, (one, other) in enumerate(zip(old, new, strict=True)):
                if one != other:
                    yield "".join(first[: start + place]), one, other, "".join(first[start + place + 1 :])
        else:
            yield "".join(first[:start]), "".join(old), "".join(new), "".join(first[end:])


_AFTER_AUXILIARY = re.compile(
    r"\b(?:does|did|do|can|could|will|would|may|might|must|shall|should)(?:n['’]t)?\b[^.;:!?]{0,30}$", re.IGNORECASE
)
_NEAR_THEY = re.compile(r"\bthey\b(?:\W+\w+){0,2}\W*$", re.IGNORECASE)


def _english_cause(
    old: str, new: str, left: str, right: str, identity: Identity, plan: Plan | None
) -> tuple[Side, str]:
    lower, published = old.lower(), new.lower()
    pronouns = forms_of(identity).pronouns
    if (lower, published) in (("woman", "women"), ("man", "men")):
        return Side.PUBLISHED, "plural noun for one person"
    if published in ("themself", "themselves") and lower == pronouns.reflexive:
        return Side.PUBLISHED, "reflexive not converted"
    kept = {slot.kind: why for slot, why in plan.kept} if plan else {}
    if plan and lower in PRONOUN_KINDS and PRONOUN_KINDS[lower] in kept:
        return Side.JUDGEMENT, f"they of others, left alone: {_reason(plan, left, lower)}"
    if new.strip() and lower == _singular(published):
        return Side.PUBLISHED, "verb left in the plural"
    if old.strip() and published == _singular(lower):
        if Kind.SUBJECT in kept and (_NEAR_THEY.search(left) or re.match(r"\W*they\b", right, re.IGNORECASE)):
            return Side.JUDGEMENT, f"they of others, left alone: {_reason(plan, left, 'they')}"
        if _AFTER_AUXILIARY.search(left):
            return Side.PUBLISHED, "verb inflected after an auxiliary"
    if plan and old.strip() and _untouched(plan, identity, left, old):
        return Side.PUBLISHED, "a word changed that has nothing to do with the identity"
    return Side.OURS, "not explained"


def _singular(verb: str) -> str:
    """The third person singular, also of what stands before "'t": don, haven."""
    return third_person(verb[:-1]) + "n" if verb in ("don", "haven", "aren", "weren") else third_person(verb)


def _reason(plan: Plan | None, left: str, pronoun: str) -> str:
    """Why the pronoun nearest behind a stretch of the converted sentence was kept."""
    place = len(re.findall(rf"\b{pronoun}\b", left, re.IGNORECASE))
    reasons = [
        why for slot, why in (plan.kept if plan else ()) if plan and plan.text[slot.start : slot.end].lower() == pronoun
    ]
    return reasons[min(place, len(reasons) - 1)] if reasons else "kept"


def _untouched(plan: Plan, identity: Identity, left: str, old: str) -> bool:
    """Whether a stretch of the converted sentence lies outside all slots."""
    place = len(left)
    shift = 0
    for slot in plan.slots:
        converted = Plan(plan.text[: slot.end], tuple(s for s in plan.slots if s.end <= slot.end)).sentence(identity)
        start, end = slot.start + shift, len(converted)
        shift = len(converted) - slot.end
        if place < end and start < place + len(old):
            return False
    return True


def _chinese_cause(
    old: str,
    new: str,
    _left: str,
    _right: str,
    _identity: Identity,
    _plan: Plan | None,
) -> tuple[Side, str]:
    if new == "士" and not old:
        return Side.PUBLISHED, "士 of 人士 left behind the term"
    if old == "她" and new == "他":
        return Side.PUBLISHED, "he for a woman: a bare 他 not converted"
    return Side.OURS, "not explained"
