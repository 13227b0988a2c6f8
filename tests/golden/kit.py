"""What all goldens share: entropy that repeats, values as JSON, and the comparison.

A case is a name and a function without arguments whose value is recorded. Cases see Tenue as its
users do: `import tenue`, the names its rooms offer, and its command. Nothing here knows a private
module, so modules may move while the goldens stay.
"""

from __future__ import annotations

import contextlib
import difflib
import enum
import functools
import hashlib
import json
import math
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock
from unittest.mock import patch

import numpy as np

import tenue as tn

Case = Callable[[], Any]
RECORDED = Path(__file__).parent / "recorded"
RELATIVE = 1e-12
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00|Z)?")
_ADDRESS = re.compile(r"<(?:[\w]+\.)*(\w+) object at 0x[0-9a-f]+>")
_SEAL = re.compile(r"(hmac-sha256:|sealed )[0-9a-f]{16,64}")
_NUMBER = re.compile(r"(Fraction )?[-+]?\d[-+.\d/e]*( #[0-9a-f]+)?|None|True|False|nan|-?inf")
_LONG = re.compile(r"-?\d+(/\d+)?")
_WIDTH = 100
_STYLES: tuple[dict[str, Any], ...] = (
    {},
    {"ensure_ascii": False},
    {"indent": 2},
    {"indent": 2, "ensure_ascii": False},
    {"separators": (",", ":"), "ensure_ascii": False},
    {"separators": (",", ":")},
    {"indent": 2, "sort_keys": True, "ensure_ascii": False},
    {"sort_keys": True, "ensure_ascii": False},
    {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False},
)


@dataclass(frozen=True)
class Theme:
    """The cases of one file of recordings.

    cases: by name.
    exact: whether floats are compared to the last bit. Where they come from linear algebra, from
        numpy's vectorised functions or from compiled kernels, the last bits depend on the
        processor and on the number of its cores, and are compared to 1e-12. Whole numbers,
        fractions and texts are always compared as they are.
    """

    name: str
    cases: Mapping[str, Case]
    exact: bool = True

    @property
    def file(self) -> Path:
        return RECORDED / f"{self.name}.json"


# -- entropy ---------------------------------------------------------------------------------------


