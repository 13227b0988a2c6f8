"""Whatever the table and the options, a release made of rows in memory is the one made of rows that
are read in passes: the same rows where nothing is drawn, else the same groups and values; the same
certificate, measures and history; the same refusal.

What differs, and is meant: the steps "passes" and "evaluate", which say so; how groups of
"t-close" are filled, which its certificate says; and how far an intruder comes among look-alikes,
which is tried in memory only.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenue as tn
from tenue.publish.methods import contract
from tenue.publish.methods.t_close import PLAIN
from tenue.publish.table import input_table
from unit.publish.stored import MEMORY, people, rows_of, schema, stored

HOMOGENEOUS = "homogeneous-groups"
sizes = st.integers(2, 9)
insist = st.sampled_from([(), HOMOGENEOUS])
WAYS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "swap": st.fixed_dictionaries(
        {
            "method": st.just("swap"),
            "by": st.just("each-confidential"),
            "k": sizes | st.fixed_dictionaries({"pay": sizes, "ill": sizes}),
            "override": insist,
        }
    ),
    "anatomy": st.fixed_dictionaries(
        {
            "method": st.just("anatomy"),
            "by": st.just("confidential"),
            "k": sizes,
            "override": insist,
        }
    ),
    "t-close": st.fixed_dictionaries(
        {
            "method": st.just("t-close"),
            "k": sizes,
            "t": st.sampled_from(["1.2", 2, 4]),
            "groups": st.sampled_from(["shown", "hidden"]),
        }
    ),
    "generalise": st.fixed_dictionaries(
        {"method": st.just("generalise"), "k": sizes, "override": insist}
    ),
    "microaggregate": st.fixed_dictionaries(
        {
            "method": st.just("microaggregate"),
            "by": st.just("each-quasi-identifier"),
            "k": sizes,
            "override": insist,
        }
    ),
}
DRAWN = {"swap", "anatomy", "t-close"}


@st.composite
def declared(draw: st.DrawFn, method: str) -> dict[str, Any]:
    """A schema: one or two confidential columns, which may be sensitive; fill-ins or none."""
    found = schema()
    columns = found["columns"]
    if method == "anatomy" or draw(st.booleans()):
        columns["ill"]["role"] = "other"
    if draw(st.booleans()):
        columns["pay"]["sensitive"] = True
    if draw(st.booleans()):
        columns["age"]["missing"] = 30
    if draw(st.booleans()):
        tree = {"all": {"up": ["north"], "down": ["south", "west"]}}
        columns["town"] = {"type": "category", "taxonomy": tree, "role": "quasi-identifier"}
    return found


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every stored table is too large if `memory` is stated, and batches hold few rows."""
    monkeypatch.setattr(contract, "VALUE", 1 << 30)
    monkeypatch.setattr(input_table, "_FEWEST", 37)
    monkeypatch.setattr(input_table, "_MOST", 37)


def made(publish: Callable[[], Any]) -> Any:
    """A release, or the words of its refusal."""
    try:
        return publish()
    except tn.Refused as refused:
        return str(refused)


def expect_the_same(held: Any, passed: Any, method: str) -> None:
    if isinstance(held, str) or isinstance(passed, str):
        assert held == passed
        return
    tables = {name: table.schema for name, table in held.tables.items()}
    assert {name: table.schema for name, table in passed.tables.items()} == tables
    assert passed.table.schema == held.table.schema
    assert passed._published.shown.sizes == held._published.shown.sizes
    assert passed._published.telling == pytest.approx(held._published.telling)
    steps = [[str(step) for step in one.history] for one in (held, passed)]
    apart = ("passes", "evaluate")
    assert [step for step in steps[1] if not step.startswith(apart)] == steps[0]
    words = [one.certificate.to_dict() for one in (held, passed)]
    if method == "t-close":
        words[0]["parameters"] |= {"filling": PLAIN}
    assert words[0] == words[1]
    if method not in DRAWN:
        assert rows_of(held) == rows_of(passed)
        assert passed.risk.own_values == held.risk.own_values
        assert passed.risk.check == held.risk.check
    assert passed.risk.check.k == held.risk.check.k
    assert passed.risk.check.groups == held.risk.check.groups
    columns = [name for name in held.table.column_names if name != "group"]  # numbered at random
    for name in columns:  # each keeps its values, whoever has them
        one, other = (sorted(map(repr, r.table[name].to_pylist())) for r in (held, passed))
        assert one == other
    if method in DRAWN:
        assert set(passed.risk.rematched) == set(held.risk.rematched)
    if method == "swap":
        assert passed.risk.in_all_groups == pytest.approx(held.risk.in_all_groups)


@pytest.mark.slow
@pytest.mark.parametrize("method", list(WAYS))
def test_memory_is_one_of_the_homes_of_rows(method: str) -> None:
    released = 0

    @settings(max_examples=8, deadline=None)
    @given(
        declared(method),
        WAYS[method],
        st.sampled_from([3, 40, 75, 110]),
        st.integers(0, 99),
        st.sampled_from([0.0, 0.1]),
    )
    def same(given: Any, asked: Any, rows: int, seed: int, blanks: float) -> None:
        nonlocal released
        columns = given["columns"]
        if isinstance(asked["k"], dict) and columns["ill"]["role"] == "other":
            asked = asked | {"k": {"pay": asked["k"]["pay"]}}
        with tempfile.TemporaryDirectory() as folder:
            path = stored(Path(folder), people(rows, seed=seed, blanks=blanks))
            held, passed = (
                made(
                    lambda more=more: tn.publish(path, schema=given, ledger=False, **asked, **more)
                )
                for more in ({}, {"memory": MEMORY})
            )
            released += not isinstance(held, str)
            expect_the_same(held, passed, method)

    same()
    assert released


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["sizes", "certificate", "refusal"])
def test_another_program_would_be_noticed(broken: str, tmp_path: Path) -> None:
    """The mutants form larger groups, promise something else, or refuse in other words."""
    path = stored(tmp_path, people(60))
    asked: dict[str, Any] = {"method": "swap", "by": "each-confidential", "k": 4}
    one, other = (
        made(
            lambda k=k, more=more: tn.publish(
                path, schema=schema(), ledger=False, **{**asked, "k": k}, **more
            )
        )
        for k, more in ((4, {}), (7 if broken != "refusal" else 100, {"memory": MEMORY}))
    )
    if broken == "certificate":  # with the groups of the other
        object.__setattr__(other, "_published", one._published)
        object.__setattr__(other, "history", one.history)
    with pytest.raises(AssertionError):
        expect_the_same(one, other, "swap")
