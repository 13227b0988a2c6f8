"""Every refusal is in its room's catalogue, complete, used, and given the facts that it names."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

from tenue.errors import KINDS, Refused, catalogue, refuse

SOURCE = Path(__file__).parent.parent / "src" / "tenue"
FILES = sorted(SOURCE.rglob("*.py"))
CATALOGUES = sorted(SOURCE.rglob("refusals.toml"))
SENTENCES = ("what", "allowed", "fix")


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
        room = path.parent.name
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
    assert matching("query.no-such-refusal") == set()
    assert named({"what": "{a} is {b:.3g}", "allowed": "{{c}}", "fix": "{a!r}"}) == {"a", "b"}


def test_facts_become_attributes_and_other_keys_too() -> None:
    refused = refuse("query.unknown-word", word="'x'")
    assert isinstance(refused, Refused)
    assert (refused.word, refused.reason, refused.code) == ("'x'", "word", "invalid-question")
