"""How encoder-decoder models name languages: NLLB-200's FLORES-200 codes, and MarianMT's target tokens."""

from __future__ import annotations

from pytest_gnt.errors import GntError

NLLB_CODES: dict[str, str] = {
    "ar": "arb_Arab",
    "bg": "bul_Cyrl",
    "ca": "cat_Latn",
    "cs": "ces_Latn",
    "da": "dan_Latn",
    "de": "deu_Latn",
    "el": "ell_Grek",
    "en": "eng_Latn",
    "es": "spa_Latn",
    "et": "est_Latn",
    "fi": "fin_Latn",
    "fr": "fra_Latn",
    "gl": "glg_Latn",
    "he": "heb_Hebr",
    "hi": "hin_Deva",
    "hr": "hrv_Latn",
    "hu": "hun_Latn",
    "id": "ind_Latn",
    "it": "ita_Latn",
    "ja": "jpn_Jpan",
    "ko": "kor_Hang",
    "lt": "lit_Latn",
    "lv": "lvs_Latn",
    "nl": "nld_Latn",
    "no": "nob_Latn",
    "pl": "pol_Latn",
    "pt": "por_Latn",
    "ro": "ron_Latn",
    "ru": "rus_Cyrl",
    "sk": "slk_Latn",
    "sl": "slv_Latn",
    "sr": "srp_Cyrl",
    "sv": "swe_Latn",
    "tr": "tur_Latn",
    "uk": "ukr_Cyrl",
    "vi": "vie_Latn",
    "zh": "zho_Hans",
    "zh-hans": "zho_Hans",
    "zh-hant": "zho_Hant",
    "zh-tw": "zho_Hant",
}
"""FLORES-200 codes by our codes (lower case)."""


def nllb_code(lang: str) -> str:
    """The FLORES-200 code of a language; such a code itself is taken as it is.

    Raises:
        GntError: the language is not in the table.
    """
    if len(lang) == 8 and lang[3] == "_":
        return lang
    code = NLLB_CODES.get(lang.replace("_", "-").lower())
    if code is None:
        raise GntError(f"no FLORES-200 code is known for the language {lang!r}; name it by such a code, e.g. ita_Latn")
    return code


def marian_tokens(lang: str) -> tuple[str, ...]:
    """Tokens that a multilingual MarianMT model may know for a target language, the likeliest first.

    Which of them a checkpoint has is found by looking into its vocabulary; a model for one pair has none.
    """
    code = lang.replace("_", "-").lower()
    three, _, script = nllb_code(lang).partition("_")
    names = [code, three, f"{three}_{script}"]
    if three == "zho":
        names = [f"cmn_{script}", *names]
    return tuple(dict.fromkeys(f">>{name}<<" for name in names))
