"""Stored baselines: what is written, what is refused with file and line, what a merge keeps."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records import SIGNATURE, TEST, baseline, entries, entry, outcome, result

from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.baseline import (
    baseline_folder,
    list_baselines,
    new_baseline,
    prune,
    read_baseline,
    write_baseline,
)
from pytest_gnt.verdicts.update import merge, require_comparable, update_baseline

ABOUT = {"model": "m", "signature": SIGNATURE, "revision": "ab12"}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "baselines" / "m"


def update(folder, found, **other):
    return update_baseline(folder, "mgente", found, **ABOUT | other)


def test_what_is_written_is_read(folder):
    made = baseline(entries(["passed", "failed", "invalid-verdict"]))
    write_baseline(folder, made)
    assert read_baseline(folder, "mgente") == read_baseline(folder / "mgente.jsonl")
    again = read_baseline(folder, "mgente")
    assert [one.to_line() for one in again.entries.values()] == [one.to_line() for one in made.entries.values()]
    assert (again.model, again.corpus, again.signature, again.revision) == ("m", "mgente", SIGNATURE, "ab12")
    assert again.counts() == {"cases": 3, "passed": 1, "failed": 1, "unscored": 1}


def test_lines_are_sorted_by_id_whatever_the_order(folder):
    found = entries(["passed"] * 5)
    update(folder, reversed(found))
    first = (folder / "mgente.jsonl").read_bytes()
    update(folder / "other", found)
    assert (folder / "other" / "mgente.jsonl").read_bytes() == first
    ids = [json.loads(line)["id"] for line in first.splitlines()]
    assert ids == sorted(ids)


def test_case_records_and_their_stored_entries_give_the_same_bytes(folder):
    update(folder, [result(1), result(2)])
    first = (folder / "mgente.jsonl").read_bytes()
    done = update(folder, [result(2), result(1)])
    assert (folder / "mgente.jsonl").read_bytes() == first
    assert done.unchanged == ("mgente/en-it/1", "mgente/en-it/2")


def test_nothing_else_is_left_in_the_folder(folder):
    update(folder, entries(["passed"]))
    assert sorted(path.name for path in folder.iterdir()) == ["mgente.jsonl", "summary.json"]


def test_the_summary_says_what_numbers_depend_on(folder):
    update(folder, entries(["passed", "failed"]))
    row = json.loads((folder / "summary.json").read_text())
    assert row["schema"] == 1
    assert row["model"] == "m"
    about = row["corpora"]["mgente"]
    assert {key: about[key] for key in ("signature", "revision", "cases", "passed", "failed", "unscored")} == {
        "signature": SIGNATURE,
        "revision": "ab12",
        "cases": 2,
        "passed": 1,
        "failed": 1,
        "unscored": 0,
    }


def test_corpora_of_one_model_share_a_folder(folder):
    update(folder, entries(["passed"]))
    other = [replace(one, id=f"table/{one.id}") for one in entries(["failed"])]
    update_baseline(folder, "table", other, model="m", signature="gnt:1|corpus:table@1", revision="1")
    assert list_baselines(folder.parent) == [(folder, "mgente"), (folder, "table")]
    assert read_baseline(folder, "mgente").counts()["passed"] == 1
    assert read_baseline(folder, "table").counts()["failed"] == 1


def test_no_baseline_is_an_error_that_says_how_to_store_one(folder):
    with pytest.raises(GntError, match=r"no baseline of mgente in .*--gnt-update-baseline"):
        read_baseline(folder, "mgente")
    assert list_baselines(folder) == []
    with pytest.raises(GntError, match="name one"):
        read_baseline(folder)


def break_line(folder, number, change):
    path = folder / "mgente.jsonl"
    lines = path.read_text().split("\n")
    lines[number - 1] = change(lines[number - 1])
    path.write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line[:-5], r"mgente\.jsonl:2: .*Mend the line"),
        (lambda line: line.replace('"passed"', '"ok"'), r"mgente\.jsonl:2: .*'ok' is not passed"),
        (lambda line: line.replace("00001", "00000"), r"mgente\.jsonl:2: 'mgente/en-it/00000' stands in line 1 too"),
        (lambda line: line.replace('"mgente/', '"other/'), r"mgente\.jsonl:2: .*not a case of mgente"),
        (lambda line: line[:-1] + ', "scores": {"chrf": NaN}}', r"mgente\.jsonl:2: NaN is not a number"),
        (lambda line: line[:-1] + ', "scores": {"chrf": Infinity}}', r"mgente\.jsonl:2: Infinity is not a number"),
        (lambda _: "<<<<<<< HEAD", r"mgente\.jsonl:2: "),
        (lambda _: "[" * 100_000, r"mgente\.jsonl:2: "),
    ],
)
def test_a_hand_edited_line_is_refused_by_file_and_line(folder, change, message):
    write_baseline(folder, baseline(entries(["passed", "passed", "failed"])))
    break_line(folder, 2, change)
    with pytest.raises(GntError, match=message):
        read_baseline(folder, "mgente")
    with pytest.raises(GntError, match=message):
        update(folder, entries(["passed"]))


def test_bytes_that_are_no_utf8_are_refused(folder):
    write_baseline(folder, baseline(entries(["passed", "passed"])))
    path = folder / "mgente.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Frase 00001", b"perch\xe9"))
    with pytest.raises(GntError, match=r"mgente\.jsonl:2: .*utf-8"):
        read_baseline(folder, "mgente")


def test_what_editors_and_git_do_to_line_ends_does_no_harm(folder):
    made = baseline(entries(["passed", "failed"]))
    write_baseline(folder, made)
    path = folder / "mgente.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\n")
    assert read_baseline(folder, "mgente").counts() == made.counts()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema": 0, "model": "m", "corpora": {}}', "schema 0, this version reads 1"),
        ("[]", "schema None"),
        ("{", "not JSON"),
        ('{"schema": 1, "corpora": {}}', "'model' or 'corpora' is missing"),
        ('{"schema": 1, "model": "m", "corpora": {}}', "does not know mgente"),
        ('{"schema": 1, "model": "m", "corpora": {"mgente": {"revision": "1"}}}', "no signature or revision"),
    ],
)
def test_a_summary_of_another_schema_or_kind_is_refused(folder, text, message):
    write_baseline(folder, baseline(entries(["passed"])))
    (folder / "summary.json").write_text(text)
    with pytest.raises(GntError, match=message):
        read_baseline(folder, "mgente")


def test_lines_without_a_summary_are_refused_and_not_overwritten(folder):
    write_baseline(folder, baseline(entries(["passed"])))
    (folder / "summary.json").unlink()
    before = (folder / "mgente.jsonl").read_bytes()
    with pytest.raises(GntError, match="no baseline"):
        update(folder, entries(["failed"]))
    assert (folder / "mgente.jsonl").read_bytes() == before


def test_hand_edited_lines_keep_their_signature_and_are_counted_anew(folder):
    write_baseline(folder, baseline(entries(["passed", "failed"])))
    break_line(folder, 2, lambda line: line.replace('"failed"', '"passed"'))
    again = read_baseline(folder, "mgente")
    assert again.signature == SIGNATURE
    assert again.counts()["passed"] == 2


@pytest.mark.parametrize("model", ["", "..", " . "])
def test_a_model_that_cannot_name_a_folder_is_refused(tmp_path, model):
    with pytest.raises(GntError, match="cannot name a baseline"):
        baseline_folder(tmp_path, model)


def test_model_names_stay_inside_the_root(tmp_path):
    for model in ("../../etc", "a/b", "qwen72b", "org/model:v1", "模型", "../x"):
        assert baseline_folder(tmp_path, model).parent == tmp_path
    assert baseline_folder(tmp_path, "qwen72b").name == "qwen72b"


def test_a_filtered_run_leaves_the_others_alone(folder):
    update(folder, entries(["passed"] * 4))
    done = update(folder, [entry("00002", "failed")])
    assert done.replaced == ("mgente/en-it/00002",)
    assert done.untouched == 3
    assert read_baseline(folder, "mgente").counts() == {"cases": 4, "passed": 3, "failed": 1, "unscored": 0}
    assert "1 replaced" in str(done)


def test_a_case_that_became_unscored_keeps_its_result(folder):
    update(folder, entries(["passed", "failed"]))
    done = update(folder, entries(["transport", "invalid-verdict"]))
    assert done.kept == {
        "mgente/en-it/00000": "test_neutral is unscored now (transport)",
        "mgente/en-it/00001": "test_neutral is unscored now (invalid-verdict)",
    }
    assert read_baseline(folder, "mgente").counts() == {"cases": 2, "passed": 1, "failed": 1, "unscored": 0}
    update(folder, entries(["transport", "invalid-verdict"]), force=True)
    assert read_baseline(folder, "mgente").counts()["unscored"] == 2


def test_a_result_replaces_an_unscored_one_and_unscored_replaces_unscored():
    old = baseline(entries(["transport", "transport"]))
    done = merge(old, baseline(entries(["passed", "truncated"])))
    assert len(done.replaced) == 2
    assert not done.kept


def test_lost_evidence_keeps_the_case_too():
    old = baseline([entry(1, scores={"comet": 80.0}, attitude=(0.5, 0.5))])
    for why in ({"quality": "not-finite"}, {"attitude": "unaligned"}, {"translation": "truncated"}):
        done = merge(old, baseline([entry(1, scores={}, attitude=None, why=why)]))
        assert list(done.kept.values()) == [f"no {next(iter(why))} now ({next(iter(why.values()))})"]
        assert done.baseline.entries == old.entries


def test_of_a_case_run_in_part_the_rest_stays_while_the_translation_is_the_same():
    old = baseline(
        [entry(1, scores={"comet": 80.0, "chrf": 50.0}, tests={TEST: outcome("passed"), "test_b": outcome("failed")})]
    )
    new = baseline([entry(1, "failed", scores={"chrf": 51.0})])
    merged = merge(old, new).baseline.entries["mgente/en-it/1"]
    assert merged.scores == {"comet": 80.0, "chrf": 51.0}
    assert merged.tests == {TEST: outcome("failed"), "test_b": outcome("failed")}
    assert merged.judged == "WRONGLY GENDERED"


def test_of_a_case_run_in_part_with_another_translation_nothing_is_mixed():
    old = baseline([entry(1, scores={"comet": 80.0})])
    new = baseline([entry(1, "failed", text="Altra frase.")])
    done = merge(old, new)
    assert done.kept == {"mgente/en-it/1": "run in part only, with another translation"}
    assert done.baseline.entries == old.entries
    forced = merge(old, new, force=True).baseline.entries["mgente/en-it/1"]
    assert forced.text == "Altra frase."
    assert forced.scores == {}


def test_another_source_sentence_replaces_whatever_was_stored():
    old = baseline([entry(1, scores={"comet": 80.0})])
    done = merge(old, baseline([entry(1, "transport", source_digest="0" * 16)]))
    assert done.replaced == ("mgente/en-it/1",)
    assert done.baseline.entries["mgente/en-it/1"].scores == {}


def test_an_update_that_would_mix_what_cannot_be_compared_is_refused(folder):
    update(folder, entries(["passed", "passed"]))
    other = SIGNATURE.replace("judge:lexicon@1", "judge:qwen@2")
    with pytest.raises(GntError, match="the judge differs"):
        update(folder, entries(["failed"]), signature=other)
    assert read_baseline(folder, "mgente").counts()["passed"] == 2
    update(folder, entries(["failed"]), signature=other, force=True)
    mixed = read_baseline(folder, "mgente")
    assert mixed.older_signatures == (SIGNATURE,)
    with pytest.raises(GntError, match="the judge differs"):
        require_comparable(mixed, other)
    update(folder, entries(["failed", "failed"]), signature=other, force=True)
    assert read_baseline(folder, "mgente").older_signatures == ()


def test_another_model_version_may_update(folder):
    update(folder, entries(["passed"]))
    update(folder, entries(["failed"]), signature=SIGNATURE.replace("m@1", "m@2").replace("gnt:0.1.0", "gnt:0.2.0"))
    assert read_baseline(folder, "mgente").counts()["failed"] == 1


def test_prune_keeps_what_is_named():
    kept = prune(baseline(entries(["passed", "failed", "passed"])), ["mgente/en-it/00001", "mgente/en-it/9"])
    assert list(kept.entries) == ["mgente/en-it/00001"]


def test_a_baseline_refuses_doubled_and_foreign_cases():
    with pytest.raises(ValueError, match="twice"):
        new_baseline("m", "mgente", SIGNATURE, "1", [entry(1), entry(1)])
    with pytest.raises(ValueError, match="not a case of other"):
        new_baseline("m", "other", SIGNATURE, "1", [entry(1)])


NUMBERS = st.lists(
    st.tuples(st.integers(0, 20), st.sampled_from(["passed", "failed", "transport"])), unique_by=lambda x: x[0]
)


@settings(max_examples=60)
@given(NUMBERS, NUMBERS, st.booleans())
def test_a_merge_never_loses_a_case(old, new, force):
    stored = baseline([entry(number, outcome_) for number, outcome_ in old])
    run = baseline([entry(number, outcome_) for number, outcome_ in new])
    done = merge(stored, run, force=force)
    assert done.baseline.entries.keys() == stored.entries.keys() | run.entries.keys()
    assert list(done.baseline.entries) == sorted(done.baseline.entries)
    told = [*done.added, *done.replaced, *done.unchanged, *done.kept]
    assert sorted(told) == sorted(run.entries)
    assert done.untouched + len(told) == len(done.baseline.entries)
    scored_before = {key for key, one in stored.entries.items() if one.judged}
    if not force:
        assert all(done.baseline.entries[key].judged for key in scored_before)


@settings(max_examples=30)
@given(st.lists(st.text(alphabet=st.characters(exclude_categories=())), max_size=5))
def test_any_texts_survive_the_file(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("any")
    found = [result(number, translation={"text": text, "label": text or None}) for number, text in enumerate(texts)]
    made = update(folder, found)
    assert read_baseline(folder, "mgente").entries == {
        key: replace(one, source=None, phrases=()) for key, one in made.baseline.entries.items()
    }
