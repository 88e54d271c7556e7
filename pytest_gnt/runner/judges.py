"""Making a judge from its settings, in a pytest run and outside of one, and what is known of its quality."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gnt.errors import GntError
from pytest_gnt.runner.engines import make_generator
from pytest_gnt.runner.translators import commit_size
from pytest_gnt.work import Provider, digest

if TYPE_CHECKING:
    from pytest_gnt.config import Config, JudgeSettings
    from pytest_gnt.evidence import Judgement, Translation
    from pytest_gnt.judges.prompting import JudgePrompts
    from pytest_gnt.pipeline.stages import Voting
    from pytest_gnt.runner.session import GntSession

DIGITS = 8
KINDS = ("lexicon", "llm")
_EVERY_KIND = frozenset({"kind", "title", "calibration"})


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSetup:
    """A judge that is ready to run; nothing is loaded yet.

    Attributes:
        key: language → hash of everything that its verdicts on that language depend on, the number of votes included.
        quality: what the product itself measured of it, by language; calibrations come on top.
        votes: how many are cast on each translation.
    """

    name: str
    settings: JudgeSettings
    provider: Provider[Translation, Judgement] | Voting
    key: Callable[[str], str]
    quality: Sequence[dict[str, Any]] = field(default_factory=tuple)
    votes: int = 1


def set_up_judge(
    files: Config,
    name: str,
    *,
    gnt: GntSession | None = None,
    seed: int = 0,
    prompt_dir: Path | None = None,
) -> JudgeSetup | None:
    """A judge by its name in the configuration; None where its kind is not one of the product's own.

    Args:
        files: the configuration.
        name: the judge's name.
        gnt: the session, in a pytest run.
        seed: of decoding.
        prompt_dir: prompts in the published layout instead of what the judge's table says.

    Raises:
        GntError: the judge's model or prompts cannot be used.
    """
    settings = files.judge(name)
    if settings.kind == "lexicon":
        unused = settings.model_fields_set - _EVERY_KIND
        if unused or prompt_dir is not None:
            what = ", ".join(sorted(unused)) or "--gnt-judge-prompt-dir"
            raise GntError(f"judge {name!r}: {what} is for judges of kind llm; the lexicon judge has no use for it")
        return _lexicon(name, settings)
    if settings.kind == "llm":
        return _llm(files, name, settings, gnt=gnt, seed=seed, prompt_dir=prompt_dir)
    return None


def _lexicon(name: str, settings: JudgeSettings) -> JudgeSetup:
    from pytest_gnt.judges.lexicon import LexiconJudge, shipped_accuracy

    lexicon = LexiconJudge()
    quality = [
        {
            "gold": f"{row['name']} ({row['split']})",
            **{key: row[key] for key in ("lang", "n", "accuracy", "macro_f1")},
        }
        for row in shipped_accuracy().get("gold", ())
        if row["split"] in ("held-out", "validation") and not row["part"] and row["lang"] != "all"
    ]
    return JudgeSetup(
        name=name, settings=settings, provider=lexicon, key=lambda _: lexicon.context.key, quality=quality
    )


def _llm(
    files: Config, name: str, settings: JudgeSettings, *, gnt: GntSession | None, seed: int, prompt_dir: Path | None
) -> JudgeSetup:
    from pytest_gnt.engines.protocol import Decoding
    from pytest_gnt.judges.llm import LlmJudge
    from pytest_gnt.judges.votes import Panel

    if settings.model is None:
        raise GntError(f'judge {name!r}: kind llm needs model = "…", the name of a prompted model')
    if settings.votes > 1 and settings.temperature == 0:
        raise GntError(
            f"judge {name!r}: {settings.votes} votes at temperature 0 are all the same; set temperature, e.g. 0.7, "
            "or votes = 1"
        )
    model = files.model(settings.model)
    judge = LlmJudge(
        make_generator(gnt, settings.model, model),
        _prompts(files, settings, prompt_dir),
        decoding=Decoding(max_tokens=settings.max_tokens, temperature=settings.temperature, seed=seed),
        constrain=settings.constrain,
        batch_size=commit_size(model),
    )
    if settings.votes == 1:
        return JudgeSetup(name=name, settings=settings, provider=judge, key=judge.key)
    panel = Panel(judge, settings.votes, settings.votes_needed)
    return JudgeSetup(
        name=name,
        settings=settings,
        provider=panel,
        key=lambda lang: digest([judge.key(lang), panel.votes, panel.needed]),
        votes=panel.votes,
    )


def _prompts(files: Config, settings: JudgeSettings, prompt_dir: Path | None) -> JudgePrompts:
    from pytest_gnt.judges.prompting import ShippedPrompts
    from pytest_gnt.judges.published import PublishedPrompts
    from pytest_gnt.judges.settings import Setting

    setting = Setting(settings.setting)
    if prompt_dir is None and settings.prompt_dir is not None:
        prompt_dir = files.path(settings.prompt_dir)
    return ShippedPrompts(setting) if prompt_dir is None else PublishedPrompts(prompt_dir, setting)


def signature_part(setup: JudgeSetup, langs: Iterable[str]) -> str:
    """What a signature says of a judge: its name, a hash of all that its verdicts depend on, and its votes.

    Raises:
        GntError: it has no prompt for one of the languages.
    """
    keys = [setup.key(lang) for lang in sorted(set(langs))]
    text = f"{setup.name}@{digest(keys)[:DIGITS]}"
    return f"{text}.votes{setup.votes}" if setup.votes > 1 else text


def about_judge(setup: JudgeSetup, files: Config) -> dict[str, Any]:
    """What a report says of a judge, as plain builtins: name, title, measured quality, calibration.

    A calibration of other settings of the judge is not used, and ``note`` says so.

    Raises:
        GntError: the calibration file cannot be read.
    """
    about: dict[str, Any] = {
        "name": setup.name,
        "title": setup.settings.title,
        "quality": list(setup.quality),
        "calibration": None,
        "note": "",
    }
    if setup.settings.calibration is None:
        return about
    from pytest_gnt.verdicts.calibration import read_calibration, restricted

    path = files.path(setup.settings.calibration)
    calibration = read_calibration(path)
    fitting = [lang for lang, key in calibration.keys.items() if key == _key_or_none(setup, lang)]
    other = sorted(set(calibration.keys) - set(fitting))
    if other:
        about["note"] = (
            f"the calibration {path.name} was measured with other settings of this judge for {', '.join(other)} and is "
            "not used there: measure again with  gnt judge-eval"
        )
    if fitting:
        kept = restricted(calibration, fitting)
        about["quality"] = [row for row in kept.rows() if row["n"]]
        about["calibration"] = kept.to_json()
    return about


def _key_or_none(setup: JudgeSetup, lang: str) -> str | None:
    try:
        return setup.key(lang)
    except GntError:
        return None  # no prompt for a language that the calibration has and this judge now lacks


def after_judging(gnt: GntSession, setup: JudgeSetup | None) -> None:
    """Add to ``gnt.judge_about`` what is known once the stage has run: notes, agreement of votes."""
    if setup is None or gnt.judge_about is None or gnt.book is None:
        return
    judge = getattr(setup.provider, "judge", setup.provider)
    gnt.judge_about["notes"] = list(getattr(judge, "notes", ()))
    if setup.votes > 1:
        from pytest_gnt.verdicts.agreement import vote_agreement

        gnt.judge_about["agreement"] = dict(vote_agreement(one.votes for one in gnt.book.judgements()))
