"""`gnt align-eval`: what is withheld from the lexicon, and the figures."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_gnt.case import Case, Subset
from pytest_gnt.commands.align_eval import Gold, _blind
from pytest_gnt.evidence import Reason, Translation
from pytest_gnt.pipeline.aligning import ByLexicon
from pytest_gnt.pipeline.executor import Executor
from pytest_gnt.pipeline.store import Store

Gnt = Callable[..., int]


def gold(number: int, word: str, zh_word: str, subset: Subset = Subset.AUTHENTIC) -> Gold:
    case = Case(
        id=f"ambgimt/en-zh/{subset}/{number}/person",
        corpus="ambgimt",
        subset=subset,
        target_lang="zh",
        source=f"The {word} person.",
        references=(f"{zh_word}的人。",),
        group=str(number),
        attitude_word=word,
        attitude_renderings=(zh_word,),
    )
    return Gold(case, zh_word)


@pytest.mark.parametrize(
    ("hold_out", "expected"),
    [("sentence", [("固执",), ("固执",), Reason.UNALIGNED]), ("subset", [("固执",), ("固执",), Reason.UNALIGNED])],
)
def test_a_sentence_s_own_word_is_withheld(tmp_path: Path, hold_out: str, expected: list[object]) -> None:
    rows = [
        gold(1, "stubborn", "固执"),
        gold(2, "Stubborn", "固执", Subset.SYNTHESIZED),
        gold(3, "stubborn", "执拗"),
    ]
    finder = _blind(ByLexicon(), rows, hold_out)
    translations = [Translation(case=row.case, text=row.case.references[0]) for row in rows]
    found = finder.find(translations, Executor(Store(tmp_path / "store", run="1")))
    assert [one.words for one in found] == expected


def test_renderings_of_the_same_subset_can_be_withheld_too(tmp_path: Path) -> None:
    rows = [gold(1, "stubborn", "固执"), gold(2, "stubborn", "固执")]
    translations = [Translation(case=row.case, text=row.case.references[0]) for row in rows]
    executor = Executor(Store(tmp_path / "store", run="1"))
    by_sentence = _blind(ByLexicon(), rows, "sentence").find(translations, executor)
    by_subset = _blind(ByLexicon(), rows, "subset").find(translations, executor)
    assert [one.words for one in by_sentence] == [("固执",)] * 2
    assert [one.words for one in by_subset] == [Reason.UNALIGNED] * 2


def test_the_lexicon_on_the_public_pairs(
    project: Path, gnt: Gnt, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnt("align-eval", "--data", shared_data) == 0
    out = capsys.readouterr().out
    assert re.search(r"aligner lexicon@\w{8}, 2617 pairs of sentences", out)
    whole = out.partition("  all: ")[2]
    precision, recall = (
        float(found) for found in re.findall(r"exact +precision ([\d.]+)%.*recall ([\d.]+)%", whole)[0]
    )
    assert 92 < precision < 96
    assert 84 < recall < 90


def test_data_are_asked_for(project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]) -> None:
    assert gnt("align-eval") == 2
    assert "--data=DIR" in capsys.readouterr().err
