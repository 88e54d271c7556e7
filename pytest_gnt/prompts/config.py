"""Which parts a prompt is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from pytest_gnt.errors import GntError

Configuration = Literal["none", "G", "S", "G+S"]
ShotCount = Literal[0, 2, 4]
PromptConstraint = Literal["none", "moral", "lexical", "moral+lexical"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptConfig:
    """One point of the grid of prompts.

    Attributes:
        configuration: ``G`` adds the guidelines for gender-neutral language, ``S`` the system prompt (Savoldi et al.
            2025). The preamble, which asks for the form of the reply, is always there.
        shots: worked examples; half of them gendered, half neutral where a label is asked for.
        constraint: what an AmbGIMT prompt asks for beside the translation: the same respect for everybody (``moral``),
            fixed terms for the identities (``lexical``). Prompts that ask for a label have no such constraint.

    Raises:
        GntError: a value outside its list.
    """

    configuration: Configuration = "none"
    shots: ShotCount = 4
    constraint: PromptConstraint = "none"

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("prompt", self.configuration, get_args(Configuration)),
            ("shots", self.shots, get_args(ShotCount)),
            ("constraint", self.constraint, get_args(PromptConstraint)),
        ):
            if value not in allowed:
                raise GntError(f"{name} = {value!r} is not known; choose one of {', '.join(map(str, allowed))}")

    @property
    def guidelines(self) -> bool:
        return "G" in self.configuration

    @property
    def system(self) -> bool:
        return "S" in self.configuration

    @property
    def moral(self) -> bool:
        return "moral" in self.constraint

    @property
    def lexical(self) -> bool:
        return "lexical" in self.constraint
