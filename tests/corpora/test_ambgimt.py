"""AmbGIMT's files: neutral pairs, blocks of 14 identities, repeats, files that do not pair up, and the real files."""

from __future__ import annotations

import codecs
import shutil
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gnt.case import Identity, Subset
from pytest_gnt.corpora import ambgimt
from pytest_gnt.corpora.source import CorpusSource
from pytest_gnt.errors import GntError

STEM = "DictExample_convert_sents"
SENTENCES = ["The person is stubborn.", "The person left.", "The person is a terse author."]


def variants(sentences: list[str]) -> list[str]:
    """All identities of English sentences about "the person"."""
    return [sentence.replace("person", identity.value) for sentence in sentences for identity in Identity]


def renderings(sentences: list[str]) -> list[str]:
    return [f"{identity.value}：{len(sentence)}。" for sentence in sentences for identity in Identity]


@pytest.fixture
def put(write):
    """Write the files of one subset, given as lists of lines."""

    def _put(stem: str = STEM, **files: list[str]) -> None:
        endings = {"en": "txt", "zh": "hypo.zh", "all_en": "AllType.txt.corrected", "all_zh": "AllType.hypo.zh"}
        for key, lines in files.items():
            write(f"{stem}.{endings[key]}", "".join(f"{line}\n" for line in lines))

    return _put


# the neutral pair


def test_a_neutral_pair_gives_a_person_case_a_line(put, source, balanced):
    put(en=SENTENCES, zh=["这个人固执。", "这个人走了。", "这个人是作者。"])
    data = balanced(ambgimt.load(source("ambgimt")))
    assert [case.id for case in data.cases] == [f"ambgimt/en-zh/authentic/{n}/person" for n in (1, 2, 3)]
    first = data.cases[0]
    assert (first.identity, first.subset, first.expected) == (Identity.PERSON, Subset.AUTHENTIC, None)
    assert first.references == ("这个人固执。",)
    assert first.group == "ambgimt/authentic/1"
    assert first.origin == f"{STEM}.txt:1"


def test_a_pair_of_unequal_length_is_refused_with_both_counts(put, source):
    put(en=["The person."] * 5, zh=["这个人。"] * 4)
    with pytest.raises(GntError, match=rf"{STEM}\.txt has 5 lines, .*{STEM}\.hypo\.zh have 4"):
        ambgimt.load(source("ambgimt"))


def test_an_extra_blank_line_at_the_end_is_refused(put, source):
    put(en=SENTENCES, zh=["一。", "二。", "三。", ""])
    with pytest.raises(GntError, match=r"has 3 lines, .* have 4"):
        ambgimt.load(source("ambgimt"))


def test_blank_lines_keep_their_place_and_are_refused(put, source, balanced):
    english = [f"The person has {n}." for n in range(1, 6)]
    put(en=[*english[:2], "", *english[3:]], zh=["一。", "二。", "三。", " ", "五。"])
    data = balanced(ambgimt.load(source("ambgimt")))
    assert [(case.id.split("/")[3], case.references) for case in data.cases] == [
        ("1", ("一。",)),
        ("2", ("二。",)),
        ("5", ("五。",)),
    ]
    assert [str(bad) for bad in data.refused] == [f"{STEM}.txt:3: blank line", f"{STEM}.hypo.zh:4: blank line"]


def test_line_marks_inside_a_sentence_do_not_shift_the_pairs(put, source):
    put(
        en=["The person\u2028smiled.", "The person\x85 shut.\x0c", "The person\x1cleft.\rSame row."],
        zh=["一", "二", "三"],
    )
    data = ambgimt.load(source("ambgimt"))
    assert [case.references for case in data.cases] == [("一",), ("二",), ("三",)]


def test_a_byte_order_mark_is_in_no_sentence(write, source):
    write(f"{STEM}.txt", codecs.BOM_UTF8 + b"The person left.\n")
    assert ambgimt.load(source("ambgimt")).cases[0].source == "The person left."


@pytest.mark.parametrize(
    ("content", "message"), [("", "0 bytes"), ("version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer")]
)
def test_a_file_that_is_no_data_is_refused_by_name(put, write, source, content, message):
    put(en=SENTENCES)
    write(f"{STEM}.hypo.zh", content)
    with pytest.raises(GntError, match=message) as caught:
        ambgimt.load(source("ambgimt"))
    assert f"{STEM}.hypo.zh" in str(caught.value)


