"""Emotional attitude of words and how it moves in translation (EAS, AmbGIMT): scores, zero points, alignment, rates."""

from pytest_gnt.metrics.attitude.recorded import RecordedScorer
from pytest_gnt.metrics.attitude.scorer import STAGE, AttitudeScorer
from pytest_gnt.metrics.attitude.shift import (
    ShiftRates,
    attitude_of,
    shift_bias_interval,
    shift_bias_rate,
    shift_rates,
)
from pytest_gnt.metrics.attitude.template import Template, Templates, languages, template
from pytest_gnt.metrics.attitude.word import WordQuery, WordScore
from pytest_gnt.metrics.attitude.zero import Calibration, calibrate, calibration_queries, centred, zero_point

__all__ = [
    "STAGE",
    "AttitudeScorer",
    "Calibration",
    "RecordedScorer",
    "ShiftRates",
    "Template",
    "Templates",
    "WordQuery",
    "WordScore",
    "attitude_of",
    "calibrate",
    "calibration_queries",
    "centred",
    "languages",
    "shift_bias_interval",
    "shift_bias_rate",
    "shift_rates",
    "template",
    "zero_point",
]
