"""Decoding and line ends (what a spreadsheet, another editor or a failed download leaves behind)."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gnt.corpora.textfile import read_text, revision_of, split_lines
from pytest_gnt.errors import GntError

TEXT = "ID\tSRC\n1\tperché no\n2\t他们\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.encode("utf-16"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    ],
    ids=["utf-8", "utf-8 with mark", "utf-16", "utf-16 big-endian"],
)
def test_marked_and_plain_unicode_give_the_same_text(write, data):
    file = read_text(write("a.tsv", data))
    assert file.text == TEXT
    assert file.lines[0] == "ID\tSRC"


def test_another_encoding_is_refused_with_its_first_bad_line(write):
    path = write("old.tsv", "ID\tSRC\n1\tno\n2\tperché\n".encode("cp1252"))
    with pytest.raises(GntError, match=r"old\.tsv is not UTF-8 .*Windows-1252.*first bad line is 3 .*0xE9"):
        read_text(path)


def test_a_chinese_encoding_is_named(write):
    path = write("old.zh", "这个人很固执。\n".encode("gb18030"))
    with pytest.raises(GntError, match=r"GB18030.*first bad line is 1"):
        read_text(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (codecs.BOM_UTF8, "empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "Git LFS pointer"),
        (b"/annex/objects/SHA256E-s5--00\n", "git-annex pointer"),
        (b"<!DOCTYPE html>\n<html></html>", "HTML page"),
        ("a\tb\n".encode("utf-16-le"), "UTF-16 without byte-order mark"),
        ("a\tb\n".encode("utf-32"), "UTF-32"),
        (codecs.BOM_UTF16_LE + b"\x00", "UTF-16 but is broken"),
        (codecs.BOM_UTF16_LE + b"a\x00\x00\xd8b\x00", "UTF-16 but is broken"),
    ],
)
def test_what_is_no_text_file_is_refused_by_name(write, data, message):
    with pytest.raises(GntError, match=message) as caught:
        read_text(write("this-file.txt", data))
    assert "this-file.txt" in str(caught.value)


def test_missing_file_and_folder_are_refused(tmp_path):
    with pytest.raises(GntError, match="does not exist"):
        read_text(tmp_path / "nowhere.txt")
    with pytest.raises(GntError, match="is a folder"):
        read_text(tmp_path)


def test_only_line_feeds_end_lines():
    text = "The usher\u2028smiled.\nDoors\x85 shut.\x0c\nEnd\x1cof act.\rsame row\n"
    assert split_lines(text) == ["The usher\u2028smiled.", "Doors\x85 shut.\x0c", "End\x1cof act.\rsame row"]


@pytest.mark.parametrize("text", ["a\nb\n", "a\r\nb\r\n", "a\r\nb\n", "a\nb", "a\r\nb"])
def test_mixed_and_missing_line_ends(text):
    assert split_lines(text) == ["a", "b"]


def test_blank_lines_keep_their_place():
    assert split_lines("\na\n\n\nb\n\n") == ["", "a", "", "", "b", ""]


LINE = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))


@given(st.lists(LINE, min_size=1))
def test_lines_survive_writing_and_reading(lines):
    lines = [line.removesuffix("\r") for line in lines]
    assert split_lines("".join(f"{line}\n" for line in lines)) == lines
    assert split_lines("".join(f"{line}\r\n" for line in lines)) == lines


def test_revision_depends_on_content_and_not_on_order_or_folder(write):
    one, two = read_text(write("x/a", "1\n")), read_text(write("x/b", "2\n"))
    elsewhere, other = read_text(write("y/a", "1\n")), read_text(write("y/b", "3\n"))
    assert revision_of([one, two]) == revision_of([two, elsewhere])
    assert revision_of([one, two]) != revision_of([one, other])
    assert len(revision_of([one])) == 12
