"""Which differences of two signatures forbid a comparison."""

import pytest
from records import SIGNATURE

from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.comparability import comparable, differences, notes


def changed(key, value):
    parts = dict(part.split(":", 1) for part in SIGNATURE.split("|"))
    return "|".join(f"{name}:{text}" for name, text in (parts | {key: value}).items())


def test_equal_signatures_are_comparable():
    assert comparable(SIGNATURE, SIGNATURE) == notes(SIGNATURE, SIGNATURE) == []


@pytest.mark.parametrize("key", ["model", "gnt"])
def test_what_a_comparison_is_about_may_differ_without_a_word(key):
    assert comparable(SIGNATURE, changed(key, "other")) == notes(SIGNATURE, changed(key, "other")) == []


@pytest.mark.parametrize("key", ["prompt", "decoding", "seed", "sample"])
def test_some_parts_may_differ_with_a_note(key):
    assert comparable(SIGNATURE, changed(key, "other")) == []
    (note,) = notes(SIGNATURE, changed(key, "other"))
    assert key in note
    assert "→ other" in note


@pytest.mark.parametrize("key", ["corpus", "judge", "attitude", "quality"])
def test_yardsticks_may_not_differ(key):
    (reason,) = comparable(changed(key, "one"), changed(key, "other"))
    assert key in reason
    assert notes(changed(key, "one"), changed(key, "other")) == []


def test_another_tokeniser_of_a_metric_is_another_metric():
    one, other = changed("quality", "bleu@2.6:13a"), changed("quality", "bleu@2.6:zh")
    assert comparable(one, other) == ["the quality metrics differ (bleu@2.6:13a → bleu@2.6:zh)"]


def test_what_one_side_did_not_ask_for_is_no_difference():
    assert comparable(SIGNATURE, changed("attitude", "g@1")) == []
    assert comparable(changed("attitude", "g@1"), SIGNATURE) == []
    assert notes(changed("attitude", "g@1"), SIGNATURE) == []


def test_a_stage_that_is_off_differs():
    off = comparable(changed("attitude", "g@1"), changed("attitude", "off"))
    assert off == ["the attitude model differs (g@1 → off)"]


def test_an_unknown_part_blocks():
    (found,) = differences(SIGNATURE, changed("weather", "rain"))
    assert found.blocks
    assert "does not know" in found.why


@pytest.mark.parametrize("text", ["", "no colon", "a:b|c"])
def test_what_is_no_signature_is_refused(text):
    with pytest.raises(GntError, match="not a signature"):
        comparable(text, SIGNATURE)
