"""The tables of `private_release.py`: reference data where it is there, and made-up ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

import tenue as tn
from tenue.publish.synthetic.domain import Domain

__all__ = ["TABLES", "Made", "clouds", "large", "made", "number"]

Schema = dict[str, object]
HEAD = {"name": "people", "unit": "record", "neighbours": "replace"}
CENSUS = {"FICA": 12_000, "FEDTAX": 32_000, "INTVAL": 75_000, "POTHVAL": 160_000}
ADULT4 = ["age", "hours-per-week", "occupation", "native-country"]
ADULT8 = ["age", "workclass", "education", "marital-status", "occupation", "sex"]
ADULT8 += ["hours-per-week", "income"]
AGES = {"age": (17, 90), "hours-per-week": (1, 99), "fnlwgt": (10_000, 1_500_000)}
GAINS = {"capital-gain": (0, 99_999), "capital-loss": (0, 5_000), "education-num": (1, 16)}


@dataclass(frozen=True, eq=False)
class Made:
    """A table, its schema, and which value of which column a classifier is asked for."""

    table: pa.Table
    schema: Schema
    target: tuple[str, str] | None = None


def number(low: int, high: int) -> Schema:
    return {"type": "number", "bounds": [low, high]}


def category(values: pa.ChunkedArray) -> Schema:
    return {"type": "category", "categories": sorted(pc.unique(values).to_pylist())}


def described(table: pa.Table, bounds: dict[str, tuple[int, int]]) -> Schema:
    columns = {
        name: number(*bounds[name]) if name in bounds else category(table.column(name))
        for name in table.column_names
    }
    return {"table": HEAD, "columns": columns}


def round_up(number: float) -> int:
    """The next number with one digit that is not 0: what a holder would state."""
    digit = 10 ** (len(str(int(number))) - 1)
    return int(-(-int(number) // digit) * digit)


def census(folder: Path, names: list[str] | None) -> Made:
    table = pq.read_table(folder / "census.parquet")
    table = table if names is None else table.select(names)
    bounds = {}
    for name in table.column_names:
        ends = pc.min_max(table.column(name)).as_py()
        low = 0 if ends["min"] >= 0 else -round_up(-ends["min"])
        bounds[name] = (low, CENSUS.get(name, round_up(ends["max"])))
    return Made(table, described(table, bounds))


def adult(folder: Path, names: list[str] | None) -> Made:
    table = pq.read_table(folder / "adult.parquet")
    table = table.select(
        [n for n in table.column_names if n != "education-num"] if names is None else names
    )
    bounds = {n: b for n, b in (AGES | GAINS).items() if n in table.column_names}
    target = ("income", ">50K") if "income" in table.column_names else None
    return Made(table, described(table, bounds), target)


def eia(folder: Path) -> Made:
    table = pq.read_table(folder / "eia.parquet")
    table = table.select(
        [n for n in table.column_names if n not in ("UTILITYID", "UTILNAME", "STATE", "YEAR")]
    )
    bounds = {}
    for name in table.column_names:
        ends = pc.min_max(table.column(name)).as_py()
        low = 0 if ends["min"] >= 0 else -round_up(-ends["min"])
        bounds[name] = (low, round_up(ends["max"]))
    return Made(table, described(table, bounds))


def mixture(rows: int, columns: int) -> Made:
    """Five clouds of different width in a cube."""
    rng = np.random.default_rng(11)
    centres, widths = rng.uniform(0.2, 0.8, (5, columns)), rng.uniform(0.01, 0.08, 5)
    which = rng.integers(0, 5, rows)
    points = centres[which] + rng.normal(size=(rows, columns)) * widths[which][:, None]
    steps = np.clip(points * 10_000, 0, 10_000).astype(np.int64)
    table = pa.table({f"x{j}": steps[:, j] for j in range(columns)})
    return Made(table, described(table, dict.fromkeys(table.column_names, (0, 10_000))))


def visits(rows: int = 20_000) -> Made:
    """Visits to a clinic: skewed costs that depend on ward and stay, ages with two humps."""
    rng = np.random.default_rng(5)
    ward = rng.choice(
        ["north", "south", "east", "west", "day"], rows, p=[0.3, 0.25, 0.2, 0.15, 0.1]
    )
    age = np.where(rng.uniform(size=rows) < 0.3, rng.normal(8, 4, rows), rng.normal(62, 14, rows))
    stay = np.where(ward == "day", 0, rng.geometric(0.25, rows))
    cost = rng.lognormal(6 + 0.25 * np.minimum(stay, 10), 0.6)
    table = pa.table(
        {
            "ward": ward,
            "age": np.clip(age, 0, 105).astype(np.int64),
            "stay": np.clip(stay, 0, 60).astype(np.int64),
            "cost": np.clip(cost, 0, 100_000).astype(np.int64),
        }
    )
    bounds = {"age": (0, 110), "stay": (0, 60), "cost": (0, 100_000)}
    return Made(table, described(table, bounds))


def loans(rows: int = 50_000) -> Made:
    """Six columns, three of them categories, of a bank: related by income."""
    rng = np.random.default_rng(6)
    income = rng.lognormal(10.4, 0.5, rows)
    amount = income * rng.uniform(0.2, 4, rows)
    grade = np.array(list("ABCDE"))[
        np.clip((amount / income + rng.normal(0, 0.7, rows)), 0, 4).astype(int)
    ]
    term = np.where(
        amount > 40_000, "long", np.where(rng.uniform(size=rows) < 0.7, "short", "long")
    )
    table = pa.table(
        {
            "income": np.clip(income, 0, 400_000).astype(np.int64),
            "amount": np.clip(amount, 0, 800_000).astype(np.int64),
            "rate": np.clip(
                (np.searchsorted(list("ABCDE"), grade) * 20 + rng.normal(40, 8, rows)), 0, 200
            ).astype(np.int64),
            "grade": grade,
            "term": term,
            "region": rng.choice([f"r{i}" for i in range(12)], rows),
        }
    )
    bounds = {"income": (0, 400_000), "amount": (0, 800_000), "rate": (0, 200)}
    return Made(table, described(table, bounds))


def meters(rows: int = 30_000) -> Made:
    """Readings of six meters that hang together by the weather; one is off most of the time."""
    rng = np.random.default_rng(8)
    weather = rng.normal(size=(rows, 2))
    mixed = weather @ rng.normal(size=(2, 6)) + 0.5 * rng.normal(size=(rows, 6))
    steps = np.clip(mixed * 400 + 2_000, 0, 4_000).astype(np.int64)
    steps[rng.uniform(size=rows) < 0.8, 5] = 0
    table = pa.table({f"meter{j}": steps[:, j] for j in range(6)})
    return Made(table, described(table, dict.fromkeys(table.column_names, (0, 4_000))))


def rides(rows: int = 40_000) -> Made:
    """Rides in a town: fares by distance with steps, twice as long at the hours of traffic."""
    rng = np.random.default_rng(21)
    hour = rng.choice(24, rows, p=_hours())
    far = np.clip(rng.gamma(1.8, 3_000, rows), 300, 60_000)
    pace = np.where(np.isin(hour, (7, 8, 9, 16, 17, 18)), 240, 120) * rng.lognormal(0, 0.25, rows)
    table = pa.table(
        {
            "hour": hour.astype(np.int64),
            "metres": far.astype(np.int64),
            "seconds": np.clip(far / 1_000 * pace + 60, 0, 10_800).astype(np.int64),
            "cents": (np.ceil(far / 500) * 90 + 350).clip(0, 15_000).astype(np.int64),
        }
    )
    bounds = {"hour": (0, 23), "metres": (0, 60_000), "seconds": (0, 10_800), "cents": (0, 15_000)}
    return Made(table, described(table, bounds))


def _hours() -> NDArray[np.float64]:
    weight = 1 + 3 * np.exp(-((np.arange(24) - 8) ** 2) / 4)
    weight += 4 * np.exp(-((np.arange(24) - 17) ** 2) / 6)
    return np.asarray(weight / weight.sum())


def staff(rows: int = 15_000) -> Made:
    """People of a company: pay in bands by grade, few grades in each department."""
    rng = np.random.default_rng(22)
    names = np.array(["sales", "care", "plant", "lab", "board", "store", "fleet", "desk"])
    place = rng.choice(8, rows, p=[0.2, 0.18, 0.17, 0.12, 0.03, 0.14, 0.1, 0.06])
    grade = np.clip(rng.normal(2 + place % 4, 1.1, rows), 0, 7).astype(int)
    years = np.minimum(rng.exponential(3 + grade), 45)
    pay = 24_000 * 1.28**grade * (1 + 0.01 * years) * rng.normal(1, 0.07, rows)
    table = pa.table(
        {
            "place": names[place],
            "grade": np.array([f"g{i}" for i in range(8)])[grade],
            "years": years.astype(np.int64),
            "pay": np.clip(np.round(pay, -2), 0, 250_000).astype(np.int64),
            "away": np.where(rng.uniform(size=rows) < 0.05 + 0.1 * (place > 4), "yes", "no"),
        }
    )
    return Made(table, described(table, {"years": (0, 50), "pay": (0, 250_000)}))


def trees(rows: int = 25_000) -> Made:
    """Trees of two kinds in a wood: height bends with girth, young ones are many."""
    rng = np.random.default_rng(23)
    girth = rng.gamma(1.3, 35, rows) + 3
    slow = rng.uniform(size=rows) < 0.35
    height = np.where(slow, 140, 260) * np.sqrt(girth) * rng.normal(1, 0.09, rows)
    table = pa.table(
        {
            "girth": np.clip(girth * 10, 0, 5_000).astype(np.int64),
            "height": np.clip(height, 0, 6_000).astype(np.int64),
        }
    )
    return Made(table, described(table, {"girth": (0, 5_000), "height": (0, 6_000)}))


def wells(rows: int = 60_000) -> Made:
    """Wells of a plain: salt rises with depth, then falls; yields in heaps of rounded numbers."""
    rng = np.random.default_rng(31)
    depth = np.clip(rng.lognormal(4.2, 0.6, rows), 3, 900)
    salt = np.clip(900 * np.exp(-(((depth - 140) / 90) ** 2)) + rng.gamma(2, 60, rows), 0, 4_000)
    flow = np.round(np.clip(rng.gamma(2.5, 8, rows) * (1 + depth / 300), 0, 400) / 5) * 5
    table = pa.table(
        {
            "depth": depth.astype(np.int64),
            "salt": salt.astype(np.int64),
            "flow": flow.astype(np.int64),
        }
    )
    return Made(
        table, described(table, {"depth": (0, 1_000), "salt": (0, 4_000), "flow": (0, 400)})
    )


def polls(rows: int = 12_000) -> Made:
    """Answers to a poll: party by age and town, trust in ten steps."""
    rng = np.random.default_rng(32)
    age = np.clip(rng.normal(47, 18, rows), 18, 99).astype(np.int64)
    town = rng.choice(["city", "edge", "land"], rows, p=[0.4, 0.35, 0.25])
    lean = (age - 47) / 18 + np.where(town == "land", 0.8, np.where(town == "city", -0.6, 0.0))
    party = np.digitize(lean + rng.logistic(0, 0.8, rows), [-1.5, -0.4, 0.5, 1.6])
    trust = np.clip(np.round(5 + 1.2 * (party - 2) + rng.normal(0, 2, rows)), 0, 10)
    table = pa.table(
        {
            "age": age,
            "town": town,
            "party": np.array(["red", "rose", "gray", "teal", "navy"])[party],
            "trust": trust.astype(np.int64),
        }
    )
    return Made(table, described(table, {"age": (18, 99), "trust": (0, 10)}))


def orders(rows: int = 35_000) -> Made:
    """Orders of a shop: seven columns, weights by kind, prices by weight, delays by country."""
    rng = np.random.default_rng(33)
    kind = rng.choice(6, rows, p=[0.3, 0.25, 0.2, 0.12, 0.08, 0.05])
    weight = rng.gamma(2, 150 * (1 + kind))
    many = rng.poisson(1.2, rows) + 1
    price = weight * (6 - kind) * rng.lognormal(0, 0.3, rows) * many / 100
    land = rng.choice(10, rows, p=np.arange(10, 0, -1) / 55)
    table = pa.table(
        {
            "kind": np.array([f"k{i}" for i in range(6)])[kind],
            "grams": np.clip(weight, 1, 20_000).astype(np.int64),
            "many": np.clip(many, 1, 12).astype(np.int64),
            "price": np.clip(price, 0, 2_000).astype(np.int64),
            "land": np.array([f"l{i}" for i in range(10)])[land],
            "days": np.clip(rng.poisson(2 + land), 0, 40).astype(np.int64),
            "back": np.where(rng.uniform(size=rows) < 0.04 + 0.05 * (kind == 2), "yes", "no"),
        }
    )
    bounds = {"grams": (0, 20_000), "many": (1, 12), "price": (0, 2_000), "days": (0, 40)}
    return Made(table, described(table, bounds))


TABLES: dict[str, Callable[[Path], Made]] = {
    "census2": lambda folder: census(folder, ["FICA", "FEDTAX"]),
    "census4": lambda folder: census(folder, list(CENSUS)),
    "census13": lambda folder: census(folder, None),
    "adult2": lambda folder: adult(folder, ["age", "hours-per-week"]),
    "adult4": lambda folder: adult(folder, ADULT4),
    "adult8": lambda folder: adult(folder, ADULT8),
    "adult14": lambda folder: adult(folder, None),
    "eia11": eia,
    "mixture3": lambda _: mixture(100_000, 3),
    "visits": lambda _: visits(),
    "loans": lambda _: loans(),
    "meters": lambda _: meters(),
    "rides": lambda _: rides(),
    "staff": lambda _: staff(),
    "trees": lambda _: trees(),
    "wells": lambda _: wells(),
    "polls": lambda _: polls(),
    "orders": lambda _: orders(),
}
"""Those from visits to trees were made for this comparison, and their figures were known when some
limits of `regime` were chosen later; the last three were made after all constants."""


def made(name: str, folder: Path) -> Made | None:
    """The table of that name; None if its file is not there."""
    try:
        return TABLES[name](folder)
    except FileNotFoundError:
        return None


def clouds(rows: int, columns: int, seed: int) -> NDArray[np.int64]:
    """Rows in two clouds of a hundred thousand places a column."""
    rng = np.random.default_rng(seed)
    middle = np.where(rng.uniform(size=(rows, 1)) < 0.5, 300, 700)
    points = rng.normal(size=(rows, columns)) * 80 + middle
    return np.clip(points * 100, 0, 99_999).astype(np.int64)


def large(rows: int) -> tuple[NDArray[np.int64], Domain]:
    """So many rows of two columns, in two clouds."""
    places = clouds(rows, 2, 3)
    columns = {"x": number(0, 99_999), "y": number(0, 99_999)}
    return places, Domain.of(tn.Schema.from_dict({"table": HEAD, "columns": columns}))
