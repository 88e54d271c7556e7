"""A text file of a corpus: decoded once, by rule, and cut into lines at LF and CRLF only.

Source and reference files go through the same functions, so both sides are always counted by the same rule.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_gnt.errors import GntError

REVISION_DIGITS = 12
"""Hex digits of a revision: enough to tell versions of a file apart, short enough to be read in a signature."""

_UTF32_BOMS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_UTF16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_POINTER_STARTS = (
    (b"version https://git-lfs.github.com/spec/", "only a Git LFS pointer (run `git lfs pull`)"),
    (b"/annex/objects/", "only a git-annex pointer (run `git annex get`)"),
    (b"<!doctype html", "an HTML page (the download gave a web page, often a log-in page)"),
    (b"<html", "an HTML page (the download gave a web page, often a log-in page)"),
)


@dataclass(frozen=True)
class TextFile:
    """A decoded file.

    Attributes:
        path: where it lies.
        text: its content without byte-order mark, otherwise untouched.
        encoding: ``utf-8``, ``utf-8-sig`` or ``utf-16``.
        digest: SHA-256 of the bytes, in hex.
    """

    path: Path
    text: str
    encoding: str
    digest: str

    @property
    def name(self) -> str:
        """The file's name without folders, for messages about its lines."""
        return self.path.name

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines, see `split_lines`."""
        return tuple(split_lines(self.text))


def read_text(path: Path) -> TextFile:
    """Read and decode one file.

    UTF-8 with or without byte-order mark and UTF-16 with one are read. Nothing else is guessed at: a wrong guess would
    put garbled words into prompts.

    Raises:
        GntError: the file is missing, unreadable, empty, a pointer or web page instead of data, or in another encoding.
    """
    data = _read_bytes(path)
    if data.startswith(_UTF32_BOMS):
        raise GntError(f"{path} is encoded as UTF-32; save it as UTF-8")
    encoding = (
        "utf-16" if data.startswith(_UTF16_BOMS) else "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    )
    _refuse_placeholders(path, data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise GntError(_undecodable(path, data, encoding, error.start)) from None
    if not text:
        raise GntError(f"{path} is empty (it holds a byte-order mark only); replace it by the real file")
    return TextFile(path=path, text=text, encoding=encoding, digest=hashlib.sha256(data).hexdigest())


def split_lines(text: str) -> list[str]:
    r"""Cut a text at LF and CRLF.

    U+2028, U+0085, form feeds, file separators and a lone CR are text, not line ends (`str.splitlines` would cut there
    and shift every later pair). A last line without line end counts; nothing follows the last line end.
    """
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if "\r" in text:
        return [line.removesuffix("\r") for line in lines]
    return lines


def revision_of(files: Iterable[TextFile]) -> str:
    """Hash of the names and bytes of files, independent of their order and folder."""
    summary = hashlib.sha256()
    for name, digest in sorted((file.name, file.digest) for file in files):
        summary.update(f"{name}\0{digest}\n".encode())
    return summary.hexdigest()[:REVISION_DIGITS]


def _read_bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise GntError(f"{path} does not exist; check the path or the folder given by --gnt-data") from None
    except IsADirectoryError:
        raise GntError(f"{path} is a folder; a file is needed here") from None
    except OSError as error:
        raise GntError(f"{path} cannot be read: {error.strerror or error}") from None
    if not data:
        raise GntError(f"{path} is empty (0 bytes); replace it by the real file")
    return data


def _refuse_placeholders(path: Path, data: bytes) -> None:
    head = data[:200].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for start, what in _POINTER_STARTS:
        if head.startswith(start):
            raise GntError(f"{path} is {what}; replace it by the real file")
    sample = data[:4096]
    # UTF-16 without its mark is valid UTF-8 full of NULs as long as the text is ASCII.
    if not data.startswith(_UTF16_BOMS) and sample.count(0) * 4 > len(sample):
        raise GntError(f"{path} looks like UTF-16 without byte-order mark; save it as UTF-8")


def _undecodable(path: Path, data: bytes, encoding: str, start: int) -> str:
    if encoding == "utf-16":
        return f"{path} starts with the mark of UTF-16 but is broken at byte {start}; save it as UTF-8"
    line = data.count(b"\n", 0, start) + 1
    start_of_line = data.rfind(b"\n", 0, start) + 1
    excerpt = data[max(start_of_line, start - 30) : start + 20].split(b"\n")[0]
    return (
        f"{path} is not UTF-8 but probably {_likely_encoding(data)}: the first bad line is {line} "
        f"(byte 0x{data[start]:02X} in {excerpt!r}); convert the file to UTF-8"
    )


def _likely_encoding(data: bytes) -> str:
    """Name an encoding for the message only; nothing is ever decoded with it."""
    high = sum(byte > 0x7F for byte in data[:100_000])
    if high * 3 > min(len(data), 100_000):
        for name in ("gb18030", "big5"):
            try:
                data.decode(name)
            except UnicodeDecodeError:
                continue
            return name.upper()
    return "Windows-1252 or another 8-bit encoding"
