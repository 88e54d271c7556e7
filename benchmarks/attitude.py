"""How fast and how right attitude scores are: the product's scorer against a plain loop, and words not seen before.

    python benchmarks/attitude.py [--model pkg:gemma3-270m] [--words 16] [--turns 3]

Speed: both sides score the same words in float32 with one thread, in turns; CPU time counts, so that other programs on
the machine matter less. The plain loop is what one writes first: a forward pass for each prompt, the head at the last
position only. Accuracy: the area under the ROC curve (AUC) of the score on the calibration words and on held-out words
of this file, and how often a held-out word falls on its side of the zero point.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_gnt.engines.transformers_scorer import CausalScorer
from pytest_gnt.metrics.attitude import (
    AttitudeScorer,
    WordQuery,
    WordScore,
    calibrate,
    calibration_queries,
    centred,
    languages,
    template,
)
from pytest_gnt.metrics.attitude.template import Template

GOAL = 5.0
TOLERANCE = 1e-4

HELD_OUT = {
    "en": (
        "delightful diligent devoted humble noble gentle trustworthy hardworking witty competent tender tactful honest "
        "patient brave creative respectful elegant merciful tolerant lively clever dedicated enthusiastic hospitable",
        "arrogant rude lazy greedy violent jealous ignorant hostile aggressive bitter foolish stubborn dull sloppy "
        "crude bossy whiny reckless petty ungrateful hypocritical insolent shameless mean untrustworthy",
    ),
    "zh": (
        "勤奋 勇敢 诚实 慷慨 温柔 耐心 幽默 坚强 能干 细心 勤劳 孝顺 睿智 潇洒 文雅 随和 坦率 果断 敬业 "
        "大度 纯洁 善解人意 谦逊",
        "懒惰 傲慢 狡猾 冷漠 固执 吝啬 暴躁 轻浮 粗鲁 嚣张 迟钝 野蛮 狂妄 庸俗 肮脏 胆小 小气 顽固 啰嗦 "
        "邋遢 势利 草率 无知 残暴",
    ),
    "de": (
        "ehrlich fleißig großzügig geduldig tapfer gütig bescheiden witzig kreativ anständig",
        "arrogant faul gierig geizig stur neidisch frech unverschämt aggressiv hochmütig",
    ),
    "fr": (
        "honnête généreux patient courageux modeste drôle créatif travailleur doux tolérant",
        "arrogant paresseux avare impoli têtu jaloux agressif hypocrite vulgaire rusé",
    ),
    "ru": (
        "честный щедрый терпеливый смелый скромный трудолюбивый нежный мудрый остроумный порядочный",
        "ленивый жадный высокомерный грубый упрямый завистливый агрессивный лицемерный хамоватый скупой",
    ),
    "it": (
        "onesto generoso paziente modesto divertente creativo laborioso dolce tollerante gentile",
        "arrogante pigro avaro maleducato testardo geloso aggressivo ipocrita volgare furbo",
    ),
    "es": (
        "honesto generoso paciente modesto divertido creativo trabajador dulce tolerante cortés",
        "arrogante perezoso avaro grosero terco celoso agresivo hipócrita vulgar astuto",
    ),
    "el": (
        "υπομονετικός γενναιόδωρος σεμνός αστείος δημιουργικός εργατικός γλυκός ανεκτικός σοφός φιλικός",
        "αλαζόνας τεμπέλης τσιγκούνης αγενής πεισματάρης ζηλιάρης επιθετικός υποκριτής χυδαίος πονηρός",
    ),
    "pt": (
        "honesto generoso paciente modesto divertido criativo trabalhador doce tolerante gentil",
        "arrogante preguiçoso avarento grosseiro teimoso ciumento agressivo hipócrita vulgar astuto",
    ),
    "nl": (
        "eerlijk vrijgevig geduldig dapper bescheiden grappig creatief vlijtig zachtaardig verdraagzaam",
        "arrogant lui gierig onbeleefd koppig jaloers agressief schijnheilig vulgair sluw",
    ),
    "ja": (
        "勤勉 気前がいい 忍耐強い 謙虚 面白い 創造的 穏やか 寛容 聡明 親しみやすい",
        "傲慢 怠け者 けち 無作法 頑固 嫉妬深い 攻撃的 偽善的 下劣 ずる賢い",
    ),
}


def plain_loop(scorer: CausalScorer, known: Template, words: list[str]) -> list[float]:
    """One forward pass a prompt, nothing shared."""
    import torch

    assert scorer._loaded is not None
    checkpoint = scorer._loaded.checkpoint
    wanted = checkpoint.tokenizer(known.answer, add_special_tokens=False)["input_ids"]
    found = []
    for word in words:
        for prompt in known.prompts(word):
            ids = checkpoint.tokenizer(prompt)["input_ids"]
            with torch.inference_mode():
                rows = torch.tensor([ids + wanted[:-1]])
                logits = checkpoint.model(input_ids=rows, use_cache=False, logits_to_keep=len(wanted)).logits[0]
            chosen = logits.float().log_softmax(-1)
            found.append(sum(float(chosen[place, token]) for place, token in enumerate(wanted)))
    return found


def cpu_time(run: Callable[[], list[float]]) -> tuple[float, list[float]]:
    """CPU seconds of a call, and what it gave."""
    start = time.process_time()
    found = run()
    return time.process_time() - start, found


def speed(scorer: CausalScorer, count: int, turns: int) -> bool:
    """Print the ratio and the largest difference; True where both are as they should be."""
    good = True
    for lang in ("en", "zh"):
        known = template(lang)
        assert known is not None
        words = " ".join(HELD_OUT[lang]).split()[:count]
        prompts = [prompt for word in words for prompt in known.prompts(word)]
        scorer.score(prompts[:2], known.answer)  # weights in memory, caches warm
        ratios, products = [], []
        worst = 0.0
        for _ in range(turns):
            scorer._loaded.forward.close()  # type: ignore[union-attr]  # each turn computes the prefix anew
            plain, expected = cpu_time(lambda: plain_loop(scorer, known, words))  # noqa: B023
            product, values = cpu_time(lambda: scorer.score(prompts, known.answer))  # type: ignore[arg-type, return-value]  # noqa: B023
            ratios.append(plain / product)
            products.append(len(words) / product)
            worst = max(worst, *(abs(a - b) for a, b in zip(values, expected, strict=True)))
        ratio = statistics.median(ratios)
        print(
            f"{lang}: {len(words)} words, {len(prompts)} prompts: ratio {ratio:.1f} (goal {GOAL:g}; {turns} turns: "
            f"{', '.join(f'{each:.1f}' for each in ratios)}), {statistics.median(products):.1f} words per CPU second, "
            f"largest difference {worst:.1e}",
            flush=True,
        )
        good &= ratio >= GOAL and worst <= TOLERANCE
    return good


def scored(provider: AttitudeScorer, queries: list[WordQuery]) -> list[WordScore]:
    """Raw scores of words."""
    answers = dict(provider.run([provider.work(query) for query in queries]))
    return [provider.read(query, answers[index].value) for index, query in enumerate(queries)]


def accuracy(provider: AttitudeScorer) -> None:
    """Print what the scores are worth, by language."""
    print("lang  zero    unit   AUC calibration  AUC held-out  n  right side of zero  of the raw sign")
    for lang in languages():
        kind, harsh = (scored(provider, list(queries)) for queries in calibration_queries(lang))
        known = calibrate(lang, kind, harsh)
        sides = [scored(provider, [WordQuery(lang, word) for word in words.split()]) for words in HELD_OUT[lang]]
        held = calibrate(lang, *sides)
        right = {
            zero: sum(
                (float(centred(word, zero).score or 0.0) > 0) == positive
                for words, positive in zip(sides, (True, False), strict=True)
                for word in words
            )
            for zero in (known.zero, 0.0)
        }
        print(
            f"{lang:4s}{known.zero:+7.3f} {known.unit:6.3f} {known.auc:12.3f} {held.auc:16.3f} {held.n:8d} "
            f"{right[known.zero] / held.n:12.2f} {right[0.0] / held.n:18.2f}",
            flush=True,
        )


def main() -> int:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="pkg:gemma3-270m")
    parser.add_argument("--words", type=int, default=16, help="words a language in the speed part")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--part", choices=["speed", "accuracy", "both"], default="both")
    options = parser.parse_args()
    import torch

    torch.set_num_threads(options.threads)
    scorer = CausalScorer(options.model, dtype="float32", device="cpu", progress=print)
    good = speed(scorer, options.words, options.turns) if options.part != "accuracy" else True
    if options.part != "speed":
        accuracy(AttitudeScorer(scorer))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
