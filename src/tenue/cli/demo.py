"""A demonstration on made-up tables: noise, questions, ledger, releases."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from .options import AsJson
from .parser import Option, say

REGIONS = ("North", "East", "South", "West")
ROWS = 20_000
PANEL_ROWS = 10_000

SCHEMA = """\
# Everything public about the made-up table of this demo.
[table]
name = "people"
source = "people.parquet"
unit = "record"                 # each person has one row
neighbours = "add-or-remove"    # the number of people is secret

[columns.age]
type = "number"
bounds = [18, 90]
role = "quasi-identifier"

[columns.region]
type = "category"
categories = ["North", "East", "South", "West"]
role = "quasi-identifier"

[columns.income]
type = "number"
bounds = [0, 200_000]           # stated by the holder, never read from the rows
grid = 1
role = "confidential"

[columns.employed]
type = "boolean"
role = "quasi-identifier"

[budget]
total = 5.0
per_analyst = 3.0
"""


def write_people(folder: Path) -> Path:
    """Writes people.parquet and people.toml; returns the schema's path."""
    return _write(folder, "people", ROWS, 2026, SCHEMA)


def write_panel(folder: Path) -> Path:
    """The same of other people, whose number is public: panel.parquet and panel.toml."""
    schema = SCHEMA.replace('"people', '"panel')
    schema = schema.replace('"add-or-remove"    # the number of people is secret', '"replace"')
    return _write(folder, "panel", PANEL_ROWS, 2027, schema)


def _write(folder: Path, name: str, rows: int, seed: int, schema: str) -> Path:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from ..noise.source import Seeded

    # bits of a seed: the rows are made up, nothing about them is private
    words = Seeded(seed).words(4 * rows, 32).reshape(4, rows).astype(np.float64) / 2**32
    age = 18 + np.floor(words[0] ** 1.3 * 73)
    region = np.asarray(REGIONS)[(words[1] ** 1.2 * 4).astype(int)]
    employed = words[2] < np.where(age < 66, 0.78, 0.12)
    income = np.where(employed, 15_000 + 60_000 * words[3] ** 2.5 + 350 * (age - 18), 9_000)
    table = pa.table(
        {
            "age": age.astype(np.int32),
            "region": region,
            "income": np.floor(income).astype(np.int64),
            "employed": employed,
        }
    )
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / f"{name}.parquet")
    path = folder / f"{name}.toml"
    path.write_text(schema, encoding="utf-8")
    return path


QUESTIONS = (
    "SELECT COUNT(*) FROM people WHERE income > 50000",
    "SELECT region, COUNT(*) AS people, AVG(income) AS mean_income FROM people GROUP BY region",
    "SELECT COUNT(*) AS people, SUM(income) AS total FROM people WHERE employed",
)

YOURS = "SELECT AVG(age) FROM people"

Rows = list[dict[str, Any]]


def demo(
    epsilon: Annotated[str, Option("What each question may cost.", value="NUMBER")] = "0.5",
    out: Annotated[Path, Option("Where the made-up table goes.", value="FOLDER")] = Path(
        "demo-out"
    ),
    as_json: AsJson = False,
) -> None:
    """Ask and publish a made-up table. First it shows the laws of noise side by side.

    Example
        tenue demo --epsilon 1
    """
    from ..arguments import above_zero

    level = float(above_zero(epsilon, "epsilon"))
    one, many = _one_answer(level), _many_answers(level)
    asked = _asked(epsilon, out)
    release = _published(out)
    plan, private = _private(out)
    if as_json:
        answers = [json.loads(answer.to_json()) for answer in asked["answers"]]
        shown = {"one": one, "many": many, "answers": answers, "budget": asked["budget"]}
        shown["certificate"] = release.certificate.to_dict()
        shown |= {"plan": plan.to_dict(), "private": private.certificate.to_dict()}
        say(json.dumps(shown))
        return
    _show(epsilon, one, many, asked, (release, plan, private), out)
    say(f'\nYour turn:\n{command_name()} ask --schema {out}/people.toml --epsilon 0.5 "{YOURS}"\n')


def _one_answer(epsilon: float) -> Rows:
    from .. import noise

    price: dict[str, Any] = {"sensitivity": 1, "epsilon": epsilon}
    laws: list[tuple[str, Any]] = [
        ("Laplace", noise.Laplace(**price)),
        ("Optimal: variance", noise.Optimal(**price)),
        ("Optimal: absolute error", noise.Optimal(**price, minimise="absolute-error")),
        ("Optimal: 95 % interval", noise.Optimal(**price, minimise=("interval", 0.95))),
        ("Discrete Laplace (counts)", noise.DiscreteLaplace(**price)),
    ]
    return [
        {
            "law": name,
            "variance": law.variance,
            "absolute_error": law.mean_absolute_error,
            "interval": law.interval(0.95)[1],
            "loss": law.loss(1),
        }
        for name, law in laws
    ]


