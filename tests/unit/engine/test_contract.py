"""The contract is few calls, and the engine that comes with Tenue has each of them as stated."""

from __future__ import annotations

import inspect

from tenue.engine.contract import Engine
from tenue.engine.duckdb.engine import DuckDB

CALLS = [
    *("close", "column_steps", "contributions", "excess", "files", "hand_over"),
    *("look_up", "measure", "ranks", "read_all", "validate"),
]


def calls(kind: type) -> list[str]:
    told = {name for base in kind.__mro__ if base is not object for name in vars(base)}
    return sorted(name for name in told if not name.startswith("_"))


def test_an_engine_has_these_calls_and_no_others() -> None:
    facts = {"excess", "files"}
    assert calls(Engine) == [name for name in CALLS if name not in facts]
    assert calls(DuckDB) == CALLS


def test_every_call_takes_and_gives_what_the_contract_says() -> None:
    for name in calls(Engine):
        stated, found = (inspect.signature(getattr(one, name)) for one in (Engine, DuckDB))
        assert found == stated, name
