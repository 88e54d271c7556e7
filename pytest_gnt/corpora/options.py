"""Settings of a corpus from the user's configuration: checked here, so that each loader gets what it asks for."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_gnt.corpora.source import CorpusSource
from pytest_gnt.errors import GntError


def check_options(source: CorpusSource, known: tuple[str, ...]) -> None:
    """Refuse settings that the loader does not read: a misspelt one would be ignored in silence.

    An unset one (None, or an empty mapping) is no setting.

    Raises:
        GntError: an option is not in ``known``.
    """
    unknown = [name for name, value in source.options.items() if name not in known and value not in (None, {}, ())]
    if unknown:
        raise GntError(
            f"corpus {source.name!r} has no option {', '.join(map(repr, unknown))}; known are {', '.join(known)}"
        )


def text_option(source: CorpusSource, name: str) -> str | None:
    """An option that is a text, or None where it is not set.

    Raises:
        GntError: it is something else.
    """
    value = source.options.get(name)
    if value is None or isinstance(value, str):
        return value
    raise GntError(f"corpus {source.name!r}: the option {name} must be a text, not {value!r}")


def mapping_option(source: CorpusSource, name: str) -> dict[str, str]:
    """An option that maps names to names; empty where it is not set.

    Raises:
        GntError: it is something else.
    """
    value = source.options.get(name)
    if value is None:
        return {}
    if isinstance(value, Mapping) and all(isinstance(item, str) for pair in value.items() for item in pair):
        return dict(value)
    raise GntError(f"corpus {source.name!r}: the option {name} must map names to names, not {value!r}")
