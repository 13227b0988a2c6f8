"""`tenue publish --sweep k=3,5,10`: many previews, and advice which of them to publish."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import refuse
from ..text import hanging
from .messages import translated
from .parser import say

if TYPE_CHECKING:
    from ..publish.sweep import Advice, Sweep

_METHODS = "microaggregate,swap"
FILES = ("report.html", "sweep.json", "sweep.svg")


def swept(
    schema: Path,
    source: str | None,
    text: str,
    methods: str | None,
    needed: dict[str, Any],
    progress: Any,
) -> Sweep:
    """The releases that were tried.

    Parameters
        text: the sizes, written k=3,5,10.
        methods: written microaggregate,swap:by=each-confidential,t-close:t=2.
        needed: other options, for the methods that require them.
    """
    from ..publish.sweep import sweep

    name, equals, sizes = text.partition("=")
    if name.strip() != "k" or not equals:
        raise refuse("cli.invalid-sweep", text=text)
    found = sweep(
        source,
        schema=schema,
        k=[size.strip() for size in sizes.split(",") if size.strip()],
        methods=_asked(_METHODS if methods is None else methods, needed),
        progress=progress,
    )
    trials = [
        one if one.refused is None else replace(one, refused=translated(one.refused, names=False))
        for one in found.trials
    ]
    return replace(found, trials=tuple(trials))


def _asked(text: str, needed: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The methods with their options; a required option of `needed` is the default."""
    from ..publish.methods.catalogue import METHODS, options_of

    asked, taken = [], set()
    for part in text.split(","):
        method, *options = (word.strip() for word in part.split(":"))
        own = {}
        for option in options:
            name, equals, value = option.partition("=")
            if not equals:
                raise refuse("cli.invalid-method-option", text=part, option=option)
            own[name.strip()] = value.strip()
        known = options_of([METHODS[method]]) if method in METHODS else {}
        lacking = [n for n, how in known.items() if how.default is how.empty and n != "k"]
        taken.update(lacking)
        asked.append((method, {**{n: needed[n] for n in lacking if n in needed}, **own}))
    for name in needed:
        if name not in taken:
            raise refuse("cli.option-not-swept", option=name)
    return asked


def show(found: Sweep, risk: str | None, out: Path | None, *, as_json: bool) -> None:
    """Table, advice and files."""
    advice = None if risk is None else found.advise(risk)
    written = [] if out is None else _write(found, out, advice)
    if as_json:
        facts = None
        if advice is not None:
            best, chosen = advice.trial, None
            if best is not None:
                chosen = {"method": best.method, "k": best.k, "options": dict(best.options)}
            facts = {"risk": risk, "chosen": chosen, "reason": advice.reason}
        say(json.dumps({**found.to_dict(), "advice": facts, "files": written}, default=str))
        return
    say(str(found))
    if advice is not None:
        say("\n" + hanging(advice.reason))
    if written:
        say(f"\nWrote {', '.join(written)} to {out}.")
    say("\nNothing was registered and nothing has left. Keep this to yourself.")


def _write(found: Sweep, out: Path, advice: Advice | None) -> list[str]:
    from ..report.chart import Chart, can_draw

    texts = {"report.html": found.page(advice=advice), "sweep.json": found.to_json() + "\n"}
    if can_draw() and any(one.risk is not None for one in found.trials):
        texts["sweep.svg"] = Chart(found.picture()).svg() + "\n"
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (out / name).write_text(text, encoding="utf-8")
    except OSError:
        raise refuse("cli.sweep-not-writable", name=out.name) from None
    return [name for name in FILES if name in texts]


def check_out(out: Path | None) -> None:
    """Refuses a folder with other files, which may be published."""
    if out is None or not out.exists():
        return
    if not out.is_dir() or {path.name for path in out.iterdir()} - {*FILES}:
        raise refuse("cli.sweep-folder-not-empty", name=out.name)