class Entropy:
    """A context inside which the operating system's entropy is the stream of a counter.

    Every random bit of Tenue comes from `os.urandom`, a name of the standard library. Replacing it
    replaces the machine below Tenue and nothing of Tenue, so whatever is recorded stays a fact
    about the outside. The stream begins anew at each `with`; other users of `os.urandom`, such as
    names of temporary files, should not run inside.
    """

    def __init__(self) -> None:
        self._drawn = 0

    @contextlib.contextmanager
    def __call__(self, seed: int = 0) -> Iterator[None]:
        def urandom(size: int, /) -> bytes:
            blocks = []
            for _ in range(-(-size // 32)):
                blocks.append(hashlib.sha256(f"golden {seed} {self._drawn}".encode()).digest())
                self._drawn += 1
            return b"".join(blocks)[:size]

        self.restart()
        with mock.patch("os.urandom", urandom):
            yield

    def restart(self) -> None:
        """The stream begins anew."""
        self._drawn = 0


entropy = Entropy()


# -- values as JSON --------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """The value as JSON, so that values that differ in type or digits differ in text."""
    if value is None or isinstance(value, bool | str) or type(value) in (int, float):
        return value
    if isinstance(value, np.ndarray):
        return {f"array of {value.dtype}": value.tolist()}
    if isinstance(value, np.generic):
        return {type(value).__name__: value.item()}
    if isinstance(value, enum.Enum):
        return str(value)
    if isinstance(value, Fraction):
        return f"Fraction {_exact(str(value))}"
    if isinstance(value, Decimal | datetime | date):
        return f"{type(value).__name__} {value}"
    if isinstance(value, bytes):
        return f"bytes {value.hex()}"
    if isinstance(value, Mapping):
        return {_key(k): plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list | range):
        return [plain(v) for v in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(v) for v in value), key=str)
    assert not callable(value), f"{value!r} was not called"
    return nameless(repr(value))


def _key(key: Any) -> str:
    return key if isinstance(key, str) else str(plain(key))


def nameless(text: str) -> str:
    """The text without addresses and modules of objects."""
    return _ADDRESS.sub(r"<\1 object>", text)


def parsed(text: str) -> Any:
    """JSON text as its value and the way it was spelt, so that a change shows as a short diff."""
    found = json.loads(text)
    for style in _STYLES:
        if json.dumps(found, **style) == text.rstrip("\n"):
            spelt = ", ".join(f"{key}={value!r}" for key, value in style.items())
            end = text[len(text.rstrip("\n")) :]
            return {"json": spelt or "plain", "end": end, "is": _exact(found)}
    return {"json": "as text", "is": text}


def _exact(value: Any) -> Any:
    """JSON in which exact numbers of many digits are rounded, with the beginning of their hash."""
    if isinstance(value, str) and len(value) > 24 and _LONG.fullmatch(value):
        return f"{float(Fraction(value)):.6g} #{hashlib.sha256(value.encode()).hexdigest()[:8]}"
    if isinstance(value, dict):
        return {key: _exact(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_exact(entry) for entry in value]
    return value


def digest(text: str) -> str:
    """Long text whose details are recorded elsewhere."""
    return "sha256 " + hashlib.sha256(masked(text).encode()).hexdigest()


def lines(text: str) -> list[str]:
    """Text that a person reads, line by line."""
    return masked(text).split("\n")


def masked(text: str, *folders: Path) -> str:
    """The text without what may vary: folders, addresses, seals of schemas and the version."""
    for folder in folders:
        text = text.replace(str(folder.resolve()), "<folder>").replace(str(folder), "<folder>")
    text = _SEAL.sub(r"\1<seal>", nameless(text))
    return text.replace(tn.__version__, "<version>")


def timeless(text: str) -> str:
    """The text without moments."""
    return _TIME.sub("<time>", text)


def masked_in(value: Any, *folders: Path) -> Any:
    """The same, in every text of a value."""
    if isinstance(value, str):
        return masked(value, *folders)
    if isinstance(value, Mapping):
        return {masked(k, *folders): masked_in(v, *folders) for k, v in value.items()}
    if isinstance(value, list):
        return [masked_in(v, *folders) for v in value]
    return value


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A new folder, which is also the current one."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="golden-") as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def outcome(call: Case) -> Any:
    """What a call returns, or how it is refused."""
    try:
        found = call()
    except tn.Refused as refusal:
        found = {
            "refused": f"{type(refusal).__name__} {masked(str(refusal.code))}",
            "what": masked(refusal.what),
            "allowed": masked(refusal.allowed),
            "fix": masked(refusal.fix),
        }
        return found | ({"facts": sorted(refusal.facts)} if refusal.facts else {})
    except tn.Fault as fault:
        return {"fault": type(fault).__name__, "code": fault.code, "text": masked(str(fault))}
    except Exception as wrong:
        # what other libraries say over several lines is theirs to change
        return {"raised": type(wrong).__name__, "text": masked(str(wrong)).partition("\n")[0]}
    return {"is": plain(found)}


# -- comparison ------------------------------------------------------------------------------------


def written(value: Any, column: int = 0, used: int = 0) -> str:
    """A value as the recordings have it: on one line where it fits, else an entry a line.

    Numbers fill lines.

    column: where its first line begins.
    used: how much of that line its key and the comma after it take.
    """
    text = json.dumps(value, ensure_ascii=False)
    if not (isinstance(value, dict | list) and column + used + len(text) > _WIDTH):
        return text
    if isinstance(value, dict):
        keys = [json.dumps(key, ensure_ascii=False) + ": " for key in value]
        start, inside, end = "{", list(value.values()), "}"
    else:
        keys = [""] * len(value)
        start, inside, end = "[", value, "]"
    entries = [
        key + written(entry, column + 1, len(key) + 1)
        for key, entry in zip(keys, inside, strict=True)
    ]
    if all(map(_is_number, value)) and all(map(_is_number, inside)):
        entries = _filled(entries, _WIDTH - column - 2)
    return (
        start
        + ",".join(f"\n{' ' * (column + 1)}{entry}" for entry in entries)
        + f"\n{' ' * column}{end}"
    )


def _is_number(value: Any) -> bool:
    """Whether a value is a number, exact or not, or a few of them."""
    if isinstance(value, list):
        return 0 < len(value) <= 4 and all(map(_is_number, value))
    return _NUMBER.fullmatch(str(value)) is not None


def _filled(entries: list[str], width: int) -> list[str]:
    """Entries joined to lines of at most a width."""
    lines = entries[:1]
    for entry in entries[1:]:
        if len(lines[-1]) + len(entry) + 2 <= width:
            lines[-1] += f", {entry}"
        else:
            lines.append(entry)
    return lines


@functools.cache
def _recorded(file: Path) -> dict[str, Any]:
    found = json.loads(file.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def recorded(theme: Theme) -> dict[str, Any]:
    """What was recorded, by case."""
    return _recorded(theme.file)


DAY = "2026-01-01"
"""The day of every release that is recorded."""


def produce(theme: Theme, name: str) -> Any:
    """The value of a case today, as if read from a file."""
    with patch("tenue.publish.publish.today", lambda: DAY):
        return json.loads(written(masked_in(plain(theme.cases[name]()))))


def differences(theme: Theme, name: str, was: Any, now: Any) -> str:
    """What changed, in a few lines; nothing if nothing did."""
    if not theme.exact:
        now = _levelled(was, now)
    now = _with_recorded_facts(was, now)
    before, after = written(was), written(now)
    if before == after:
        return ""
    diff = list(
        difflib.unified_diff(
            before.split("\n"), after.split("\n"), "recorded", "today", lineterm="", n=2
        )
    )
    more = [f"... and {len(diff) - 60} more lines"] if len(diff) > 60 else []
    return "\n".join([f"{theme.name}: {name}", *diff[:60], *more])


def _levelled(was: Any, now: Any) -> Any:
    """Today's value, with the recorded floats in place of those that are as good as equal."""
    if isinstance(was, float) and isinstance(now, float):
        same = math.isclose(was, now, rel_tol=RELATIVE, abs_tol=RELATIVE)
        return was if same else now
    if isinstance(was, dict) and isinstance(now, dict):
        return {k: _levelled(was[k], v) if k in was else v for k, v in now.items()}
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        return [_levelled(w, n) for w, n in zip(was, now, strict=True)]
    return now


def _with_recorded_facts(was: Any, now: Any) -> Any:
    """Today's value without the facts that refusals have had since: none may go, some may come."""
    if isinstance(was, dict) and isinstance(now, dict):
        kept = {k: _with_recorded_facts(was[k], v) if k in was else v for k, v in now.items()}
        if "refused" in now and "facts" in was:
            kept["facts"] = sorted(set(now["facts"]) & set(was["facts"]))
        elif "refused" in now:
            kept.pop("facts", None)
        return kept
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        return [_with_recorded_facts(w, n) for w, n in zip(was, now, strict=True)]
    return now


def check(theme: Theme, name: str) -> None:
    """Fails with the difference if a case is not as recorded."""
    was = recorded(theme)
    assert name in was, f"{theme.name}: {name} was never recorded"
    found = differences(theme, name, was[name], produce(theme, name))
    assert not found, found


def check_names(theme: Theme) -> None:
    """Fails if a recorded case is no longer made, or a case was not recorded."""
    assert sorted(recorded(theme)) == sorted(theme.cases)
