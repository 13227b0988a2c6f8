"""The command line: what it prints, and with which exit code.

Commands run in this process, through the entry point that `pyproject.toml` declares, so that the
operating system's entropy can be replaced (`kit.entropy`).
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.csv as pc

import tenue as tn
from golden.kit import Case, Theme, entropy, folder, masked, timeless
from golden.ledgers import FILE
from golden.releases import declared, people
from golden.tables import SCHEMAS, census, visits

SCREEN = {"COLUMNS": "100", "LINES": "40", "NO_COLOR": "1", "TERM": "dumb"}
C = "SELECT COUNT(*) FROM census WHERE income > 50000"
ASKED = ("--schema", "census.toml")
HELP = (
    (),
    ("demo",),
    ("init",),
    ("doctor",),
    ("explain",),
    ("ask",),
    ("limits",),
    ("publish",),
    ("check",),
    ("papers",),
    ("ledger",),
    ("ledger", "show"),
    ("ledger", "verify"),
    ("ledger", "export"),
    ("ledger", "anchor"),
)
PREPARED = {
    "belief.json",
    "census.csv",
    "census.toml",
    "old.ledger",
    "people.csv",
    "people.toml",
    "visits.csv",
    "visits.toml",
    "wrong.json",
    "wrong.toml",
}
WHOLE = 26
"""Lines of a longer text that are recorded; releases and reports are whole in their own theme."""
EXPLAINED = ("count", "groups", "minimise", "interval", "belief", "no epsilon", "schema wrong")
WRITTEN = 1_700_000_000 * 10**9
_OWNER = re.compile(r'"owner": ?"[^"]*"')
_HEX = re.compile(r"\b[0-9a-f]{64}\b")


@contextlib.contextmanager
def _screen() -> Iterator[None]:
    with mock.patch.dict(os.environ, SCREEN):
        for name in ("FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE"):
            os.environ.pop(name, None)
        yield


def run(place: Path, *words: str) -> dict[str, Any]:
    """What one command prints, without what may vary."""
    main = importlib.import_module("tenue.cli").main
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        _screen(),
        mock.patch.object(sys, "argv", ["tenue", *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        entropy(),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    found: dict[str, Any] = {"typed": shlex.join(words), "exit": code}
    found["out"] = _told(out.getvalue(), place)
    if err.getvalue():
        found["err"] = _told(err.getvalue(), place)
    return found


def _told(text: str, place: Path) -> Any:
    clean = _OWNER.sub('"owner":"<owner>"', timeless(masked(text, place)))
    try:
        return _short(_unhashed(json.loads(clean)))
    except json.JSONDecodeError:
        lines = _HEX.sub("<digest>", clean).split("\n")
        return lines if len(lines) <= WHOLE else [*lines[: WHOLE // 2], "..."]


def _short(value: Any) -> Any:
    """A JSON object; of a long one, what it names."""
    if isinstance(value, dict) and len(json.dumps(value)) > 1500:
        return {k: " ".join(map(str, v)) if isinstance(v, dict) else v for k, v in value.items()}
    return value


def _unhashed(value: Any) -> Any:
    """Digests that depend on the moment or on the version say nothing; a schema's does."""
    if isinstance(value, dict):
        return {k: v if k == "schema_hash" else _unhashed(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_unhashed(v) for v in value]
    if isinstance(value, str):
        return _HEX.sub("<digest>", value)
    return value


def journey(*commands: tuple[str, ...]) -> Case:
    """Several commands, one after the other, in a folder with tables and schemas."""

    def case() -> Any:
        with folder() as place:
            _prepare(place)
            for words in commands:
                _open_as_holder(place, words)
            told = [run(place, *words) for words in commands]
            return {"told": told, "files": _files(place)}

    return case


def _files(place: Path) -> str:
    """What lies in the folder beside what was prepared."""
    found = {str(file.relative_to(place)) for file in place.rglob("*") if file.is_file()}
    return " ".join(sorted(found - PREPARED))


@functools.cache
def _stated() -> dict[str, str]:
    stated = json.loads(json.dumps(SCHEMAS["added"]))
    stated["table"]["source"] = "census.csv"
    several = json.loads(json.dumps(SCHEMAS["visits"]))
    several["table"]["source"] = "visits.csv"
    copied = declared()
    copied["table"]["source"] = "people.csv"
    return {
        "census.toml": tn.Schema.from_dict(stated).to_toml(),
        "people.toml": tn.Schema.from_dict(copied).to_toml(),
        "visits.toml": tn.Schema.from_dict(several).to_toml(),
        "belief.json": tn.prior.Binomial(240, 0.6).to_json(),
        "wrong.json": '{"prior": "certain"}',
        "wrong.toml": '[table]\nname = "x"\n',
    }


def _prepare(place: Path) -> None:
    pc.write_csv(census(), place / "census.csv")
    pc.write_csv(people(), place / "people.csv")
    pc.write_csv(visits(), place / "visits.csv")
    for name, text in _stated().items():
        (place / name).write_text(text, encoding="utf-8")
    shutil.copy(FILE, place / "old.ledger")
    for table in ("census.csv", "people.csv", "visits.csv"):
        os.utime(place / table, ns=(WRITTEN, WRITTEN))


def _open_as_holder(place: Path, words: tuple[str, ...]) -> None:
    """A file is validated by its holder before an analyst may ask."""
    if "--analyst" in words and "holder" not in words:
        tn.protect(schema=place / "census.toml").close()


def written(names: tuple[str, ...], *commands: tuple[str, ...]) -> Case:
    """The same, and the files they wrote."""

    def case() -> Any:
        with folder() as place:
            _prepare(place)
            told = [run(place, *words) for words in commands]
            texts = {n: _told((place / n).read_text(encoding="utf-8"), place) for n in names}
            return {"told": told, "files": _files(place), "texts": texts}

    return case


def _both(verb: str, *words: str) -> Case:
    """A command in words, and as JSON; in a folder of its own if the first one did something."""

    def case() -> Any:
        with folder() as place:
            _prepare(place)
            _open_as_holder(place, words)
            told = [run(place, verb, *words)]
            if told[0]["exit"] or verb == "explain":
                told.append(run(place, verb, *words, "--json"))
            files = _files(place)
        if len(told) == 2:
            return {"told": told, "files": files}
        again = journey((verb, *words, "--json"))()
        return {"told": told + again["told"], "files": [files, again["files"]]}

    return case


def _questions() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for verb in ("explain", "ask"):
        for name, words in {
            "count": (C, *ASKED, "--epsilon", "0.5"),
            "groups": (
                "SELECT region, COUNT(*) AS n FROM census GROUP BY region",
                *ASKED,
                "--epsilon",
                "1",
            ),
            "accuracy": (C, *ASKED, "--accuracy", "0.95:10"),
            "minimise": (
                "SELECT SUM(income) FROM census",
                *ASKED,
                "--epsilon",
                "1/2",
                "--minimise",
                "interval:0.9",
            ),
            "interval": (
                "SELECT MEDIAN(age) FROM census",
                *ASKED,
                "--epsilon",
                "4",
                "--interval",
                "0.9",
            ),
            "mechanism": (
                "SELECT SUM(income) FROM census",
                *ASKED,
                "--epsilon",
                "1",
                "--mechanism",
                "discrete Laplace",
            ),
            "belief": (
                "SELECT COUNT(*) FROM census WHERE employed",
                *ASKED,
                "--epsilon",
                "0.1",
                "--prior",
                "belief.json",
            ),
            "no epsilon": (C, *ASKED),
            "epsilon": (C, *ASKED, "--epsilon", "much"),
            "no schema": (C, "--epsilon", "1"),
            "schema missing": (C, "--schema", "none.toml", "--epsilon", "1"),
            "schema wrong": (C, "--schema", "wrong.toml", "--epsilon", "1"),
            "accuracy wrong": (C, *ASKED, "--accuracy", "10"),
            "belief wrong": (C, *ASKED, "--epsilon", "1", "--prior", "wrong.json"),
            "belief missing": (C, *ASKED, "--epsilon", "1", "--prior", "none.json"),
            "delta alone": (C, *ASKED, "--epsilon", "1", "--delta", "1e-6"),
            "mechanism wrong": (C, *ASKED, "--epsilon", "1", "--mechanism", "loud"),
            "question wrong": ("SELECT COUNT(*) FROM cencus", *ASKED, "--epsilon", "1"),
            "words": ("SELECT", "COUNT(*)", *ASKED, "--epsilon", "1"),
            "option": (C, *ASKED, "--epsilonn", "1"),
        }.items():
            if verb == "ask" or name in EXPLAINED:
                cases[f"{verb}: {name}"] = _both(verb, *words)
    for name, words in {
        "analyst": ("--epsilon", "1", "--analyst", "ann"),
        "holder": ("--epsilon", "1", "--analyst", "holder"),
        "over budget": ("--epsilon", "1001"),
        "over quota": ("--epsilon", "11", "--analyst", "ann"),
        "individual": ("--epsilon", "1", "--individual"),
        "source": ("--epsilon", "1", "--source", "none.csv"),
        "other source": ("--epsilon", "1", "--source", "people.csv"),
        "ledger": ("--epsilon", "1", "--ledger", "other.ledger"),
        "ledger wrong": ("--epsilon", "1", "--ledger", "census.csv"),
    }.items():
        cases[f"ask: {name}"] = _both("ask", C, *ASKED, *words)
    return cases


def _publishing() -> dict[str, Case]:
    base = ("--schema", "people.toml", "--out", "out")
    found: dict[str, tuple[str, ...]] = {
        "swap": ("--method", "swap", "-k", "5", *base),
        "swap, several k": (
            "--method",
            "swap",
            "-k",
            "income=4,tax=5,ill=6",
            "--by",
            "other-attributes",
            *base,
        ),
        "microaggregate": ("--method", "microaggregate", "-k", "4", *base),
        "microaggregate, l and t": (
            *("--method", "microaggregate", "-k", "3", "--l", "2", "--t", "0.4"),
            *base,
        ),
        "v-mdav": (
            *("--method", "microaggregate", "-k", "3", "--by", "v-mdav", "--gamma", "1.1"),
            *base,
        ),
        "parquet": ("--method", "swap", "-k", "5", "--kind", "parquet", *base),
        "not registered": ("--method", "swap", "-k", "5", "--no-register", *base),
        "method": ("--method", "shuffle", "-k", "5", *base),
        "k": ("--method", "swap", "-k", "many", *base),
        "k too large": ("--method", "swap", "-k", "99", *base),
        "k for each": ("--method", "swap", "-k", "income=4,tax", *base),
        "by": ("--method", "swap", "-k", "5", "--by", "mdav", *base),
        "kind": ("--method", "swap", "-k", "5", "--kind", "xlsx", *base),
        "override": ("--method", "swap", "-k", "5", "--override", "all", *base),
        "no out": ("--method", "swap", "-k", "5", "--schema", "people.toml"),
        "ledger inside": ("--method", "swap", "-k", "5", "--ledger", "out/x.ledger", *base),
        "source": ("--method", "swap", "-k", "5", "--source", "none.csv", *base),
    }
    return {f"publish: {name}": _both("publish", *words) for name, words in found.items()}


def _cases() -> dict[str, Case]:
    swap = ("publish", "--schema", "people.toml", "--method", "swap", "-k", "5", "--out")
    ask = ("ask", C, *ASKED, "--epsilon", "0.5")
    cases: dict[str, Case] = {
        f"help: {' '.join(words) or 'tenue'}": journey((*words, "--help")) for words in HELP
    }
    cases |= _questions() | _publishing()
    cases |= {
        "limits": _both(
            "limits",
            *("--schema", "visits.toml", "--epsilon", "20", "--by", "ward", "--column", "cost"),
        ),
        "limits: records": _both("limits", *ASKED, "--epsilon", "1"),
        "nothing": journey(()),
        "version": journey(("--version",)),
        "unknown": journey(("aks",), ("aks", "--json"), ("--nothing",), ("ledger", "burn")),
        "ledger alone": journey(("ledger",)),
        "init": written(("data.toml",), ("init", "census.csv", "--out", "data.toml")),
        "init, bounds": written(
            ("data.toml",),
            ("init", "census.csv", "--out", "data.toml", "--bounds-from-data", "--json"),
        ),
        "init, again": journey(
            ("init", "census.csv"),
            ("init", "census.csv", "--json"),
            ("init", "census.csv", "--force", "--json"),
            ("init", "none.csv"),
            ("init", "none.csv", "--out", "y.toml", "--json"),
            ("init", "people.csv", "--out", "no/folder/x.toml"),
        ),
        "asked again": journey(
            ask,
            ask,
            (*ask, "--fresh"),
            (*ask, "--key", "k"),
            (*ask, "--key", "k", "--json"),
            ("ledger", "show", "census.ledger"),
            ("ledger", "show", "census.ledger", "--last", "1"),
            ("ledger", "show", "census.ledger", "--json"),
            ("ledger", "verify", "census.ledger", "--json"),
            ("ledger", "export", "census.ledger"),
            ("ledger", "export", "census.ledger", "--json"),
            ("ledger", "export", "census.ledger", "--out", "out.jsonl"),
        ),
        "published again": written(
            ("out/certificate.json", "out/manifest.json", "out/table.csv"),
            (*swap, "out"),
            (*swap, "out"),
            (*swap, "more"),
            (*swap, "more", "--json"),
            (*swap, "more", "--override", "second-release", "--json"),
            (*swap, "more", "--override", "second-release", "--replace"),
            ("check", "out/table.csv", "--schema", "people.toml"),
            ("check", "out/table.csv", "--schema", "people.toml", "--json"),
            ("ledger", "show", "people.ledger"),
        ),
        "check": journey(
            ("check", "people.csv", "--schema", "people.toml"),
            ("check", "people.csv", "--schema", "people.toml", "--json"),
            ("check", "people.csv", "--quasi-identifiers", "job", "--confidential", "ill,tax"),
            ("check", "people.csv", "--quasi-identifiers", "job,note", "--json"),
            ("check", "people.csv", "--quasi-identifiers", "job", "--unit", "name"),
            ("check", "people.csv"),
            ("check", "people.csv", "--json"),
            ("check", "none.csv", "--schema", "people.toml"),
            ("check", ".", "--schema", "people.toml"),
            ("check", "people.csv", "--quasi-identifiers", "agee", "--json"),
        ),
        "old ledger": journey(
            ("ledger", "show", "old.ledger"),
            ("ledger", "show", "old.ledger", "--last", "3", "--json"),
            ("ledger", "verify", "old.ledger"),
            ("ledger", "verify", "old.ledger", "--json"),
            ("ledger", "anchor", "old.ledger", "--out", "a.json"),
            ("ledger", "anchor", "old.ledger", "--out", "a.json", "--json"),
            ("ledger", "verify", "old.ledger", "--anchor", "a.json"),
            ("ledger", "export", "old.ledger", "--out", "e.jsonl"),
        ),
        "no ledger": journey(
            ("ledger", "show", "none.ledger"),
            ("ledger", "show", "none.ledger", "--json"),
            ("ledger", "verify", "census.csv"),
            ("ledger", "verify", "census.csv", "--json"),
            ("ledger", "show", "old.ledger", "--last", "-1"),
            ("ledger", "verify", "old.ledger", "--anchor", "none.json"),
        ),
        "demo, wrong": journey(("demo", "--epsilon", "0"), ("demo", "--epsilon", "0", "--json")),
    }
    return cases


THEME = Theme("commands", _cases(), exact=False)