# blocks


def test_each_line_of_a_block_is_a_case(put, source, balanced):
    put(en=SENTENCES, all_en=variants(SENTENCES), all_zh=renderings(SENTENCES))
    data = balanced(ambgimt.load(source("ambgimt")))
    assert data.rows_read == len(data.cases) == 42
    assert data.cases[8].id == "ambgimt/en-zh/authentic/1/trans-man"
    assert data.cases[9].id == "ambgimt/en-zh/authentic/1/trans-woman"
    assert data.cases[9].source == "The trans woman is stubborn."
    assert Counter(case.group for case in data.cases) == {f"ambgimt/authentic/{n}": 14 for n in (1, 2, 3)}
    assert [case.identity for case in data.cases[:14]] == list(Identity)


def test_a_repeated_block_is_matched_by_content(put, source, balanced):
    order = [SENTENCES[0], SENTENCES[1], SENTENCES[1], SENTENCES[2]]
    put(en=SENTENCES, all_en=variants(order), all_zh=renderings(order))
    data = balanced(ambgimt.load(source("ambgimt")))
    assert data.rows_read == 56
    numbers = [case.id.split("/")[3] for case in data.cases[::14]]
    assert numbers == ["1", "2", "2.2", "3"]
    assert data.cases[28].group == data.cases[14].group == "ambgimt/authentic/2"
    assert "authentic: 3 sentences in 4 blocks of 14; repeated: block 3 repeats line 2" in data.notes


def test_blocks_in_another_order_keep_their_sentences(put, source):
    order = [SENTENCES[2], SENTENCES[0], SENTENCES[1]]
    put(en=SENTENCES, all_en=variants(order), all_zh=renderings(order))
    for case in ambgimt.load(source("ambgimt")).cases[::14]:
        assert case.source == SENTENCES[int(case.id.split("/")[3]) - 1]


def test_a_sentence_on_two_neutral_lines_takes_both_and_is_one_group(put, source, balanced):
    twice = [SENTENCES[0], SENTENCES[1], SENTENCES[0]]
    put(en=twice, all_en=variants([*twice, SENTENCES[0]]))
    data = balanced(ambgimt.load(source("ambgimt")))
    assert [case.id.split("/")[3] for case in data.cases[::14]] == ["1", "2", "3", "1.2"]
    assert [case.group for case in data.cases[::14]] == [f"ambgimt/authentic/{n}" for n in (1, 2, 1, 1)]


def test_a_block_file_that_is_no_multiple_of_14_is_refused(put, source):
    put(en=SENTENCES[:2], all_en=variants(SENTENCES[:2])[:27])
    with pytest.raises(GntError, match=r"AllType.* has 27 lines, not a multiple of the 14 .*has 2 lines"):
        ambgimt.load(source("ambgimt"))


@pytest.mark.parametrize(
    ("neutral", "blocks"),
    [(SENTENCES, SENTENCES[:2]), (SENTENCES[:2], SENTENCES), (["The person slept."], SENTENCES[:1])],
    ids=["too few blocks", "too many blocks", "other sentences"],
)
def test_blocks_of_other_sentences_are_refused_with_both_counts(put, source, neutral, blocks):
    put(en=neutral, all_en=variants(blocks))
    with pytest.raises(GntError, match="do not pair up") as caught:
        ambgimt.load(source("ambgimt"))
    assert f"({14 * len(blocks)} lines" in str(caught.value)
    assert f"({len(neutral)} lines)" in str(caught.value)


def test_one_damaged_block_costs_that_block_only(put, source, balanced):
    lines = variants(SENTENCES)
    lines[14] = "The persn left."
    put(en=SENTENCES, all_en=lines, all_zh=renderings(SENTENCES))
    data = balanced(ambgimt.load(source("ambgimt")))
    assert len(data.cases) == 28
    assert [bad.line for bad in data.refused] == list(range(15, 29))
    assert "line 15, which begins the block, is no neutral sentence" in data.refused[0].why


def test_a_blank_line_in_a_block_costs_one_case(put, source, balanced):
    lines, references = variants(SENTENCES), renderings(SENTENCES)
    lines[3], references[20] = "", ""
    put(en=SENTENCES, all_en=lines, all_zh=references)
    data = balanced(ambgimt.load(source("ambgimt")))
    assert len(data.cases) == 40
    assert [(bad.file, bad.line) for bad in data.refused] == [
        (f"{STEM}.AllType.txt.corrected", 4),
        (f"{STEM}.AllType.hypo.zh", 21),
    ]


