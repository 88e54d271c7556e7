"""Making the COMET models of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_gnt.errors import GntError

if TYPE_CHECKING:
    from pytest_gnt.config import CometSettings, Config
    from pytest_gnt.metrics.comet import CometProvider
    from pytest_gnt.runner.session import GntSession


def make_comet(gnt: GntSession) -> list[CometProvider]:
    """The providers of ``--gnt-comet``. Hub models that are not on this machine are downloaded; no weights are loaded.

    Raises:
        GntError: no interpreter has COMET, a model is not there or not of its kind, or two give scores of one name.
    """
    # By kind, so that the order in which they were named does not change the signature.
    asked = sorted(gnt.files.comet_models(gnt.settings.comet).items(), key=lambda item: item[1].kind)
    kinds: dict[str, str] = {}
    for name, settings in asked:
        if settings.kind in kinds:
            raise GntError(
                f"--gnt-comet: {kinds[settings.kind]} and {name} are both of kind {settings.kind!r}, their scores "
                "would have one name; score with them in two runs (translations are kept)"
            )
        kinds[settings.kind] = name
    return [make_provider(gnt.files, name, settings, gnt.settings.offline) for name, settings in asked]


def make_provider(files: Config, name: str, settings: CometSettings, offline: bool) -> CometProvider:
    """One COMET model, found and identified; see `make_comet` for the errors."""
    from pytest_gnt.metrics.comet import CometProvider
    from pytest_gnt.metrics.comet_runtime import find_python, identify

    # Not resolved: an environment's interpreter is a link, and finds its packages by the link's place.
    python = str(files.folder / Path(settings.python).expanduser()) if settings.python else None
    local = files.path(settings.model)
    model = str(local) if local.exists() else settings.model
    return CometProvider(
        name,
        identify(find_python(python), model, settings.kind, offline=offline),
        settings.kind,
        batch_size=settings.batch_size,
        device=settings.device,
        offline=offline,
        timeout=settings.timeout,
    )
