"""Random schemas without mistakes, as the mapping a holder would state."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

ROLES = ["quasi-identifier", "confidential", "other", "identifier"]
NAMES = ["age", "Income", "native-country", "año", "hours per week", "x.y", "_z", "sex", "b1", "k"]
TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6
).filter(lambda text: text.strip() and text not in ("?", "FILL IN"))


@st.composite
def shared(draw: Any) -> dict[str, Any]:
    stated: dict[str, Any] = {}
    if draw(st.booleans()):
        stated["role"] = draw(st.sampled_from(ROLES))
        if stated["role"] == "confidential" and draw(st.booleans()):
            stated["sensitive"] = draw(st.booleans())
    return stated


@st.composite
def numbers(draw: Any) -> dict[str, Any]:
    grid = draw(st.sampled_from([1, 5, Decimal("0.1"), Decimal("0.25"), Decimal("1E+2"), 2**40]))
    low = draw(st.integers(-1000, 1000))
    steps = draw(st.integers(1, 1000))
    stated = {"type": "number", "bounds": [low * grid, (low + steps) * grid], "grid": grid}
    if draw(st.booleans()):
        stated["missing"] = (low + draw(st.integers(0, steps))) * grid
    if grid == 1 and draw(st.booleans()):
        del stated["grid"]
    return stated | draw(shared())


@st.composite
def dates(draw: Any) -> dict[str, Any]:
    grid, steps = draw(st.integers(1, 9)), draw(st.integers(1, 500))
    low = date(1970, 1, 1) + timedelta(days=draw(st.integers(-9000, 9000)))
    bounds: list[Any] = [low, low + timedelta(days=grid * steps)]
    if draw(st.booleans()):
        bounds[draw(st.integers(0, 1))] = str(bounds[0])
        bounds[0] = str(low)
        bounds[1] = low + timedelta(days=grid * steps)
    stated: dict[str, Any] = {"type": "date", "bounds": bounds}
    if grid != 1 or draw(st.booleans()):
        stated["grid"] = grid
    if draw(st.booleans()):
        stated["missing"] = low + timedelta(days=grid * draw(st.integers(0, steps)))
    return stated | draw(shared())


@st.composite
def datetimes(draw: Any) -> dict[str, Any]:
    grid = draw(st.sampled_from([1, 60, Decimal("0.001")]))
    low = datetime(1970, 1, 1) + timedelta(microseconds=draw(st.integers(-(10**15), 10**15)))
    span = timedelta(microseconds=int(grid * 10**6) * draw(st.integers(1, 10**4)))
    return {"type": "datetime", "bounds": [low, low + span], "grid": grid} | draw(shared())


@st.composite
def categories(draw: Any) -> dict[str, Any]:
    names = draw(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
    stated: dict[str, Any] = {"type": "category", "categories": names}
    if draw(st.booleans()):
        half = len(names) // 2
        tree = {"Root of all": {"first kind": names[:half], "second kind": names[half:]}}
        stated = {"type": "category", "taxonomy": tree}
    if draw(st.booleans()):
        stated["missing"] = names[-1]
    return stated | draw(shared())


@st.composite
def booleans(draw: Any) -> dict[str, Any]:
    stated: dict[str, Any] = {"type": "boolean"} | draw(shared())
    if draw(st.booleans()):
        stated["missing"] = draw(st.booleans())
    return stated


COLUMNS = numbers() | dates() | datetimes() | categories() | booleans()


@st.composite
def schemas(draw: Any) -> dict[str, Any]:
    """A mapping that `Schema.from_dict` takes."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    columns = {name: draw(COLUMNS) for name in names}
    table: dict[str, Any] = {"name": draw(st.sampled_from(["census", "T_1"])), "unit": "record"}
    if draw(st.booleans()):
        columns["person_id"] = {"type": "identifier"}
        table |= {"unit": "Person_ID", "rows_per_unit": draw(st.integers(1, 9))}
    if any(column["type"] == "number" for column in columns.values()):
        used = next(name for name, column in columns.items() if column["type"] == "number")
        columns["twice"] = {
            "type": "number",
            "expression": f'2*"{used}" - .5',
            "bounds": [0, 7],
            "grid": Decimal("0.5"),
        }
    table["neighbours"] = draw(st.sampled_from(["replace", "add-or-remove"]))
    for key, values in {
        "rows": st.integers(1, 10**9),
        "version": TEXTS,
        "source": st.sampled_from(["a.csv", "dir/*.parquet", "postgresql://u:secret@h/db"]),
        "bounds_from_data": st.booleans(),
    }.items():
        if draw(st.booleans()):
            table[key] = draw(values)
    stated: dict[str, Any] = {"table": table, "columns": columns}
    if draw(st.booleans()):
        total = draw(st.sampled_from([1, Decimal("0.3"), Decimal("5.0")]))
        stated["budget"] = {"total": total, "per_analyst": total, "delta": Decimal("1e-9")}
    if draw(st.booleans()):
        question = {"sql": draw(TEXTS), "promise": "individual", "epsilon": 1, "times": 3}
        stated["questions"] = {"median": question}
    return stated
