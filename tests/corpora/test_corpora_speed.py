"""All of both benchmarks in form and number: 49,624 cases are loaded in seconds, not minutes."""

from __future__ import annotations

import time

import pytest

from pytest_gnt.case import Identity
from pytest_gnt.corpora import ambgimt, mgente
from pytest_gnt.corpora.ambgimt_files import PUBLIC_STEMS
from pytest_gnt.corpora.source import CorpusSource

ENGLISH = "The person number {} is known for a terse way of speaking, and never wastes words in a conversation."
CHINESE = "这个人{}以简洁直率的沟通风格而闻名，在谈话中从不浪费时间。"
COLUMNS = "ID\tEuroparl_ID\tSET\tSRC\tREF-G\tREF-N\tCOMMON\tGENDER\tREF-G_ann\tG-WORDS"


@pytest.fixture
def benchmarks(write, tmp_path):
    for stem, count in zip(PUBLIC_STEMS.values(), (538, 2578), strict=True):
        neutral = {"txt": ENGLISH, "hypo.zh": CHINESE}
        for ending, form in neutral.items():
            write(f"ambgimt/{stem}.{ending}", "".join(f"{form.format(n)}\n" for n in range(count)))
        for ending, form in {"AllType.txt.corrected": ENGLISH, "AllType.hypo.zh": CHINESE}.items():
            word = "person" if form is ENGLISH else "这个人"
            lines = (f"{form.format(n).replace(word, i)}\n" for n in range(count) for i in Identity)
            write(f"ambgimt/{stem}.{ending}", "".join(lines))
    for lang in mgente.LANGUAGES:
        rows = (
            f"{n}\tep-{n}\t{'Set-G' if n % 2 else 'Set-N'}\tThey have shown {n} that these issues can be worked with.\t"
            f"Essi hanno dimostrato {n} che i cittadini e i ministri\tSi è dimostrato {n}\tno\t{'FM'[n % 4 // 2]}\t\t"
            "Essi; cittadini; ministri\n"
            for n in range(1500)
        )
        write(f"mgente/en-{lang}.tsv", f"{COLUMNS}\n" + "".join(rows))
    return tmp_path


def test_loading_both_benchmarks_takes_less_than_three_seconds(benchmarks):
    start = time.process_time()
    data = [
        loader(CorpusSource(name=name, root=benchmarks))
        for name, loader in (("mgente", mgente.load), ("ambgimt", ambgimt.load))
    ]
    taken = time.process_time() - start
    assert sum(len(corpus.cases) for corpus in data) == sum(corpus.rows_read for corpus in data) == 49_624
    assert taken < 3
