"""The shipped sample, checked straight on its files: shape, agreement between files, and the list of planted faults."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import pytest_gnt
from pytest_gnt.case import Identity

SAMPLE = Path(pytest_gnt.__file__).parent / "corpora" / "sample"
LANGS = ("it", "es", "de", "el")
SYSTEMS = ("sample-v1", "sample-v2")
MGENTE_COLUMNS = ["ID", "Europarl_ID", "SET", "SRC", "REF-G", "REF-N", "COMMON", "GENDER", "REF-G_ann", "G-WORDS"]
ZH_TERMS = {
    "person": "这个人",
    "woman": "这个女人",
    "man": "这个男人",
    "androgynous": "雌雄同体者",
    "cisgender": "顺性别者",
    "genderqueer": "性别酷儿",
    "intersex": "双性人",
    "transgender": "跨性别者",
    "trans man": "跨性别男性",
    "trans woman": "跨性别女性",
    "queer": "酷儿",
    "lesbian": "女同性恋者",
    "gay": "男同性恋者",
    "bisexual": "双性恋者",
}
SHE = {"woman", "trans woman", "lesbian"}
HE = {"man", "trans man", "gay"}
ON_MGENTE = {"masculine-generic", "needless-gender", "wrong-gender", "lost-gender", "label-mismatch"}
ON_AMBGIMT = {"dropped-identity", "harsher-word", "softer-word"}
UNSCORED = {"empty", "untranslated"}


def lines(path: str) -> list[str]:
    text = (SAMPLE / path).read_bytes().decode("utf-8")
    assert text.endswith("\n")
    assert "\r" not in text
    assert not text.startswith("\ufeff")
    return text.removesuffix("\n").split("\n")


def table(path: str, columns: list[str]) -> list[dict[str, str]]:
    head, *body = (line.split("\t") for line in lines(path))
    assert head == columns
    return [dict(zip(head, row, strict=True)) for row in body]


def mgente(lang: str) -> list[dict[str, str]]:
    return table(f"mgente/en-{lang}.tsv", MGENTE_COLUMNS)


def system(name: str) -> dict[str, dict[str, str]]:
    rows = table(f"systems/{name}.tsv", ["case_id", "translation", "label"])
    by_id = {row["case_id"]: row for row in rows}
    assert len(by_id) == len(rows)
    return by_id


def planted() -> list[dict[str, str]]:
    return table("systems/planted.tsv", ["system", "case_id", "fault"])


def faults(name: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in planted():
        if row["system"] == name:
            found.setdefault(row["case_id"], set()).add(row["fault"])
    return found


def attitude_words() -> list[dict[str, str]]:
    return table("ambgimt/attitude_words.tsv", ["line", "attitude_word", "zh_word", "confidence"])


def renderings() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for row in table("ambgimt/renderings.tsv", ["attitude_word", "lang", "rendering", "polarity"]):
        assert row["lang"] == "zh"
        word = found.setdefault(row["attitude_word"], {})
        assert row["rendering"] not in word
        word[row["rendering"]] = row["polarity"]
    return found


def ambgimt_id(line: int, identity: str) -> str:
    return f"ambgimt/en-zh/synthesized/{line}/{identity.replace(' ', '-')}"


def mgente_ids() -> list[str]:
    return [f"mgente/en-{lang}/S{n:02}" for lang in LANGS for n in range(1, 25)]


def ambgimt_ids() -> list[str]:
    return [ambgimt_id(line, identity) for line in range(1, 13) for identity in Identity]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def has_phrase(text: str, phrase: str) -> bool:
    return f" {' '.join(words(phrase))} " in f" {' '.join(words(text))} "


def blocks(path: str) -> list[list[str]]:
    every = lines(path)
    assert len(every) == 12 * 14
    return [every[i : i + 14] for i in range(0, len(every), 14)]


# mGeNTE-shaped


@pytest.mark.parametrize("lang", LANGS)
def test_mgente_rows_sets_and_genders(lang: str) -> None:
    rows = mgente(lang)
    assert [row["ID"] for row in rows] == [f"S{n:02}" for n in range(1, 25)]
    assert [row["Europarl_ID"] for row in rows] == [f"sample-{n:02}" for n in range(1, 25)]
    assert [(row["SET"], row["GENDER"]) for row in rows] == [("Set-N", "")] * 12 + [("Set-G", "F")] * 6 + [
        ("Set-G", "M")
    ] * 6
    assert {row["COMMON"] for row in rows} == {"sample"}


@pytest.mark.parametrize("lang", LANGS)
def test_mgente_cells_are_clean_sentences(lang: str) -> None:
    for row in mgente(lang):
        for column in ("SRC", "REF-G", "REF-N"):
            cell = row[column]
            assert cell == " ".join(cell.split()), (row["ID"], column)
            assert cell.endswith("."), (row["ID"], column)
            assert not re.search(r"[/*@_:]\w|\(\w{1,4}\)|[əɜ\"]", cell), (row["ID"], column)
        assert row["REF-G"] != row["REF-N"]


def test_mgente_sources_are_the_same_in_all_languages() -> None:
    sources = [[row["SRC"] for row in mgente(lang)] for lang in LANGS]
    assert all(column == sources[0] for column in sources)
    assert len(set(sources[0])) == 24
    assert all(10 <= len(source.split()) <= 30 for source in sources[0])


@pytest.mark.parametrize("lang", LANGS)
def test_gendered_words_stand_in_ref_g_and_not_in_ref_n(lang: str) -> None:
    for row in mgente(lang):
        entries = row["G-WORDS"].split("; ")
        assert len(set(entries)) == len(entries), row["ID"]
        neutral = set(words(row["REF-N"]))
        for entry in entries:
            assert re.search(rf"(?<!\w){re.escape(entry)}(?!\w)", row["REF-G"]), (row["ID"], entry)
            assert not neutral & set(words(entry)), (row["ID"], entry)


@pytest.mark.parametrize("lang", LANGS)
def test_annotation_is_ref_g_with_exactly_the_gendered_words_marked(lang: str) -> None:
    for row in mgente(lang):
        annotated = row["REF-G_ann"]
        assert re.sub(r"</?W>", "", annotated) == row["REF-G"], row["ID"]
        marked = re.findall(r"<W>(.+?)</W>", annotated)
        assert list(dict.fromkeys(marked)) == row["G-WORDS"].split("; "), row["ID"]


# AmbGIMT-shaped


def test_neutral_files_pair_up_with_the_first_lines_of_the_blocks() -> None:
    for name in ("txt", "zh"):
        neutral = lines(f"ambgimt/sample.{name}")
        assert len(set(neutral)) == len(neutral) == 12
        assert [block[0] for block in blocks(f"ambgimt/sample.AllType.{name}")] == neutral


def test_english_variants_name_their_identity_and_carry_its_pronouns() -> None:
    for block in blocks("ambgimt/sample.AllType.txt"):
        for identity, line in zip(Identity, block, strict=True):
            assert re.match(rf"The {identity}\b", line), line
            pronouns = set(words(line)) & {"he", "him", "his", "himself", "she", "her", "herself"}
            plural = set(words(line)) & {"they", "them", "their", "themselves", "themself"}
            allowed = {"she", "her", "herself"} if identity in SHE else {"he", "him", "his", "himself"}
            if identity in SHE | HE:
                assert pronouns, line
                assert pronouns <= allowed, line
                assert not plural, line
            else:
                assert not pronouns, line
                assert plural, line
                assert "themself" not in plural, line


def test_english_verbs_agree_with_the_pronoun() -> None:
    for block in blocks("ambgimt/sample.AllType.txt"):
        for line in block:
            assert not re.search(r"\b(?:she|he) (?:don't|have|are|were|weren't|explain)\b", line), line
            assert not re.search(r"\bthey (?:doesn't|has|is|was|wasn't|explains)\b|\bthey's\b", line), line


def test_chinese_variants_name_their_identity_and_carry_its_pronouns() -> None:
    for block in blocks("ambgimt/sample.AllType.zh"):
        for identity, line in zip(Identity, block, strict=True):
            assert line.startswith(ZH_TERMS[identity]), line
            rest = line.replace("他/她", "*")
            expected = "她" if identity in SHE else "他" if identity in HE else "*"
            assert {mark for mark in "她他*" if mark in rest} <= {expected}, line
            assert "他们" not in line
            assert line.endswith("。")


def test_each_line_has_an_attitude_word_of_its_own() -> None:
    rows = attitude_words()
    assert [row["line"] for row in rows] == [str(n) for n in range(1, 13)]
    assert len({row["attitude_word"] for row in rows}) == 12
    assert {row["confidence"] for row in rows} == {"high"}
    english = blocks("ambgimt/sample.AllType.txt")
    chinese = blocks("ambgimt/sample.AllType.zh")
    for row, en_block, zh_block in zip(rows, english, chinese, strict=True):
        assert all(words(line).count(row["attitude_word"]) == 1 for line in en_block)
        assert all(line.count(row["zh_word"]) == 1 for line in zh_block)


def test_each_attitude_word_has_renderings_of_every_polarity() -> None:
    table_ = renderings()
    assert list(table_) == [row["attitude_word"] for row in attitude_words()]
    for row in attitude_words():
        polarities = table_[row["attitude_word"]]
        assert 5 <= len(polarities) <= 12
        assert set(polarities.values()) == {"kind", "neutral", "harsh"}
        assert polarities[row["zh_word"]] == "neutral"


# Recorded systems


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_recorded_system_covers_exactly_the_cases(name: str) -> None:
    assert list(system(name)) == mgente_ids() + ambgimt_ids()


@pytest.mark.parametrize("name", SYSTEMS)
def test_labels_are_given_for_mgente_only(name: str) -> None:
    for case_id, row in system(name).items():
        allowed = {"NEUTRAL", "GENDERED"} if case_id.startswith("mgente/") else {""}
        assert row["label"] in allowed, case_id


def test_planted_faults_name_existing_rows_once_and_fit_their_corpus() -> None:
    rows = planted()
    assert max(Counter(tuple(row.values()) for row in rows).values()) == 1
    assert {row["system"] for row in rows} == set(SYSTEMS)
    ids = {"mgente": set(mgente_ids()), "ambgimt": set(ambgimt_ids())}
    for row in rows:
        corpus = row["case_id"].partition("/")[0]
        assert row["case_id"] in ids[corpus]
        assert row["fault"] in (ON_MGENTE if corpus == "mgente" else ON_AMBGIMT) | UNSCORED
    assert {row["fault"] for row in rows} == ON_MGENTE | ON_AMBGIMT | UNSCORED


@pytest.mark.parametrize("name", SYSTEMS)
def test_gender_faults_fit_the_set_of_their_sentence(name: str) -> None:
    for case_id, kinds in faults(name).items():
        if not case_id.startswith("mgente/"):
            continue
        set_n = int(case_id[-2:]) <= 12
        wrong_place = {"wrong-gender", "lost-gender"} if set_n else {"masculine-generic", "needless-gender"}
        assert not kinds & wrong_place, case_id


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_label_disagrees_exactly_where_that_is_planted(name: str) -> None:
    known = faults(name)
    for case_id, row in system(name).items():
        kinds = known.get(case_id, set())
        if not case_id.startswith("mgente/") or kinds & UNSCORED:
            continue
        set_n = int(case_id[-2:]) <= 12
        gendered = bool(kinds & {"masculine-generic", "needless-gender"}) if set_n else "lost-gender" not in kinds
        agrees = row["label"] == ("GENDERED" if gendered else "NEUTRAL")
        assert agrees == ("label-mismatch" not in kinds), case_id


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("lang", LANGS)
def test_gendered_words_show_up_where_a_gender_is_expressed(name: str, lang: str) -> None:
    known, rows = faults(name), system(name)
    for case in mgente(lang):
        case_id = f"mgente/en-{lang}/{case['ID']}"
        kinds, text = known.get(case_id, set()), rows[case_id]["translation"]
        if kinds & UNSCORED:
            continue
        seen = [entry for entry in case["G-WORDS"].split("; ") if has_phrase(text, entry)]
        expressed = "masculine-generic" in kinds or (case["SET"] == "Set-G" and not kinds - {"label-mismatch"})
        neutral = (case["SET"] == "Set-N" and not kinds - {"label-mismatch"}) or "lost-gender" in kinds
        assert seen or not expressed, case_id
        assert not (seen and neutral), (case_id, seen)


@pytest.mark.parametrize("name", SYSTEMS)
def test_replies_are_empty_or_untranslated_exactly_where_that_is_planted(name: str) -> None:
    english = [line for block in blocks("ambgimt/sample.AllType.txt") for line in block]
    sources = {
        **{f"mgente/en-{lang}/{row['ID']}": row["SRC"] for lang in LANGS for row in mgente(lang)},
        **dict(zip(ambgimt_ids(), english, strict=True)),
    }
    known = faults(name)
    for case_id, row in system(name).items():
        kinds = known.get(case_id, set())
        assert (row["translation"] == "") == ("empty" in kinds), case_id
        assert (row["translation"] == sources[case_id]) == ("untranslated" in kinds), case_id
    assert sum(bool(kinds & UNSCORED) for kinds in known.values()) <= 2


@pytest.mark.parametrize("name", SYSTEMS)
def test_identity_terms_are_missing_exactly_where_that_is_planted(name: str) -> None:
    known, rows = faults(name), system(name)
    longest_first = re.compile("|".join(sorted(ZH_TERMS.values(), key=len, reverse=True)))
    for line in range(1, 13):
        for identity in Identity:
            case_id = ambgimt_id(line, identity)
            kinds = known.get(case_id, set())
            if not kinds & UNSCORED:
                kept = longest_first.findall(rows[case_id]["translation"]) == [ZH_TERMS[identity]]
                assert kept == ("dropped-identity" not in kinds), case_id


@pytest.mark.parametrize("name", SYSTEMS)
def test_attitude_words_are_harsher_or_softer_exactly_where_that_is_planted(name: str) -> None:
    known, rows, table_ = faults(name), system(name), renderings()
    for word in attitude_words():
        polarities = table_[word["attitude_word"]]
        longest_first = re.compile("|".join(sorted(polarities, key=len, reverse=True)))
        for identity in Identity:
            case_id = ambgimt_id(int(word["line"]), identity)
            kinds = known.get(case_id, set())
            if not kinds & UNSCORED:
                found = [polarities[match] for match in longest_first.findall(rows[case_id]["translation"])]
                wanted = "harsh" if "harsher-word" in kinds else "kind" if "softer-word" in kinds else "neutral"
                assert found == [wanted], case_id


def test_v2_is_more_neutral_in_italian_and_spanish_and_unchanged_in_the_other_languages() -> None:
    def gendered(name: str, lang: str) -> set[str]:
        kinds = {"masculine-generic", "needless-gender"}
        return {i for i, found in faults(name).items() if i.startswith(f"mgente/en-{lang}/") and found & kinds}

    for lang in ("it", "es"):
        assert gendered("sample-v2", lang) < gendered("sample-v1", lang)
    for lang in ("de", "el"):
        assert gendered("sample-v2", lang) == gendered("sample-v1", lang)
    assert [len(gendered("sample-v1", lang)) for lang in LANGS] == [7, 6, 5, 7]


def test_v2_is_worse_on_trans_woman_and_queer_and_on_no_other_identity() -> None:
    before, after = faults("sample-v1"), faults("sample-v2")
    for identity in Identity:
        ids = [ambgimt_id(line, identity) for line in range(1, 13)]
        old = {(i, kind) for i in ids for kind in before.get(i, set())}
        new = {(i, kind) for i in ids for kind in after.get(i, set())}
        assert old < new if identity in {"trans woman", "queer"} else old == new, identity


def test_the_systems_do_not_copy_the_references() -> None:
    references = {cell for lang in LANGS for row in mgente(lang) for cell in (row["REF-G"], row["REF-N"])}
    references |= {line for block in blocks("ambgimt/sample.AllType.zh") for line in block}
    for name in SYSTEMS:
        assert not [i for i, row in system(name).items() if row["translation"] in references]


# Provenance


def test_no_sentence_of_the_sample_stands_in_the_public_data(shared_data: Path) -> None:
    own = {row[column] for lang in LANGS for row in mgente(lang) for column in ("SRC", "REF-G", "REF-N", "REF-G_ann")}
    own |= {line for kind in ("txt", "zh") for block in blocks(f"ambgimt/sample.AllType.{kind}") for line in block}
    own |= {row["translation"] for name in SYSTEMS for row in system(name).values() if row["translation"]}
    read = 0
    for path in sorted(shared_data.rglob("*")):
        if path.is_file():
            public = path.read_text(encoding="utf-8", errors="replace").split("\n")
            cells = {cell.strip() for line in public for cell in (line, *line.split("\t"))}
            assert not own & cells, path.name
            read += len(public)
    assert read > 10_000
