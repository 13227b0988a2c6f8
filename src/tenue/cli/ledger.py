"""Show, verify, export or anchor a ledger."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from ..errors import refuse
from ..text import exactly, hanging
from .options import AsJson
from .parser import App, Argument, Option, say, written

app = App("tenue ledger", "Show, verify, export or anchor what was spent.")
_VERIFIED = ("ok", "entries", "head", "first_bad", "reason")
_COMPARED = ("ok", "dataset", "entry", "reason")
_BALANCE = (
    *("dataset", "neighbours", "protocol", "total", "spent", "remaining"),
    *("total_delta", "spent_delta", "individual"),
)
LedgerPlace = Annotated[str, Argument("The ledger's file, or its address.")]


def _opened(place: str) -> Any:
    from ..ledger.locate import open_ledger
    from ..schema.address import is_address

    if not is_address(place) and not Path(place).is_file():
        raise refuse("cli.ledger-not-found", name=Path(place).name)
    return open_ledger(place, make=False)


@app.command("show")
def show(
    path: LedgerPlace,
    last: Annotated[int, Option("How many of the latest questions to show.", least=0)] = 10,
    as_json: AsJson = False,
) -> None:
    """Show what was spent, what remains, and every release. Releases with date, method and folder;
    for every data set, with the latest questions.

    Example
        tenue ledger show census.ledger --last 20
    """
    from ..ledger.results import debits, released

    with _opened(path) as ledger:
        balances = [ledger.balance(name) for name in ledger.datasets()]
        entries = list(ledger.entries())
    paid, releases = debits(entries), released(entries)
    shown = paid[len(paid) - last :] if last < len(paid) else paid
    if as_json:
        questions = [_as_line(debit) for debit in shown]
        left = [{"entry": one.sequence, **_of_release(one)} for one in releases]
        balanced = [balance_as_dict(b) for b in balances]
        found = {"datasets": balanced, "questions": questions, "releases": left}
        say(json.dumps(found))
        return
    say("\n".join(str(balance) for balance in balances) or "No data set yet.")
    if releases:
        say("\nReleases:")
    for one in releases:
        end = " (never left)" if one.withdrawn else ""
        end += " (although the table had been released before)" if one.override else ""
        say(hanging(f"{one.time[:16]}  {one.dataset}  {one.method}{end}", "  "))
        if not one.withdrawn:
            say(hanging(", ".join(one.places) or "in no folder that the ledger knows", "    "))
    if shown:
        most = f"the last {len(shown)} of {len(paid)}" if len(shown) < len(paid) else "all"
        say(f"\nPaid for ({most}):")
    for debit in shown:
        line = _as_line(debit)
        kind = "" if debit.column == "dp" else " individual"
        delta = f" delta {line['delta']}" if debit.delta else ""
        end = "" if debit.outcome == "answered" else f" ({debit.outcome})"
        words = line["asked"] or "a question without a recorded text"
        price = f"epsilon {line['epsilon']}{kind}{delta}{end}"
        say(f"  {debit.time[:16]}  {debit.analyst}  {price}\n{hanging(words, '    ')}")


@app.command("verify")
def verify(
    path: LedgerPlace,
    anchor: Annotated[Path | None, Option("An anchor kept elsewhere.")] = None,
    certificate: Annotated[
        Path | None, Option("A certificate.json: was it issued under a schema of this ledger?")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify every entry. Exit code 1 if something was changed, or a certificate is not of this
    ledger.

    Example
        tenue ledger verify census.ledger --anchor census.anchor.json
    """
    with _opened(path) as ledger:
        found = ledger.verify(anchor=anchor)
        compared = None if certificate is None else ledger.verify_certificate(certificate)
    if as_json:
        facts = {name: getattr(found, name) for name in _VERIFIED}
        if compared is not None:
            facts["certificate"] = {name: getattr(compared, name) for name in _COMPARED}
        say(json.dumps(facts))
    else:
        say(str(found) if compared is None else f"{found}\n{compared}")
    if not found or (compared is not None and not compared):
        raise SystemExit(1)


@app.command("export")
def export(
    path: LedgerPlace,
    out: Annotated[Path | None, Option("Where the entries go; the screen if not given.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write every entry as one line of JSON.

    Example
        tenue ledger export census.ledger --out entries.jsonl
    """
    with _opened(path) as ledger:
        if as_json:
            entries = [json.loads(entry.to_json()) for entry in ledger.entries()]
            say(json.dumps({"entries": entries}))
        elif out is None:
            with written():
                ledger.export(sys.stdout)
        else:
            say(f"Wrote {ledger.export(out)} entries to {out}.")


@app.command("anchor")
def anchor(
    path: LedgerPlace,
    out: Annotated[Path, Option("A file that belongs on another machine.")],
    as_json: AsJson = False,
) -> None:
    """Record the last entry of the ledger. A later truncation or rollback is then detected.

    Example
        tenue ledger anchor census.ledger --out census.anchor.json
    """
    with _opened(path) as ledger:
        made = ledger.anchor(out)
    if as_json:
        say(json.dumps({"anchor": str(out), "entries": made.entries}))
    else:
        say(f"Anchored {made.entries} entries in {out}. Keep it on another machine.")


def _as_line(debit: Any) -> dict[str, Any]:
    fields = {name: _plain(value) for name, value in vars(debit).items()}
    return {"entry": fields.pop("sequence"), **fields}


def _of_release(one: Any) -> dict[str, Any]:
    facts = dict(vars(one))
    del facts["sequence"]
    return facts | {"places": list(one.places)}


def balance_as_dict(balance: Any) -> dict[str, Any]:
    facts = {name: _plain(getattr(balance, name)) for name in _BALANCE}
    quotas = [{"analyst": one.analyst, "spent": _plain(one.spent)} for one in balance.analysts]
    total = _plain(balance.total_individual)
    return {**facts, "individual_total": total, "releases": balance.releases, "analysts": quotas}


def _plain(value: Any) -> Any:
    return exactly(value) if isinstance(value, Fraction) else value
