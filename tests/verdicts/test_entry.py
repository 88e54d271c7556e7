"""One case on one line: stable bytes, any text, and what is refused."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import TEST, entry, outcome, result

from pytest_gnt.verdicts.entry import KEYS, Entry

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))


def test_a_line_reads_like_this():
    line = Entry.from_result(result(7)).to_line()
    assert line == (
        '{"id": "mgente/en-it/7", "lang": "it", "subset": "Set-N", "group": "mgente/en-it/7", "expected": "NEUTRAL", '
        '"source": "9780dab46fe878f2", "tests": {"test_neutral": "passed"}, "text": "Frase 7.", "label": "NEUTRAL", '
        '"judged": "NEUTRAL", "scores": {"chrf": 50.1235}}'
    )
    assert "Sentence" not in line, "source sentences may not be passed on"


def test_keys_stand_in_a_fixed_order():
    full = entry(
        1,
        "invalid-verdict",
        gender="F",
        identity="woman",
        label="NEUTRAL",
        judged="NEUTRAL",
        scores={"comet": 1.0, "bleu": 2.0},
        attitude=(0.5, -0.25),
        tests={"test_b": outcome("truncated"), "test_a": outcome("failed")},
    )
    row = json.loads(full.to_line())
    assert tuple(row) == KEYS
    assert list(row["tests"].items()) == [("test_a", "failed"), ("test_b", "unscored: truncated")]
    assert list(row["scores"]) == ["bleu", "comet"]


@given(ANY_TEXT, st.floats(-1e6, 1e6), st.text(), st.dictionaries(st.text(min_size=1), st.floats(-100, 100)))
def test_any_text_comes_back(text, number, name, scores):
    first = Entry.from_result(
        result(
            1,
            translation={"text": text, "reason": None},
            quality={"scores": scores, "reason": None},
            attitude={"source_score": number, "target_score": -number, "reason": None},
            tests={name or "t": outcome("passed")},
        )
    )
    line = first.to_line()
    line.encode("utf-8")
    assert line.splitlines() == [line]
    again = Entry.from_line(line)
    assert again.to_line() == line
    assert (again.text, again.scores, again.attitude, again.tests) == (
        first.text,
        first.scores,
        first.attitude,
        first.tests,
    )


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("日本 😀 é", "日本 😀 é"),
        ("a\u2028b\x85c\x0cd\re\nf", "a\\u2028b\\u0085c\\fd\\re\\nf"),
        ("ok \ud83d", "ok \\ud83d"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("nul \x00", "nul \\u0000"),
    ],
)
def test_only_unsafe_characters_are_escaped(text, stored):
    line = entry(1, text=text).to_line()
    assert f'"text": "{stored}"' in line
    assert Entry.from_line(line).text == text


def test_two_halves_of_a_pair_become_their_character():
    assert Entry.from_result(result(1, translation={"text": "\ud83d\ude00"})).text == "😀"


@pytest.mark.parametrize(("score", "stored"), [(-0.00001, "0.0"), (12.34565, "12.3456"), (3, "3.0"), (1e-9, "0.0")])
def test_numbers_have_four_decimals(score, stored):
    assert f'"chrf": {stored}' in Entry.from_result(result(1, quality={"scores": {"chrf": score}})).to_line()


def test_a_run_and_its_stored_line_are_equal_numbers():
    made = Entry.from_result(result(1, quality={"scores": {"chrf": 50.123456789}}))
    assert made.scores == Entry.from_line(made.to_line()).scores == {"chrf": 50.1235}


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, None, "12", True, 10**400])
def test_a_score_that_is_no_finite_number_is_missing_not_zero(score):
    made = Entry.from_result(result(1, quality={"scores": {"chrf": score, "bleu": 3.0}}))
    assert made.scores == {"bleu": 3.0}
    assert made.why == {"quality": "not-finite"}
    unaligned = Entry.from_result(result(1, attitude={"source_score": 1.0, "target_score": score}))
    assert unaligned.attitude is None
    assert unaligned.why["attitude"] == "not-finite"


def test_evidence_without_result_has_its_reason_and_what_was_not_asked_has_none():
    made = Entry.from_result(
        result(
            1,
            translation={"text": None, "reason": "truncated"},
            judgement={"label": None, "reason": "truncated"},
            quality=None,
            tests={TEST: outcome("truncated")},
        )
    )
    assert made.why == {"translation": "truncated", "judgement": "truncated"}
    assert made.asked("judgement")
    assert not made.asked("quality")
    assert Entry.from_line(made.to_line()).why == made.why


GOOD = json.loads(entry(1).to_line())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judgd": "NEUTRAL"}, "unknown key 'judgd'"),
        ({"tests": None}, "'tests' is not an object"),
        ({"tests": {"t": "pass"}}, "'pass' is not passed, failed or unscored"),
        ({"tests": {"t": 1}}, "'t' is not a text"),
        ({"id": ""}, "'id' is empty"),
        ({"id": 7}, "'id' is not a text"),
        ({"text": ["a"]}, "'text' is not a text"),
        ({"scores": {"chrf": "12"}}, "'chrf' is not a finite number"),
        ({"scores": {"chrf": True}}, "'chrf' is not a finite number"),
        ({"attitude": [1.0]}, "'attitude' is not the two scores"),
        ({"why": []}, "'why' is not an object"),
    ],
)
def test_a_line_with_a_wrong_value_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Entry.from_line(json.dumps({**GOOD, **change}))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "Expecting"),
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ('{"id": "mgente/1", "id": "mgente/2"}', "key 'id' occurs twice"),
        ('{"scores": {"chrf": NaN}}', "NaN is not a number"),
        ('{"scores": {"chrf": -Infinity}}', "-Infinity is not a number"),
        ('{"id": "mgente/1"}', "key 'lang' is missing"),
        ("<<<<<<< HEAD", "Expecting"),
    ],
)
def test_a_broken_line_is_refused(line, message):
    with pytest.raises(ValueError, match=message):
        Entry.from_line(line)


def test_a_number_beyond_floats_is_refused():
    line = entry(1, scores={"chrf": 1.0}).to_line().replace("1.0", "1e999")
    with pytest.raises(ValueError, match="not a finite number"):
        Entry.from_line(line)
