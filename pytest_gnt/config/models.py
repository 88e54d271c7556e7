"""What can be configured by name: models (one class a backend), judges, attitude models, corpora."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Prompt = Literal["none", "G", "S", "G+S"]
Shots = Literal[0, 2, 4]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
Positive = Annotated[int, Field(gt=0)]


class Table(BaseModel):
    """A table of the configuration file: unknown keys and wrong types are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class ModelSettings(Table):
    """What every system under test has.

    Attributes:
        title: how reports call it; hand-written samples say so here.
        attitude_model: the attitude model used with it unless the run names one.
        prompt, shots: the prompt configuration used unless the run names one (systems that are prompted).
    """

    backend: str
    title: str = ""
    attitude_model: str | None = None
    prompt: Prompt | None = None
    shots: Shots | None = None


class RecordedModel(ModelSettings):
    """Translations from a file: TSV, CSV or JSON Lines by case id, or a folder of line-aligned text files.

    Attributes:
        path: the file; relative to the configuration file, or ``package:…`` for what the product ships.
        system: keep only rows whose ``system`` column holds this value.
        columns: own column names, e.g. ``{translation = "hyp"}``.
    """

    backend: Literal["recorded"] = "recorded"
    path: str
    system: str | None = None
    columns: dict[str, str] = Field(default_factory=dict)


class TransformersModel(ModelSettings):
    """A model run in this process by transformers.

    Attributes:
        model: local folder, ``pkg:…`` (weights of a registry package) or hub id.
        architecture: ``causal`` (prompted) or ``seq2seq`` (NLLB, MarianMT: not prompted).
        dtype, device: ``auto`` takes what the checkpoint and the machine offer.
        max_new_tokens: bound on a reply's length; a reply that meets it is unscored as truncated.
        constrain: bind the reply to the asked form while it is generated.
    """

    backend: Literal["transformers"] = "transformers"
    model: str
    revision: str | None = None
    architecture: Literal["causal", "seq2seq"] = "causal"
    dtype: Dtype = "auto"
    device: str = "auto"
    batch_size: Positive = 16
    max_new_tokens: Positive = 256
    temperature: float = Field(default=0.0, ge=0.0)
    num_beams: Positive = 4
    constrain: bool = True
    trust_remote_code: bool = False


class VllmModel(ModelSettings):
    """A model run in this process by vLLM. ``tensor_parallel_size`` None means every visible GPU."""

    backend: Literal["vllm"] = "vllm"
    model: str
    revision: str | None = None
    dtype: Dtype = "bfloat16"
    tensor_parallel_size: Positive | None = None
    max_model_len: Positive | None = None
    gpu_memory_utilization: float = Field(default=0.9, gt=0.0, le=1.0)
    enforce_eager: bool = False
    max_new_tokens: Positive = 256
    temperature: float = Field(default=0.0, ge=0.0)
    constrain: bool = True
    engine_args: dict[str, Any] = Field(default_factory=dict)


class OpenAIModel(ModelSettings):
    """A model behind an OpenAI-compatible server. The key is read from the environment variable named here.

    ``price_input`` and ``price_output`` are in currency units a million tokens; where set, costs are shown.
    """

    backend: Literal["openai"] = "openai"
    model: str
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    api: Literal["chat", "completions"] = "chat"
    concurrency: Positive = 32
    timeout: float = Field(default=120.0, gt=0)
    retries: Annotated[int, Field(ge=0)] = 5
    max_new_tokens: Positive = 256
    temperature: float = Field(default=0.0, ge=0.0)
    constrain: bool = True
    price_input: float | None = Field(default=None, ge=0)
    price_output: float | None = Field(default=None, ge=0)


class CommandModel(ModelSettings):
    """Any program that reads JSON Lines requests on standard input and writes JSON Lines replies."""

    backend: Literal["command"] = "command"
    argv: list[str] = Field(min_length=1)
    timeout: float = Field(default=120.0, gt=0)
    version: str = ""


