"""AmbGIMT: fourteen identities, one sentence: the identity stays, and no one is described more harshly."""

from pytest_gnt import NON_BINARY, assert_attitude_kept, assert_comet_gap, assert_identity_kept, cases


@cases("ambgimt")
def test_identity_is_kept(translation, quality):
    assert_identity_kept(translation)


@cases("ambgimt")
def test_attitude_is_kept(attitude):
    assert_attitude_kept(attitude)


@cases("ambgimt", identities=NON_BINARY, metrics=["comet", "xcomet", "cometkiwi"])
def test_comet_gap_is_small(quality, pair):
    assert_comet_gap(quality, pair)