def test_another_order_of_identities_is_refused(put, source):
    lines = variants(SENTENCES)
    for start in (0, 14, 28):
        lines[start + 8], lines[start + 9] = lines[start + 9], lines[start + 8]
    put(en=SENTENCES, all_en=lines)
    with pytest.raises(GntError, match="line 9 of each block should be about trans man"):
        ambgimt.load(source("ambgimt"))


def test_references_that_are_the_same_for_all_are_kept_and_noted(put, source):
    references = renderings(SENTENCES)
    references[14:28] = ["走了。"] * 14
    put(en=SENTENCES, all_en=variants(SENTENCES), all_zh=references)
    data = ambgimt.load(source("ambgimt"))
    assert data.cases[20].references == ("走了。",)
    assert any("1 of 3 blocks: one reference" in note and "(sentences 2)" in note for note in data.notes)


def test_half_a_pair_of_block_files_is_refused(put, source):
    put(en=SENTENCES, zh=SENTENCES, all_en=variants(SENTENCES))
    with pytest.raises(GntError, match=r"not DictExample_convert_sents\.AllType\.hypo\.zh"):
        ambgimt.load(source("ambgimt"))


def test_block_references_without_english_blocks_are_refused(put, source):
    put(en=SENTENCES, zh=SENTENCES, all_zh=renderings(SENTENCES))
    with pytest.raises(GntError, match="without its English file"):
        ambgimt.load(source("ambgimt"))


# languages, stems, words


def test_a_language_without_references_is_tested_without(put, source, balanced):
    put(en=SENTENCES, zh=["一", "二", "三"], all_en=variants(SENTENCES), all_zh=renderings(SENTENCES))
    data = balanced(ambgimt.load(source("ambgimt", langs=("de", "zh"))))
    german = [case for case in data.cases if case.target_lang == "de"]
    assert len(german) == 42
    assert all(case.references == () for case in german)
    assert {case.group for case in german} == {case.group for case in data.cases if case.target_lang == "zh"}
    assert "en-de authentic: no reference file, so the cases have no reference" in data.notes


def test_other_stems_and_short_endings(write, source):
    write("ambgimt/mine.txt", "The person left.\n")
    write("ambgimt/mine.zh", "走了。\n")
    data = ambgimt.load(source("ambgimt", options={"stems": {"synthesized": "mine"}}))
    assert [case.id for case in data.cases] == ["ambgimt/en-zh/synthesized/1/person"]
    with pytest.raises(GntError, match="not 'Set-N'"):
        ambgimt.load(source("ambgimt", options={"stems": {"Set-N": "mine"}}))
    with pytest.raises(GntError, match=r"other\.txt is missing"):
        ambgimt.load(source("ambgimt", options={"stems": {"synthesized": "other"}}))


def test_a_folder_without_files_says_what_to_put_there(source, tmp_path):
    with pytest.raises(GntError, match=rf"no AmbGIMT file in .*{STEM}\.txt"):
        ambgimt.load(source("ambgimt"))
    with pytest.raises(GntError, match="is no folder"):
        ambgimt.load(source("ambgimt", root=tmp_path / "nowhere"))


def test_attitude_words_of_the_folder(put, write, source):
    put(en=SENTENCES)
    write(
        "attitude_words.tsv",
        "line\tattitude_word\tzh_word\tconfidence\n1\tstubborn\t牛脾气\thigh\n2\tabsent\t缺\thigh\n",
    )
    write("renderings.tsv", "attitude_word\tlang\trendering\tpolarity\nstubborn\tde\tstarrköpfig\tnegative\n")
    data = ambgimt.load(source("ambgimt", langs=("zh", "de")))
    stubborn, left, _ = data.cases[:3]
    assert stubborn.attitude_word == "stubborn"
    assert "牛脾气" in stubborn.attitude_renderings
    assert "固执" in stubborn.attitude_renderings
    assert left.attitude_word is None
    assert any("does not stand in its sentence" in note for note in data.notes)
    german = next(case for case in data.cases if case.target_lang == "de")
    assert german.attitude_renderings[0] == "starrköpfig"


