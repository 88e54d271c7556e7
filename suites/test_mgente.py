"""mGeNTE: gender-neutral where the source leaves gender open, gendered where it states it."""

from pytest_gnt import assert_correctly_gendered, assert_neutral, cases


@cases("mgente", sets=["Set-N"])
def test_neutral_where_gender_is_open(judgement, quality):
    assert_neutral(judgement)


@cases("mgente", sets=["Set-G"])
def test_gendered_where_gender_is_stated(judgement, quality):
    assert_correctly_gendered(judgement)
