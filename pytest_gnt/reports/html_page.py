"""The frame of every HTML page of the product: templates, security policy, style and script, all in one file.

A page holds no markup but that of the templates. Values are escaped by jinja2 and, before that, made visible
(`shown`); the security policy allows exactly the style and the script of this package, by their hashes, no connection
and no way to turn text into markup.
"""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from pytest_gnt.errors import GntError
from pytest_gnt.reports import html_text
from pytest_gnt.reports.charts import position

TEMPLATES = Path(__file__).parent / "templates"

EARLY = ("early",)
SCRIPTS = ("core", "data", "text", "diff", "filters", "table", "detail", "csv", "main")
STYLES = ("base", "charts", "cases")


@cache
def environment() -> jinja2.Environment:
    """The templates' environment: everything escaped, nothing undefined."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters |= {"num": html_text.number, "percent": html_text.percent, "spoken": html_text.spoken, "pos": position}
    return env


def _visible(value: Any) -> Any:
    return html_text.shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def render(template: str, context: Mapping[str, Any], blocks: Iterable[str] = ()) -> Iterator[str]:
    """Render a page piece by piece.

    Args:
        template: name of a template that extends ``page.html``.
        context: its values.
        blocks: pieces of markup made by `html_data.BlockWriter`, put in before the script.
    """
    style, early, script = _joined("style", STYLES, "css"), _joined("app", EARLY, "js"), _joined("app", SCRIPTS, "js")
    # Nothing in the values can know the mark, so nothing in them can move the blocks.
    mark = f"<!--{secrets.token_hex(16)}-->"
    page = (
        environment()
        .get_template(template)
        .render(
            **context,
            style=Markup(style),  # noqa: S704 - files of this package
            early=Markup(early),  # noqa: S704
            script=Markup(script),  # noqa: S704
            policy=policy(style, early, script),
            blocks=Markup(mark),  # noqa: S704
        )
    )
    before, _, after = page.partition(mark)
    yield before
    yield from blocks
    yield after


def policy(style: str, *scripts: str) -> str:
    """The content security policy of a page with this style and these scripts."""
    allowed = " ".join(f"'{_hash(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src '{_hash(style)}'; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


@cache
def _joined(folder: str, names: tuple[str, ...], ending: str) -> str:
    return "\n" + "\n".join((TEMPLATES / folder / f"{name}.{ending}").read_text(encoding="utf-8") for name in names)


def write_file(path: Path, pieces: Iterable[str]) -> Path:
    """Write a text file; it appears whole or not at all.

    Raises:
        GntError: it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(pieces)
        temporary.replace(path)
    except OSError as error:
        raise GntError(f"{path} cannot be written: {error.strerror or error}. Choose another report folder.") from error
    finally:
        temporary.unlink(missing_ok=True)
    return path
