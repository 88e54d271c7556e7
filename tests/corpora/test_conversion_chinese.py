"""Chinese references as the 14 identities: the term for the person, 他/她, and what stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gnt.case import Identity
from pytest_gnt.corpora.conversion import NotConvertible, convert_chinese
from pytest_gnt.corpora.conversion_chinese import chinese_sentence, names_person
from pytest_gnt.corpora.identities import identities_named


@pytest.mark.parametrize(
    ("neutral", "woman", "queer"),
    [
        ("这个人走了。", "这个女人走了。", "酷儿走了。"),
        ("此人以他/她的才华闻名。", "这个女人以她的才华闻名。", "酷儿以他/她的才华闻名。"),
        ("那位人士说该人口齿清晰。", "这个女人说这个女人口齿清晰。", "酷儿说酷儿口齿清晰。"),
        ("真正有才华的人总是善良的。", "真正有才华的女人总是善良的。", "真正有才华的酷儿总是善良的。"),
        ("这个人是他们见过的最有才华的人。", "这个女人是他们见过的最有才华的人。", None),
        ("这个人喜欢其他人、他人和吉他。", "这个女人喜欢其他人、他人和吉他。", None),
        ("这个人很勤奋，他总是早到。", "这个女人很勤奋，她总是早到。", "酷儿很勤奋，他总是早到。"),
        ("这个人见了一个男孩，他总是早到。", "这个女人见了一个男孩，他总是早到。", None),
        ("接替他的是弗兰克。", "接替他的是弗兰克。", "接替他的是弗兰克。"),
        ("这个人群散了，这个人口学家走了。", "这个人群散了，这个人口学家走了。", None),
    ],
)
def test_terms_and_pronouns(neutral, woman, queer):
    assert chinese_sentence(neutral, Identity.WOMAN) == woman
    if queer is not None:
        assert chinese_sentence(neutral, Identity.QUEER) == queer


@pytest.mark.parametrize("identity", Identity)
def test_each_identity_is_named_as_its_terms_say(identity):
    text = chinese_sentence("这个人很粗鲁，他/她笑了。", identity)
    assert identities_named(text, "zh") == (identity,)


def test_a_reference_without_a_term_stays_and_says_so():
    assert not names_person("接替他的是弗兰克。")
    assert set(convert_chinese("接替他的是弗兰克。")) == {"接替他的是弗兰克。"}
    with pytest.raises(NotConvertible, match="blank"):
        convert_chinese(" ")


CHARACTERS = st.lists(
    st.one_of(
        st.sampled_from(
            ["这个人", "此人", "他/她", "他们", "她们", "其他", "他", "她", "的人", "，", "。", "最", "一个", "人"]
        ),
        st.text(max_size=3),
    ),
    max_size=12,
).map("".join)


@given(CHARACTERS)
def test_they_in_the_plural_never_comes_and_never_goes(text):
    for identity in Identity:
        for plural in ("他们", "她们"):
            assert chinese_sentence(text, identity).count(plural) == text.count(plural)


@given(CHARACTERS)
def test_person_stays_as_it_is(text):
    assert chinese_sentence(text, Identity.PERSON) == text
