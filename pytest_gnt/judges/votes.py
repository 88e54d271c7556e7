"""Several votes on one translation, decided by a k-of-n rule that is set before the first one is cast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Judgement, Reason, Translation
from pytest_gnt.judges.llm import LlmJudge
from pytest_gnt.work import Answer, JsonObject, Work

DIVIDED = "divided-vote"


@dataclass(frozen=True, slots=True)
class Ballot:
    """One vote on one translation; ``repeat`` counts from 0."""

    translation: Translation
    repeat: int


class Panel:
    """A judge asked several times. It is a `Provider[Ballot, Judgement]`: each vote is stored under its repeat index,
    so that more votes later only need the further ones.

    Args:
        judge: its decoding must vary (temperature above 0), or all votes are the same.
        votes: how many are cast on each translation.
        needed: how many equal ones decide; more than half of ``votes``, so that two labels cannot both win.

    Raises:
        GntError: such a rule cannot decide anything.
    """

    stage = "judge"

    def __init__(self, judge: LlmJudge, votes: int, needed: int | None = None) -> None:
        self.judge = judge
        self.votes = votes
        self.needed = votes // 2 + 1 if needed is None else needed
        self.batch_size = judge.batch_size
        if not votes / 2 < self.needed <= votes:
            raise GntError(f"votes = {votes}, votes_needed = {self.needed}: more than half of the votes must be needed")

    def ballots(self, translations: Sequence[Translation]) -> list[Ballot]:
        """Every vote to be cast, those on one translation together."""
        return [Ballot(translation, repeat) for translation in translations for repeat in range(self.votes)]

    def verdicts(self, ballots: Sequence[Judgement]) -> list[Judgement]:
        """One judgement a translation, from the votes in the order of `ballots`."""
        return [self.decide(ballots[start : start + self.votes]) for start in range(0, len(ballots), self.votes)]

    def decide(self, votes: Sequence[Judgement]) -> Judgement:
        """The judgement of the votes on one translation: the label that enough of them have, else unscored.

        Votes that could not be read count for no label. Phrases and raw reply are those of the first vote that won.
        """
        cast = tuple(vote.votes[0] if vote.votes else str(vote.reason) for vote in votes)
        labels = Counter(vote.label for vote in votes if vote.label is not None)
        label, count = labels.most_common(1)[0] if labels else (None, 0)
        flags = dict.fromkeys(flag for vote in votes for flag in vote.flags)
        if len(set(cast)) > 1:
            flags[DIVIDED] = None
        if count >= self.needed:
            first = next(vote for vote in votes if vote.label == label)
            return replace(first, votes=cast, flags=tuple(flags))
        unread = next((vote for vote in votes if vote.label is None), None)
        if not labels and unread is not None:
            return replace(unread, votes=cast, flags=tuple(flags))
        tally = ", ".join(f"{name} {times}" for name, times in Counter(cast).most_common())
        return replace(
            votes[0],
            label=None,
            reason=Reason.SPLIT_VOTE,
            detail=f"no label has {self.needed} of {self.votes} votes: {tally}",
            votes=cast,
            flags=tuple(flags),
        )

    def work(self, subject: Ballot) -> Work:
        """See `LlmJudge.work`."""
        return self.judge.work(subject.translation, subject.repeat)

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        """See `LlmJudge.run`."""
        return self.judge.run(works)

    def read(self, subject: Ballot, answer: JsonObject) -> Judgement:
        """One vote."""
        return self.judge.read(subject.translation, answer)

    def close(self) -> None:
        """Close the engine."""
        self.judge.close()

    @property
    def movable(self) -> bool:
        """As the judge is."""
        return self.judge.movable

    @property
    def notes(self) -> tuple[str, ...]:
        """See `LlmJudge.notes`."""
        return self.judge.notes