def _many_answers(epsilon: float) -> Rows:
    from .. import noise

    rows = []
    for dimension in (2, 5, 10, 20):
        box = partial(noise.OptimalBox, sensitivities=[1] * dimension, epsilon=epsilon)
        boxes = {signs: box(signs=signs).variance[0] for signs in ("any", "same")}
        rows.append({"answers": dimension, "laplace": 2 * (dimension / epsilon) ** 2, **boxes})
    return rows


def _asked(epsilon: str, out: Path) -> dict[str, Any]:
    """Answers about the made-up table, with a new ledger in every run."""
    from ..ask.dataset import protect

    for stale in out.glob("people.ledger*"):
        stale.unlink()
    with protect(schema=write_people(out)) as data:
        return {
            "plan": data.explain(QUESTIONS[1], epsilon=epsilon),
            "answers": [data.ask(sql, epsilon=epsilon) for sql in QUESTIONS],
            "again": data.ask(QUESTIONS[0], epsilon=epsilon),
            "budget": str(data.budget),
            "verified": str(data.ledger.verify()),
        }


def _published(out: Path) -> Any:
    """A protected copy of the made-up table, its incomes swapped among similar people."""
    from ..publish.publish import publish

    release = publish(schema=out / "people.toml", method="swap", k=12)
    release.save(out / "published", replace=True)
    return release


def _private(out: Path) -> tuple[Any, Any]:
    """The plan of a private table, and the table."""
    from ..publish.publish import publish
    from ..publish.synthetic.plan import plan_release

    for stale in out.glob("panel.ledger*"):
        stale.unlink()
    schema = write_panel(out)
    plan = plan_release(schema, PANEL_ROWS, epsilon=1)
    release = publish(schema=schema, method="private", epsilon=1)
    release.save(out / "private", replace=True)
    return plan, release


def _show(epsilon: str, one: Rows, many: Rows, asked: Any, published: Any, out: Path) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    plainly = partial(console.print, markup=False, soft_wrap=True)
    release, plan, private = published
    console.print("\n[bold]Tenue[/bold]: the least noise that keeps the promise\n")

    numbers = ("variance", "absolute_error", "interval", "loss")
    rows = [[row["law"], *(f"{row[name]:.4g}" for name in numbers)] for row in one]
    names = ("law", "variance", "mean |error|", "95 % within ±", "loss")
    title = f"1. Noise for one answer, sensitivity 1, epsilon {epsilon}"
    console.print(_table(title, names, rows, left=1))
    rows = [
        [
            str(row["answers"]),
            *(f"{row[name]:.4g}" for name in ("laplace", "any", "same")),
            f"{1 - row['same'] / row['laplace']:.0%}",
        ]
        for row in many
    ]
    names = ("answers", "Laplace", "box", "same-sign box", "saved")
    console.print(_table("2. Many answers at once: variance of each", names, rows))

    console.print(f"[bold]3. A made-up table[/bold] in {out}/: people.parquet, people.toml\n")
    console.print("[bold]4. Explain[/bold] (reads no rows, costs nothing)\n")
    plainly(str(asked["plan"]))
    console.print("\n[bold]5. Ask[/bold] (the ledger is debited before a row is read)")
    for answer in asked["answers"]:
        plainly(f"\n{answer.plan.sql}", style="cyan")
        plainly(str(answer))
    console.print("\nThe first question again:", style="cyan")
    plainly(str(asked["again"]))
    console.print("\n[bold]6. The ledger[/bold]\n")
    plainly(asked["budget"])
    plainly(asked["verified"])
    console.print(f"\n[bold]7. Publish[/bold] a protected copy: {out}/published")
    console.print(f"   Open {out}/published/report.html in a browser.\n", soft_wrap=True)
    plainly(str(release.certificate))
    console.print("\nFor the holder alone:", style="cyan")
    plainly(str(release.risk).splitlines()[0])
    plainly(str(release.utility).splitlines()[0])
    console.print(f"\n[bold]8. Publish[/bold] a private table of other people: {out}/private\n")
    plainly(str(plan))
    plainly(f"\nPromised: {private.certificate.promise}.")
    console.print("\nFor the holder alone:", style="cyan")
    plainly(private.utility.in_short)


def _table(title: str, names: Sequence[str], rows: list[list[str]], left: int = 0) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for index, name in enumerate(names):
        table.add_column(name, justify="left" if index < left else "right", no_wrap=left > 0)
    for row in rows:
        table.add_row(*row)
    return table


def command_name() -> str:
    """The command that starts Tenue at this prompt: `tenue` if it is on the path."""
    script = Path(sys.executable).with_name("tenue")
    found = shutil.which("tenue")
    if found is not None and script.exists() and script.samefile(found):
        return "tenue"
    if not script.exists():
        return f"{Path(sys.executable).name} -m tenue"
    here = Path().absolute()
    return str(script.relative_to(here)) if script.is_relative_to(here) else str(script)
