"""The four settings of the LLM judge (Piergentili et al. 2025, arXiv 2504.11934)."""

from __future__ import annotations

from enum import StrEnum


class Setting(StrEnum):
    """What a judge is shown, and what it has to write.

    ``mono`` shows the translation alone and knows two labels, ``cross`` shows the source as well and knows three. ``l``
    asks for the label alone, ``p+l`` for annotated phrases before the label.
    """

    MONO_L = "mono-l"
    MONO_PL = "mono-p+l"
    CROSS_L = "cross-l"
    CROSS_PL = "cross-p+l"

    @property
    def sees_source(self) -> bool:
        return self in (Setting.CROSS_L, Setting.CROSS_PL)

    @property
    def has_phrases(self) -> bool:
        return self in (Setting.MONO_PL, Setting.CROSS_PL)

    @property
    def file_name(self) -> str:
        """How the published files spell it: ``cross-p_l``."""
        return self.value.replace("+", "_")


DEFAULT_SETTING = Setting.CROSS_PL
