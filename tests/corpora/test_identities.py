"""Which identity a text names; terms nest."""

from __future__ import annotations

import pytest

from pytest_gnt.case import Identity
from pytest_gnt.corpora.identities import has_terms, identities_named, identity_terms


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("性别酷儿走了。", [Identity.GENDERQUEER]),
        ("酷儿走了。", [Identity.QUEER]),
        ("双性人走了。", [Identity.INTERSEX]),
        ("双性恋者走了。", [Identity.BISEXUAL]),
        ("跨性别女性走了。", [Identity.TRANS_WOMAN]),
        ("跨性别男性走了。", [Identity.TRANS_MAN]),
        ("跨性别者走了。", [Identity.TRANSGENDER]),
        ("女同性恋者和男同性恋者走了。", [Identity.LESBIAN, Identity.GAY]),
        ("这个女人走了，女人没有回来，这个人也是。", [Identity.WOMAN, Identity.PERSON]),
        ("雌雄同体者走了。", [Identity.ANDROGYNOUS]),
        ("顺性别者走了。", [Identity.CISGENDER]),
        ("跨性別女性走了。", [Identity.TRANS_WOMAN]),
        ("有才华的人走了。", []),
        ("", []),
    ],
)
def test_the_longest_term_counts(text, named):
    assert identities_named(text, "zh") == tuple(named)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("The woman left.", [Identity.WOMAN]),
        ("The trans woman and the Trans Man left.", [Identity.TRANS_WOMAN, Identity.TRANS_MAN]),
        ("The genderqueer left.", [Identity.GENDERQUEER]),
        ("A superman and his manager, the chairperson.", []),
    ],
)
def test_english_terms_are_whole_words(text, named):
    assert identities_named(text, "en") == tuple(named)


@pytest.mark.parametrize(
    ("lang", "text", "named"),
    [
        ("de", "Die Transfrau und der schwule Mann trafen androgyne Personen.", ["trans woman", "gay", "androgynous"]),
        ("de", "Frauenarzt und Mannschaft", []),
        ("es", "Una mujer trans conoció a la persona bisexual y a un gay.", ["trans woman", "bisexual", "gay"]),
        ("fr", "L'homme trans et la personne intersexe sont partis.", ["trans man", "intersex"]),
        ("it", "L'uomo transgender e la persona androgina.", ["trans man", "androgynous"]),
        ("pt", "A mulher trans e a lésbica.", ["trans woman", "lesbian"]),
        ("ja", "トランスジェンダーの女性は彼女の友達です。", ["trans woman"]),
        ("ru", "У трансгендерной женщины и у бисексуала.", ["trans woman", "bisexual"]),
        ("ar", "المرأة المتحولة جنسيًا والرجل", ["trans woman", "man"]),
        ("es", "la mujer\u00a0trans", ["trans woman"]),
    ],
)
def test_other_languages_nest_and_inflect(lang, text, named):
    assert [identity.value for identity in identities_named(text, lang)] == named


@pytest.mark.parametrize("lang", ["en", "zh", "ar", "de", "es", "fr", "it", "ja", "pt", "ru"])
def test_every_identity_has_terms_and_each_term_names_it_alone(lang):
    for identity in Identity:
        terms = identity_terms(identity, lang)
        assert terms
        for term in terms:
            assert identities_named(term, lang) == (identity,), term


def test_an_unknown_language_is_no_silent_nothing():
    assert not has_terms("xx")
    with pytest.raises(ValueError, match="no identity terms for 'xx'; there are ar, de, en, "):
        identities_named("text", "xx")


def test_the_public_references_name_their_identity(shared_data):
    path = shared_data / "ambgimt" / "DictExample_convert_sents.AllType.hypo.zh"
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    blocks = [lines[start : start + 14] for start in range(0, len(lines), 14)]
    telling = [block for block in blocks if len(set(block)) > 1]
    missed = [
        (identity, text)
        for block in telling
        for identity, text in zip(Identity, block, strict=True)
        if identity not in identities_named(text, "zh")
    ]
    assert len(telling) == 293
    # Three neutral references speak of "one who …" only.
    assert [identity for identity, _ in missed] == [Identity.PERSON] * 3
