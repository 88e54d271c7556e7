"""``gnt convert``: blocks and tables out of neutral lines, refused lines, files that do not pair up, the comparison."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_gnt.case import Identity
from pytest_gnt.commands.convert_output import jsonl, table_rows, tsv
from pytest_gnt.corpora import ambgimt, table
from pytest_gnt.corpora.source import CorpusSource
from pytest_gnt.corpora.textfile import TextFile

LINES = ["The person left.", "The person is tenacious. They never give up.", '"The person," he said, "is my friend."']
STEM = "DictExample_convert_sents"


@pytest.fixture
def neutral(project: Path) -> Path:
    path = project / "neutral.txt"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return path


def test_blocks_are_in_the_public_files_order(gnt, neutral, capsys):
    assert gnt("convert", neutral) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert len(lines) == 42
    assert [line.split(" left")[0] for line in lines[:14]] == [f"The {identity.value}" for identity in Identity]
    assert lines[14 + 1] == "The woman is tenacious. She never gives up."
    assert err == "gnt convert: 3 lines read, 3 converted to 14 identities, 0 refused\n"


def test_refused_lines_keep_their_place_and_are_named(gnt, neutral, capsys):
    neutral.write_text("The person left.\nNobody left.\n\nThe person came.\n", encoding="utf-8")
    assert gnt("convert", neutral, "--identities", "trans_woman, man") == 1
    out, err = capsys.readouterr()
    assert out == "The man left.\nThe trans woman left.\n\n\n\n\nThe man came.\nThe trans woman came.\n"
    assert 'neutral.txt:2: nothing says "the person"' in err
    assert "neutral.txt:3: blank line" in err
    assert "4 lines read, 2 converted to 2 identities, 2 refused" in err


def test_chinese_lines(gnt, project, capsys):
    path = project / "neutral.zh"
    path.write_text("这个人笑了，他/她走了。\n走了。\n", encoding="utf-8")
    assert gnt("convert", path, "--lang", "zh", "--identities", "woman,queer") == 0
    out, err = capsys.readouterr()
    assert out == "这个女人笑了，她走了。\n酷儿笑了，他/她走了。\n走了。\n走了。\n"
    assert "neutral.zh:2: no term for the person" in err


@pytest.mark.parametrize("name", ["own.tsv", "own.jsonl"])
def test_a_table_can_be_a_corpus(gnt, neutral, project, name):
    references = project / "neutral.zh"
    references.write_text(
        "这个人走了。\n这个人很坚韧，他/她从不放弃。\n“这个人”，他说，“是我的朋友。”\n", encoding="utf-8"
    )
    assert gnt("convert", neutral, "--out", name, "--references", references) == 0
    data = table.load(CorpusSource(name="own", root=project / name))
    assert (len(data.cases), data.refused) == (42, ())
    woman = data.cases[15]
    assert (woman.id, woman.group, woman.identity) == ("own/en-zh/2-woman", "own/2", Identity.WOMAN)
    assert woman.source == "The woman is tenacious. She never gives up."
    assert woman.references == ("这个女人很坚韧，她从不放弃。",)
    assert data.cases[28].source == LINES[2]


def test_the_output_is_read_again_as_a_public_file(gnt, neutral, project):
    folder = project / "data"
    folder.mkdir()
    (folder / f"{STEM}.txt").write_bytes(neutral.read_bytes())
    assert gnt("convert", neutral, "--out", folder / f"{STEM}.AllType.txt") == 0
    data = ambgimt.load(CorpusSource(name="ambgimt", root=folder))
    assert len(data.cases) == 42
    assert data.cases[15].source == "The woman is tenacious. She never gives up."


CELL = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=20)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(CELL, min_size=1, max_size=4))
def test_no_text_is_changed_by_a_table(tmp_path, texts):
    sentences = [(f"The person {one}.", f"The woman {one}.") for one in texts]
    neutral = TextFile(tmp_path / "neutral.txt", "", "utf-8", "")
    for name, write in (("t.tsv", tsv), ("t.jsonl", jsonl)):
        identities = (Identity.PERSON, Identity.WOMAN)
        rows, refused = table_rows(neutral, list(sentences), identities, None, tabs=name == "t.jsonl")
        wanted = [pair for pair in sentences if name == "t.jsonl" or "\t" not in pair[0]]
        assert len(wanted) + len(refused) == len(sentences)
        (tmp_path / name).write_bytes(write(rows).encode())
        if wanted:
            data = table.load(CorpusSource(name="own", root=tmp_path / name, options={"lang": "de"}))
            assert [case.source for case in data.cases] == [sentence for pair in wanted for sentence in pair]


def test_a_line_with_a_tab_is_no_row_of_a_tsv(gnt, neutral, capsys):
    neutral.write_text("The person\tleft.\nThe person came.\n", encoding="utf-8")
    assert gnt("convert", neutral, "--format", "tsv", "--identities", "gay") == 1
    out, err = capsys.readouterr()
    assert out == "id\tsource\tidentity\tgroup\n2-gay\tThe gay came.\tgay\t2\n"
    assert "neutral.txt:1: holds a tab, which no cell of a TSV can; use jsonl" in err
    assert gnt("convert", neutral, "--format", "jsonl", "--identities", "gay") == 0


# what does not work


def test_references_of_another_length_are_refused_with_both_counts(gnt, neutral, project, capsys):
    (project / "zh").write_text("这个人走了。\n", encoding="utf-8")
    assert gnt("convert", neutral, "--references", project / "zh", "--format", "tsv") == 2
    err = capsys.readouterr().err
    assert "neutral.txt has 3 lines" in err
    assert "zh have 1" in err


def test_a_blank_reference_is_refused_with_its_file(gnt, neutral, project, capsys):
    (project / "zh").write_text("这个人走了。\n \n这个人是我的朋友。\n", encoding="utf-8")
    assert gnt("convert", neutral, "--references", project / "zh", "--format", "jsonl") == 1
    out, err = capsys.readouterr()
    assert [json.loads(line)["id"] for line in out.splitlines()[::14]] == ["1-person", "3-person"]
    assert "gnt convert: zh:2: blank line" in err
    assert "3 lines read, 2 converted" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--identities", "trans womn"], "unknown identity 'trans womn'. Did you mean trans woman"),
        (["--identities", " , "], "--identities names none"),
        (["--out", "neutral.txt"], "is a file that is read"),
        (["--out", "no/such/folder.txt"], "cannot be written"),
        (["--lang", "zh", "--format", "tsv"], "--lang zh writes lines"),
        (["--references", "neutral.txt"], "--references goes with --format tsv or jsonl"),
    ],
)
def test_a_wrong_call_is_one_sentence(gnt, neutral, capsys, arguments, message):
    before = neutral.read_bytes()
    assert gnt("convert", neutral, *arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
    assert neutral.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "0 bytes"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"The per\xffson\n", "not UTF-8"),
    ],
)
def test_a_file_that_is_no_text_is_refused_by_name(gnt, neutral, capsys, content, message):
    neutral.write_bytes(content)
    assert gnt("convert", neutral) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "neutral.txt" in err


# the comparison


def published(project: Path, gnt, change=lambda lines: lines) -> Path:
    path = project / "all.txt"
    assert gnt("convert", project / "neutral.txt", "--out", path) == 0
    lines = change(path.read_text(encoding="utf-8").splitlines())
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_equal_files_are_equal(gnt, neutral, project, capsys):
    assert gnt("convert", neutral, "--against", published(project, gnt)) == 0
    assert "all.txt: 42 of 42 lines equal (100.0%), 0 differ" in capsys.readouterr().out


def test_a_difference_that_nothing_explains_fails(gnt, neutral, project, capsys):
    path = published(
        project, gnt, lambda lines: [*lines[:15], "The woman is tenacious. Her never gives up.", *lines[16:]]
    )
    assert gnt("convert", neutral, "--against", path) == 1
    out = capsys.readouterr().out
    assert "    1 lines: the conversion's own" in out
    assert "e.g. line 16, woman: ours She | Her published" in out


def test_a_flaw_of_the_published_file_is_one(gnt, neutral, project, capsys):
    path = published(project, gnt, lambda lines: [line.replace("She never gives", "She never give") for line in lines])
    assert gnt("convert", neutral, "--against", path) == 0
    assert "3  flaw of the published file: verb left in the plural" in capsys.readouterr().out


def test_repeated_sentences_are_matched_by_content(gnt, neutral, project, capsys):
    path = published(project, gnt, lambda lines: [*lines[:28], *lines[14:28], *lines[28:]])
    assert gnt("convert", neutral, "--against", path) == 0
    assert "all.txt: 56 of 56 lines equal" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:27], "27 lines, not a multiple of the 14"),
        (lambda lines: lines[:28], "do not pair up"),
        (lambda lines: [f"x{line}" for line in lines], "do not pair up"),
    ],
)
def test_files_that_do_not_pair_up_are_refused_with_their_counts(gnt, neutral, project, capsys, change, message):
    path = published(project, gnt, change)
    capsys.readouterr()
    assert gnt("convert", neutral, "--against", path) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "neutral.txt" in err
    assert "3 lines" in err


def test_the_public_files_as_a_user_sees_them(gnt, shared_data, project, capsys):
    folder = shared_data / "ambgimt"
    assert gnt("convert", folder / f"{STEM}.txt", "--against", folder / f"{STEM}.AllType.txt.corrected") == 0
    out = capsys.readouterr().out
    assert "    0 lines: the conversion's own" in out
    assert "   22  flaw of the published file: plural noun for one person" in out
    zh = (folder / f"{STEM}.hypo.zh", "--lang", "zh", "--against", folder / f"{STEM}.AllType.hypo.zh")
    assert gnt("convert", *zh) == 0
    assert "4178 of 4200 lines equal" in capsys.readouterr().out
