"""What became of a word of the source in the translation."""

from pytest_gnt.metrics.alignment.awesome import AwesomeAligner
from pytest_gnt.metrics.alignment.lexicon import LexiconAligner
from pytest_gnt.metrics.alignment.pair import STAGE, Aligner, Alignment, SentencePair
from pytest_gnt.metrics.alignment.targets import targets
from pytest_gnt.metrics.alignment.tokens import Segmentation, Token

__all__ = [
    "STAGE",
    "Aligner",
    "Alignment",
    "AwesomeAligner",
    "LexiconAligner",
    "Segmentation",
    "SentencePair",
    "Token",
    "targets",
]
