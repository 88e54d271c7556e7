"""Token-by-token generation for a batch: greedy or sampled, bound or free; finished rows leave the batch.

Every row decides for itself, with its own constraint, limit and random numbers, so that its reply does not depend on
the rows beside it (but for rounding in the last digits of the model's own arithmetic).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_gnt.engines.batching import Ids
from pytest_gnt.engines.constraints import Matcher
from pytest_gnt.engines.forward import Forward, Padded
from pytest_gnt.engines.protocol import Decoding

_FIRST_CHOICES = 8
"""How many of the model's choices are tried before the constraint's whole mask is computed."""
_COMPACT_SHARE = 0.75
"""Rows are taken out of the batch when fewer than this share of them still run."""


@dataclass(slots=True, kw_only=True)
class Row:
    """One reply in the making.

    Attributes:
        prompt: the prompt's tokens.
        decoding: temperature, top-p and seed.
        limit: the most new tokens.
        ends: tokens that end a reply.
        matcher: the constraint, or None.
        stopped: told the new tokens, whether the text so far ends the reply; None where only end tokens do.
        new: the reply's tokens, without the end token.
        finish: ``stop`` or ``length`` once it is finished.
    """

    prompt: Ids
    decoding: Decoding
    limit: int
    ends: frozenset[int]
    matcher: Matcher | None = None
    stopped: Callable[[Sequence[int]], bool] | None = None
    new: list[int] = field(default_factory=list)
    finish: Literal["stop", "length"] | None = None

    def take(self, token: int) -> None:
        """Add a token and see whether the reply is finished."""
        if token in self.ends:
            self.finish = "stop"
            return
        self.new.append(token)
        if self.matcher is not None:
            self.matcher.advance(token)
            if self.matcher.complete:
                self.finish = "stop"
        elif self.stopped is not None and self.stopped(self.new):
            self.finish = "stop"
        if self.finish is None and len(self.new) >= self.limit:
            self.finish = "length"


def decode(forward: Forward, rows: Sequence[Row], shared: int, pad: int) -> None:
    """Run a batch to its end; the replies are left in the rows."""
    import torch

    with torch.inference_mode():
        choosers = [_chooser(row) for row in rows]
        logits, cache, batch = forward.start([row.prompt for row in rows], shared, 1)
        running = list(range(len(rows)))
        while True:
            favourites = logits[:, -1].argmax(-1).tolist()
            tokens = [
                pad if rows[i].finish else choosers[i](logits[place, -1], favourites[place])
                for place, i in enumerate(running)
            ]
            for i, token in zip(running, tokens, strict=True):
                if rows[i].finish is None:
                    rows[i].take(token)
            alive = [place for place, i in enumerate(running) if rows[i].finish is None]
            if not alive:
                return
            if forward.plain_state and len(alive) < _COMPACT_SHARE * len(running):
                running, tokens = [running[place] for place in alive], [tokens[place] for place in alive]
                batch = _selected(batch, cache, alive)
            batch = _extended(batch, tokens)
            logits, cache = forward.step(batch, cache, batch.ids.shape[1] - 1)


def _selected(batch: Padded, cache: Any, places: Sequence[int]) -> Padded:
    """Keep some rows of a batch and of its cache."""
    import torch

    keep = torch.tensor(places, dtype=torch.long)
    cache.batch_select_indices(keep)
    keep = keep.to(batch.ids.device)
    return Padded(batch.ids[keep], batch.mask[keep], batch.positions[keep])


def _extended(batch: Padded, tokens: Sequence[int]) -> Padded:
    """Add a column with each row's new token."""
    import torch

    column = torch.tensor(tokens, dtype=torch.long, device=batch.ids.device).unsqueeze(-1)
    return Padded(
        torch.cat([batch.ids, column], -1),
        torch.cat([batch.mask, torch.ones_like(column)], -1),
        torch.cat([batch.positions, batch.positions[:, -1:] + 1], -1),
    )


# --- the choice of one token ---

Chooser = Callable[[Any, int], int]
"""Told a row's logits and the most probable token, names the token to take."""


def _chooser(row: Row) -> Chooser:
    if row.decoding.temperature <= 0:
        return _greedy(row.matcher)
    noise = _noise(row)
    return lambda logits, _favourite: _sampled(logits.float(), row, noise)


def _greedy(matcher: Matcher | None) -> Chooser:
    """The most probable token that the constraint allows."""
    if matcher is None:
        return lambda _logits, favourite: favourite

    def choose(logits: Any, favourite: int) -> int:
        if matcher.allows(favourite):
            return favourite
        for token in logits.topk(min(_FIRST_CHOICES, logits.shape[-1])).indices.tolist():
            if matcher.allows(token):
                return int(token)
        return int(_masked(logits, matcher).argmax())

    return choose


def _sampled(logits: Any, row: Row, noise: Callable[[Any], Any]) -> int:
    """A draw from the softmax: the largest of logits plus Gumbel noise, after the constraint and top-p."""
    if row.matcher is not None:
        logits = _masked(logits, row.matcher)
    logits = logits / row.decoding.temperature
    if row.decoding.top_p < 1:
        logits = _nucleus(logits, row.decoding.top_p)
    return int((logits + noise(logits)).argmax())


def _masked(logits: Any, matcher: Matcher) -> Any:
    return logits.masked_fill(~matcher.mask(logits.shape[-1], logits.device), float("-inf"))


def _nucleus(logits: Any, top_p: float) -> Any:
    """Leave the smallest set of tokens whose probability reaches ``top_p``; the first always stays."""
    ordered, places = logits.sort(descending=True)
    before = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1)
    return logits.masked_fill(logits.new_zeros(logits.shape).bool().scatter(-1, places, before >= top_p), float("-inf"))


def _noise(row: Row) -> Callable[[Any], Any]:
    """Gumbel noise from a generator of the row's own, seeded by the request: neighbours cannot change it."""
    import torch

    content = f"{row.decoding.seed}:{','.join(map(str, row.prompt))}"
    seed = int.from_bytes(hashlib.sha256(content.encode()).digest()[:7])
    generator = torch.Generator().manual_seed(seed)

    def draw(logits: Any) -> Any:
        exponential = torch.empty(logits.shape, dtype=torch.float32).exponential_(generator=generator)
        return -exponential.log().to(logits.device)

    return draw
