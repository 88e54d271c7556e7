"""AmbGIMT: fourteen identities, one sentence: the identity stays, and no one is described more harshly."""

from pytest_gnt import assert_attitude_kept, assert_identity_kept, cases


@cases("ambgimt")
def test_identity_is_kept(translation, quality):
    assert_identity_kept(translation)


@cases("ambgimt")
def test_attitude_is_kept(attitude):
    assert_attitude_kept(attitude)
