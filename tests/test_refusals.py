"""Every refusal is in its room's catalogue, complete, used, and given the facts that it names."""

from __future__ import annotations

import ast
import importlib.util
import re
import string
from collections import Counter
from pathlib import Path

from tenue.errors import KINDS, Refused, catalogue, refuse

SOURCE = Path(__file__).parent.parent / "src"
FILES = sorted(SOURCE.rglob("*.py"))
CATALOGUES = sorted(SOURCE.rglob("refusals.toml"))
SENTENCES = ("what", "allowed", "fix")
SHARED = {
    "homogeneous-groups",
    "lost-ledger",
    "missing-grant",
    "not-a-ledger",
    "second-release",
    "server-away",
    "two-ledgers",
    "unknown-dataset",
}
"""Codes of 0.1.0 that several entries share; no other code is stated beside its key."""


def calls(text: str) -> list[tuple[str, set[str] | None]]:
    """The keys that a file refuses with, and the names of the facts it gives; None if unknown.

    A key that is computed has `*` for what is not known of it.
    """
    found: list[tuple[str, set[str] | None]] = []
    if "refuse(" not in text:  # most files, and to parse them all takes a second
        return found
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "refuse"):
            continue
        key = node.args[0]
        if isinstance(key, ast.JoinedStr):
            name = "".join(p.value if isinstance(p, ast.Constant) else "*" for p in key.values)
        else:
            assert isinstance(key, ast.Constant), f"line {node.lineno}: a key is no text"
            name = str(key.value)
        given = {word.arg for word in node.keywords}
        found.append((name, None if None in given else {str(word) for word in given}))
    return found


def entries() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for path in CATALOGUES:
        room = path.parent.name.removeprefix("tenue_")
        found |= {f"{room}.{key}": dict(entry) for key, entry in catalogue(room).items()}
    return found


def named(entry: dict[str, str]) -> set[str]:
    """The facts that the sentences of an entry name."""
    return {
        name
        for part in SENTENCES
        for _, name, _, _ in string.Formatter().parse(entry[part])
        if name is not None
    }


ENTRIES = entries()
USED = [(path, key, given) for path in FILES for key, given in calls(path.read_text())]


def matching(key: str) -> set[str]:
    pattern = re.compile(re.escape(key).replace(r"\*", ".+"))
    return {known for known in ENTRIES if pattern.fullmatch(known)}


def test_every_key_is_in_the_catalogue_and_gets_the_facts_it_names() -> None:
    for path, key, given in USED:
        found = matching(key)
        assert found, f"{key} is in no catalogue"
        if given is not None:
            needed = set().union(*(named(ENTRIES[one]) for one in found))
            assert needed <= given, f"{path}: {key}"
            assert not given & {*SENTENCES, "code", "args"}, f"{path}: the refusal's own names"


def test_every_entry_is_used() -> None:
    used = set().union(*(matching(key) for _, key, _ in USED))
    assert sorted(set(ENTRIES) - used) == []


def test_every_entry_is_complete() -> None:
    for key, entry in ENTRIES.items():
        assert entry["kind"] in KINDS, key
        assert set(entry) <= {"kind", *SENTENCES, "code", "reason"}, key
        for part in SENTENCES:
            sentence = entry[part]
            assert sentence == sentence.strip(), key
            assert sentence, key
            assert not re.search(r"(?<!\.)\.$", sentence), f"{key}: the full stop is added later"


def test_a_key_that_is_used_wrongly_is_seen() -> None:
    assert calls('raise refuse("x.y", name=1)') == [("x.y", {"name"})]
    assert calls('raise refuse(f"x.y-{word}")') == [("x.y-*", set())]
    assert calls('raise refuse("x.y", **facts)') == [("x.y", None)]
    assert matching("ask.no-such-refusal") == set()
    assert named({"what": "{a} is {b:.3g}", "allowed": "{{c}}", "fix": "{a!r}"}) == {"a", "b"}


def test_facts_become_attributes_and_other_keys_too() -> None:
    refused = refuse("ask.unknown-word", word="'x'")
    assert isinstance(refused, Refused)
    assert (refused.word, refused.reason, refused.code) == ("'x'", "word", "unknown-word")
    assert refused.to_dict()["kind"] == "invalid-question"


def not_public(codes: list[str]) -> list[str]:
    """The codes that are given twice, or are no short name in kebab-case."""
    twice = {code for code, times in Counter(codes).items() if times > 1}
    short = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+){0,3}")
    return [code for code in dict.fromkeys(codes) if code in twice or not short.fullmatch(code)]


def test_every_key_is_a_public_code_that_no_other_entry_and_no_kind_has() -> None:
    assert not_public([*KINDS, *(key.partition(".")[2] for key in ENTRIES)]) == []
    stated = {entry["code"] for entry in ENTRIES.values() if "code" in entry}
    assert stated == SHARED


def test_a_code_that_is_given_twice_or_reads_like_a_sentence_is_seen() -> None:
    assert not_public(["a-b", "c", "a-b"]) == ["a-b"]
    assert not_public(["value-has-one-word-more", "Upper", "under_score"]) == [
        "value-has-one-word-more",
        "Upper",
        "under_score",
    ]


def test_a_refusal_has_the_code_of_its_entry() -> None:
    assert refuse("ask.unknown-word", word="x").code == "unknown-word"
    assert refuse("engine.spark-unreachable").code == "server-away"


def test_the_page_of_codes_is_that_of_the_catalogues() -> None:
    script = SOURCE.parent / "scripts" / "refusal_codes.py"
    spec = importlib.util.spec_from_file_location("refusal_codes", script)
    assert spec is not None
    assert spec.loader is not None
    codes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(codes)
    assert codes.PAGE.read_text() == codes.page(), "run scripts/refusal_codes.py"
    assert codes.shown("`{a}` is {b:.3g} | {{x}}") == "`…` is … \\| {x}"