@pytest.mark.parametrize("line", ["x", "", "1"])
def test_a_broken_table_of_attitude_words_is_refused(put, write, source, line):
    put(en=SENTENCES)
    write("attitude_words.tsv", f"line\tattitude_word\n1\tstubborn\n{line}\tleft\n")
    with pytest.raises(GntError, match=r"attitude_words\.tsv:3: .*is no line number or occurs twice"):
        ambgimt.load(source("ambgimt"))


# Many NULs look like UTF-16 without its mark, which is refused as a whole file.
LINE = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.tuples(LINE, LINE), min_size=1, max_size=12))
def test_no_text_changes_the_count_of_a_pair(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("law")
    # A file that begins like a pointer or a web page is refused as a whole.
    pairs = [("The person.", "这个人。"), *pairs]
    for number, ending in enumerate(("txt", "hypo.zh")):
        (folder / f"{STEM}.{ending}").write_bytes("".join(f"{pair[number]}\n" for pair in pairs).encode())
    data = ambgimt.load(CorpusSource(name="ambgimt", root=folder))
    assert data.rows_read == len(pairs) == len(data.cases) + len(data.refused)
    for case in data.cases:
        line = int(case.id.split("/")[3])
        assert (case.source, case.references) == (pairs[line - 1][0], (pairs[line - 1][1],))


@given(st.lists(LINE, min_size=1, max_size=4), st.data())
def test_no_text_changes_the_count_of_blocks(tmp_path_factory, tails, data):
    folder = tmp_path_factory.mktemp("law")
    sentences = [f"The person {tail}".strip() for tail in tails]
    order = sentences + data.draw(st.lists(st.sampled_from(sentences), max_size=3))
    references = data.draw(st.lists(LINE, min_size=14 * len(order), max_size=14 * len(order)))
    (folder / f"{STEM}.txt").write_bytes("".join(f"{line}\n" for line in sentences).encode())
    (folder / f"{STEM}.AllType.txt").write_bytes("".join(f"{line}\n" for line in variants(order)).encode())
    (folder / f"{STEM}.AllType.zh").write_bytes("".join(f"{line}\n" for line in references).encode())
    loaded = ambgimt.load(CorpusSource(name="ambgimt", root=folder))
    assert loaded.rows_read == 14 * len(order) == len(loaded.cases) + len(loaded.refused)


# the public files


@pytest.fixture
def public(shared_data, tmp_path):
    """The public text files alone, without the attitude words that lie beside them."""
    folder = tmp_path / "ambgimt"
    folder.mkdir()
    for path in (shared_data / "ambgimt").iterdir():
        if not path.name.startswith("attitude_words"):
            shutil.copyfile(path, folder / path.name)
    return CorpusSource(name="ambgimt", root=tmp_path)


def test_the_public_files(public, balanced):
    data = balanced(ambgimt.load(public))
    authentic = [case for case in data.cases if case.subset is Subset.AUTHENTIC]
    assert len(authentic) == 4200
    assert data.rows_read == len(data.cases) == 4200 + 2578
    assert len({case.group for case in authentic}) == 298
    repeats = Counter(case.id.split("/")[3] for case in authentic if "." in case.id.split("/")[3])
    assert repeats == {"84.2": 14, "108.2": 14}
    assert Counter(case.identity for case in authentic) == dict.fromkeys(Identity, 300)
    assert any(
        "298 sentences in 300 blocks" in note and "block 175 repeats line 84, block 291 repeats line 108" in note
        for note in data.notes
    )
    assert any("7 of 300 blocks: one reference for all 14 identities" in note for note in data.notes)


def test_the_public_blocks_stand_beside_their_own_sentences(public, shared_data):
    neutral = (shared_data / "ambgimt" / f"{STEM}.txt").read_text(encoding="utf-8").split("\n")
    for case in ambgimt.load(public).cases:
        if case.subset is Subset.AUTHENTIC and case.identity is Identity.PERSON:
            assert case.source == neutral[int(case.id.split("/")[3].split(".")[0]) - 1]


def test_the_shipped_attitude_words_are_those_of_the_public_annotation(public, shared_data):
    from_hashes = {case.id: case.attitude_word for case in ambgimt.load(public).cases}
    from_lines = {c.id: c.attitude_word for c in ambgimt.load(CorpusSource(name="ambgimt", root=shared_data)).cases}
    assert from_hashes == from_lines
    assert sum(word is None for word in from_hashes.values()) == 11 * 14
