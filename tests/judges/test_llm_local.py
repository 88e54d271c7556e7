"""The judge on a tiny real model in this process: bound to the schema, compiled once, read or unscored."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from llm_scripts import translation

from pytest_gnt.engines.protocol import Decoding
from pytest_gnt.evidence import Reason
from pytest_gnt.judges.llm import LlmJudge
from pytest_gnt.judges.prompting import ShippedPrompts
from pytest_gnt.judges.settings import Setting

pytest.importorskip("transformers")
pytest.importorskip("outlines_core")


@pytest.fixture(scope="module")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.tiny_models import save_llama

    return save_llama(tmp_path_factory.mktemp("judge") / "llama", window=16384)


@pytest.mark.parametrize("setting", [Setting.CROSS_PL, Setting.CROSS_L])
def test_replies_are_bound_to_the_schema(tiny_llama: Path, setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from pytest_gnt.engines.constraints import Compiler
    from pytest_gnt.engines.transformers_causal import CausalGenerator

    torch.set_num_threads(1)
    compiled: list[object] = []
    compile_ = Compiler._compile
    monkeypatch.setattr(
        Compiler, "_compile", lambda self, constraint: (compiled.append(constraint), compile_(self, constraint))[1]
    )
    engine = CausalGenerator(str(tiny_llama), dtype="float32", device="cpu", batch_size=8)
    judge = LlmJudge(engine, ShippedPrompts(setting), decoding=Decoding(max_tokens=160), batch_size=8)
    subjects = [translation(f"Chi legge pagina {number}.", number=number) for number in range(8)]
    works = [judge.work(subject) for subject in subjects]
    judgements = []
    for start in (0, 4):
        answers = dict(judge.run(works[start : start + 4]))
        for place, answer in answers.items():
            for attempt in answer.value["attempts"]:
                if attempt["finish_reason"] != "length":
                    assert json.loads(attempt["text"])["label"] in ("CORRECTLY GENDERED", "WRONGLY GENDERED", "NEUTRAL")
            judgements.append(judge.read(subjects[start + place], answer.value))
    judge.close()
    assert len(compiled) == 1, "the schema is compiled once a run"
    reasons = Counter(judgement.reason for judgement in judgements)
    assert len(judgements) == 8
    assert set(reasons) <= {None, Reason.TRUNCATED, Reason.CONTRADICTION}, reasons
    if setting is Setting.CROSS_L:
        assert set(reasons) == {None}, "a label alone always fits"
