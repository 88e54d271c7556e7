"""A causal language model as a translator: prompts in, raw replies stored, translations read from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from pytest_gnt.case import Case
from pytest_gnt.engines.protocol import Constraint, Decoding, GenerationRequest, Generator, Message
from pytest_gnt.evidence import Translation
from pytest_gnt.prompts.builder import PromptBuilder
from pytest_gnt.prompts.reply import read_reply
from pytest_gnt.translators.stage import STAGE, VERSION, store_reply, stored_reply
from pytest_gnt.work import Answer, Context, JsonObject, Work


class PromptedTranslator:
    """A `Provider[Case, Translation]` for any `Generator`.

    Cases that expect a form (mGeNTE) are asked for a label and a translation, the others for the translation alone.

    Args:
        generator: the engine; owned, and closed by `close`.
        prompts: the prompts of one configuration.
        decoding: how replies are generated.
        constrain: bind replies to the asked form while they are generated, where the engine can.
        batch_size: cases that one commit of the store covers.
    """

    stage = STAGE

    def __init__(
        self,
        generator: Generator,
        prompts: PromptBuilder,
        *,
        decoding: Decoding | None = None,
        constrain: bool = True,
        batch_size: int = 64,
    ) -> None:
        self.batch_size = batch_size
        self._generator = generator
        self._prompts = prompts
        self._decoding = decoding or Decoding()
        self._constrain = constrain
        self._contexts: dict[tuple[str, bool], tuple[Context, Constraint | None]] = {}

    @property
    def movable(self) -> bool:
        """As the engine is."""
        return bool(getattr(self._generator, "movable", False))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the prompts."""
        return self._prompts.notes

    def work(self, subject: Case) -> Work:
        """One request. Equal sentences with equal prompts are one request, whatever their ids."""
        context, constraint = self._context(subject)
        user = self._prompts.user_turn(subject)
        request = GenerationRequest(
            prefix=self._prefix(subject), user=user, constraint=constraint, decoding=self._decoding
        )
        return Work(context, {"user": user}, request)

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        """See `Provider`. Transport errors, refusals and filtered replies are not kept: another run asks again."""
        for index, reply in self._generator.generate([work.payload for work in works]):
            yield index, store_reply(reply)

    def read(self, subject: Case, answer: JsonObject) -> Translation:
        """The translation, or the reason why the reply holds none."""
        reply = stored_reply(answer)
        return read_reply(reply, subject, self._prompts.form(subject)).translation(subject, reply)

    def close(self) -> None:
        """Close the engine."""
        self._generator.close()

    def _prefix(self, case: Case) -> tuple[Message, ...]:
        return self._prompts.build_prefix(case.target_lang, labelled=self._prompts.form(case) == "labelled")

    def _context(self, case: Case) -> tuple[Context, Constraint | None]:
        key = (case.target_lang, self._prompts.form(case) == "labelled")
        if key not in self._contexts:
            constraint = self._prompts.constraint(case) if self._constrain else None
            data = {
                "stage": STAGE,
                "version": VERSION,
                "engine": dict(self._generator.context()),
                "prefix": [[message.role, message.content] for message in self._prefix(case)],
                "constraint": dataclasses.asdict(constraint) if constraint else None,
                "decoding": dataclasses.asdict(self._decoding),
            }
            self._contexts[key] = Context(data), constraint
        return self._contexts[key]
