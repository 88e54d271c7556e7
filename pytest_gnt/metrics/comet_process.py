"""The running COMET worker, seen from the product's side: samples in, scores out, and every way it can fail named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_gnt.errors import EngineFailure
from pytest_gnt.metrics.comet_runtime import Installed, message, worker_argv
from pytest_gnt.translators.line_process import LineProcess, deadline, remaining
from pytest_gnt.work import canonical_json

Sample = Mapping[str, str]

MAX_ERROR = 400
MAX_NOISE = 200
"""Lines outside of the protocol that are put up with, such as a banner of a wrapper script."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The worker's answer for one sample.

    Attributes:
        score: as the model gives it, usually 0 to 1; None where it is not finite or there is an ``error``.
        cut: parts that were longer than the encoder's window and were cut (``src``, ``mt``, ``ref``), and ``together``
            where the parts fit one by one only.
        error: why this one sample could not be scored.
    """

    score: float | None
    cut: tuple[str, ...] = ()
    error: str = ""


class CometProcess:
    """A worker with a loaded model.

    Args:
        timeout: seconds without any answer after which the worker is taken to hang; loading counts, too.

    Raises:
        EngineFailure: the worker cannot be started, or ends or hangs before the model is loaded.
    """

    def __init__(self, model: Installed, *, device: str, batch_size: int, offline: bool, timeout: float) -> None:
        options = {"checkpoint": model.checkpoint, "device": device, "batch_size": batch_size, "offline": offline}
        self._timeout = timeout
        self._noise = 0
        self._process = LineProcess(
            worker_argv(model.python, "score", options),
            env={"TOKENIZERS_PARALLELISM": "false", "PYTHONUNBUFFERED": "1"},
        )
        try:
            ready = self._next("loading the model")
            if ready["gnt"] != "ready" or not isinstance(ready.get("window"), int):
                raise _garbled(ready)
        except BaseException:
            self.close()
            raise
        self.window: int = ready["window"]
        """Tokens that the encoder takes at once."""

    def score(self, samples: Sequence[Sample]) -> Iterator[tuple[int, Scored]]:
        """Each sample's place and score, in the order in which they are done.

        Raises:
            EngineFailure: the worker ended, hangs, or says what it must not; what came before is valid.
        """
        self._process.send([canonical_json({"samples": [dict(sample) for sample in samples]}).encode("ascii")])
        missing = set(range(len(samples)))
        while missing:
            answer = self._next(f"{len(missing)} of {len(samples)} open")
            place = answer.get("place")
            if answer["gnt"] != "score" or not isinstance(place, int) or place not in missing:
                raise _garbled(answer)
            missing.remove(place)
            yield place, _scored(answer)

    def close(self) -> None:
        """End the worker."""
        self._process.close()

    def _next(self, doing: str) -> dict[str, Any]:
        moment = deadline(self._timeout)
        while True:
            try:
                line = self._process.receive(remaining(moment))
            except TimeoutError:
                raise EngineFailure(
                    f"the COMET worker has not answered for {self._timeout:g} s ({doing}); "
                    "raise timeout in [comet.NAME] where that is too short"
                ) from None
            if line is None:
                raise EngineFailure(f"the COMET worker {self._process.how_it_ended()} ({doing})")
            answer = message(line)
            if answer is not None and answer["gnt"] == "failed":
                raise EngineFailure(f"the COMET worker failed ({doing}): {str(answer.get('error'))[:MAX_ERROR]}")
            if answer is not None:
                return answer
            self._noise += 1
            if self._noise > MAX_NOISE:
                raise EngineFailure(
                    f"the program run as COMET worker prints what is not its protocol, last {line[:80]!r}; "
                    "check the interpreter's path"
                )


def _scored(answer: Mapping[str, Any]) -> Scored:
    score, cut, error = answer.get("score"), answer.get("cut", []), answer.get("error", "")
    sound = (
        (score is None or (isinstance(score, float | int) and not isinstance(score, bool) and abs(score) < 1e6))
        and isinstance(cut, list)
        and all(isinstance(part, str) for part in cut)
        and isinstance(error, str)
    )
    if not sound:
        raise _garbled(answer)
    return Scored(float(score) if score is not None else None, tuple(cut), error)


def _garbled(answer: Mapping[str, Any]) -> EngineFailure:
    return EngineFailure(f"the COMET worker broke its protocol: {str(dict(answer))[:120]}")