class PluginModel(ModelSettings):
    """A backend that another plugin provides through ``pytest_gnt_translator``; its keys are passed on unread."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


BACKENDS: dict[str, type[ModelSettings]] = {
    "recorded": RecordedModel,
    "transformers": TransformersModel,
    "vllm": VllmModel,
    "openai": OpenAIModel,
    "command": CommandModel,
}


class JudgeSettings(Table):
    """A judge: ``kind = "lexicon"``, or ``kind = "llm"`` with the name of a prompted model.

    Attributes:
        calibration: what ``gnt judge-eval --out`` wrote about this judge.
        model: name of a ``[models.NAME]`` whose backend takes prompts.
        setting: what the judge sees (``mono``: the translation, ``cross``: the source too) and writes (``l``: the
            label, ``p+l``: phrases first).
        prompt_dir: prompts in the published layout instead of the product's own.
        votes, votes_needed: verdicts asked for each translation, and how many equal ones decide (default: more than
            half).
        temperature: of the judge's replies; several votes need one above 0.
        max_tokens: bound on a reply's length; a reply that meets it is unscored as truncated.
        constrain: bind replies to the schema while they are generated.
    """

    kind: str
    title: str = ""
    calibration: str | None = None
    model: str | None = None
    setting: Literal["mono-l", "mono-p+l", "cross-l", "cross-p+l"] = "cross-p+l"
    prompt_dir: str | None = None
    votes: Positive = 1
    votes_needed: Positive | None = None
    temperature: float = Field(default=0.0, ge=0.0)
    max_tokens: Positive = 1024
    constrain: bool = True


class AttitudeSettings(Table):
    """An attitude model: ``recorded`` (a table of word scores), or a causal model: run by ``transformers`` or ``vllm``,
    or behind an OpenAI-compatible server with log-probabilities (``openai``).

    With ``calibrate`` scores are put on a scale of their own in each language: 0 is the midpoint between the shipped
    plainly kind and plainly harsh words, 1 and -1 are the means of the two. Without it they are the paper's raw scores.
    """

    kind: Literal["recorded", "transformers", "vllm", "openai"]
    model: str | None = None
    path: str | None = None
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    calibrate: bool = True
    device: str = "auto"
    batch_size: Positive = 32


class AlignerSettings(Table):
    """What finds the words of a translation that stand for a word of the source.

    Attributes:
        kind: ``lexicon`` looks for the known renderings of the word; ``awesome`` links the words of the two sentences
            by the embeddings of a multilingual BERT (awesome-align).
        otherwise: name of the aligner that looks further where the lexicon finds nothing.
        model: a BERT checkpoint: a folder, ``pkg:NAME`` or a hub id.
        layer: the layer whose embeddings are compared.
        threshold: the probability that a link needs in both directions.
        segmenter: how Chinese is cut into words, by ``jieba`` or by ``characters``.
    """

    kind: Literal["lexicon", "awesome"]
    title: str = ""
    otherwise: str | None = None
    model: str = "bert-base-multilingual-cased"
    layer: Positive = 8
    threshold: float = Field(default=1e-3, gt=0.0, lt=1.0)
    segmenter: Literal["jieba", "characters"] = "jieba"
    device: str = "auto"
    batch_size: Positive = 32


class CometSettings(Table):
    """A COMET model, run by an interpreter of its own.

    Attributes:
        kind: ``comet`` and ``xcomet`` compare with a reference, ``cometkiwi`` does not.
        model: folder with ``checkpoints/model.ckpt`` and ``hparams.yaml``, checkpoint file, or hub id
            ``owner/name[@revision]``.
        python: the interpreter that has unbabel-comet; None takes this one, or the one that ``gnt setup comet`` made.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:N``.
        timeout: seconds without an answer after which the worker is taken to hang; loading counts.
    """

    kind: Literal["comet", "xcomet", "cometkiwi"]
    model: str
    python: str | None = None
    batch_size: Positive = 16
    device: str = "auto"
    timeout: float = Field(default=3600.0, gt=0)


class CorpusSettings(Table):
    """A corpus of the user's own, or another place for a built-in one.

    Attributes:
        path: file or folder, relative to the configuration file.
        loader: ``table`` (documented columns), ``mgente`` or ``ambgimt`` (the public files), or a plugin's.
        lang: target language of a table that has no ``lang`` column.
        langs: target languages to make cases for; AmbGIMT's sentences can be put, without references, into any.
        columns: own column names for the documented ones, e.g. ``{source = "src"}``.
        options: further settings of the loader.
    """

    path: str
    loader: str = "table"
    lang: str | None = None
    langs: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    columns: dict[str, str] = Field(default_factory=dict)
    options: dict[str, Any] = Field(default_factory=dict)
