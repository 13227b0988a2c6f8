"""From what a caller names to suggested limits: read → price → inquiry; rows are read when paid."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction

from ...engine.contract import Engine
from ...engine.request import Key
from ...errors import refuse
from ...number import Number, fraction_of_one, whole
from ...promise import Certificate, Pure
from ...promise.certificate import certify
from ...schema import Schema
from ...schema.table import RECORD
from ...screen.number import exactly
from ...version import LAYOUT
from ..certify import DOES_NOT_PROMISE, assumptions_of
from ..inquiry import Inquiry, identity_of
from ..read.literal import sql_name
from ..read.parse import parse
from ..terms import affordable
from .quantile import Quantiles, number_column, sought_for
from .suggestion import Suggestion

SHARES = (Fraction(1, 2), Fraction(4, 5), Fraction(19, 20))
MOST = 1000
_MOST_SHARES = 9
_ALL_ROWS = "all rows of a person count"
_CUT = "It does not tell what cutting at these limits costs."


def plan_limits(
    schema: Schema,
    *,
    epsilon: Number,
    by: Sequence[str] = (),
    column: str | None = None,
    quantiles: Sequence[Number] = SHARES,
    most: int = MOST,
) -> Quantiles:
    """What is drawn, at which price; from the schema alone."""
    if schema.unit == RECORD:
        raise refuse("query.limits-of-records", name=schema.name)
    named = None if column is None else number_column(schema, column)
    keys = _keys(schema, by)
    return Quantiles(
        sought=sought_for(keys, named, whole(most, "most", least=2)),
        shares=_shares(quantiles),
        keys=keys,
        unit=schema.unit,
        neighbours=schema.neighbours,
        nano=affordable(epsilon),
    )


def inquire_limits(
    plan: Quantiles, schema: Schema, column: str | None, seal: str = ""
) -> Inquiry[Suggestion]:
    """The suggestion as the session pays for it."""
    name = None if column is None else schema.column(column).name

    def draw(engine: Engine) -> bytes:
        return json.dumps({"limits": 1, "chosen": plan.choose(engine)}).encode()

    def read(stored: bytes, replayed: bool) -> Suggestion:
        chosen = tuple(tuple(values) for values in json.loads(stored)["chosen"])
        price = Fraction(0) if replayed else plan.epsilon
        return Suggestion(
            plan, schema, name, chosen, certify_limits(plan, schema, seal), price, replayed
        )

    def rehearse() -> None:
        for sought in plan.sought:
            plan.selections(sought)  # refused if the price is too small to be shared

    return Inquiry(
        nano=plan.nano,
        identity=identity_of(
            *("suggest_limits", repr(plan), str(LAYOUT), schema.digest, schema.version or "")
        ),
        asked=_asked(plan),
        draw=draw,
        read=read,
        rehearse=rehearse,
    )


def certify_limits(plan: Quantiles, schema: Schema, seal: str = "") -> Certificate:
    """What is promised about suggested limits."""
    parts = {f"part {number}": line for number, line in enumerate(plan.lines(), start=1)}
    return certify(
        Pure(plan.epsilon),
        schema,
        "selection",
        {"question": _asked(plan), "epsilon": exactly(plan.epsilon)} | parts,
        ["McSherry and Talwar 2007, with a score of ranks"],
        assumptions_of(schema, _ALL_ROWS),
        (*DOES_NOT_PROMISE, _CUT),
        seal,
    )


def _asked(plan: Quantiles) -> str:
    """How the ledger names it."""
    sought = dict.fromkeys(
        "sums of " + one.contribution.column if one.contribution.column else one.contribution.kind
        for one in plan.sought
    )
    by = ", ".join(key.column for key in plan.keys)
    return f"limits of {plan.unit}: {', '.join(sought)}" + (f" by {by}" if by else "")


def _keys(schema: Schema, by: Sequence[str]) -> tuple[Key, ...]:
    """The groups, read as the GROUP BY of a question."""
    if isinstance(by, str) or not all(isinstance(text, str) for text in by):
        raise refuse("query.groups-not-a-list")
    if not by:
        return ()
    texts = ", ".join(sql_name(text) if text in schema.columns else text for text in by)
    table = sql_name(schema.name)
    sql = f"SELECT {texts}, COUNT(*) FROM {table} GROUP BY {texts}"  # noqa: S608 - `parse` reads it
    question = parse(sql, schema)
    if question.computed:
        raise refuse("query.groups-not-a-list")
    return question.keys


def _shares(quantiles: Sequence[Number]) -> tuple[Fraction, ...]:
    given = quantiles if isinstance(quantiles, list | tuple) else [quantiles]
    found = sorted({fraction_of_one(share, "quantiles") for share in given})
    if not 1 <= len(found) <= _MOST_SHARES:
        raise refuse("query.too-many-quantiles", many=len(found), most=_MOST_SHARES)
    return tuple(found)
