"""Attacks that a release does not stop: each succeeds here, and the certificate says so."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.microdata import mdav
from tenue.noise import Seeded
from tenue.publish.methods.catalogue import chosen_method
from tenue.publish.methods.contract import Method, Published
from tenue.publish.methods.groups import GROWN
from tenue.publish.methods.swap import CROSSED, INFORMED, RELATED
from tenue.publish.publish import certify
from tenue.publish.release import warnings_of
from tenue.publish.table.input_table import read_original
from tenue.schema import Schema

NUMBER = {"type": "number", "role": "confidential"}
AGE = {"type": "number", "bounds": [0, 120], "role": "quasi-identifier"}


def declared(**columns: dict[str, Any]) -> Schema:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    return Schema.from_dict({"table": table, "columns": {"age": AGE, **columns}})


TWO = declared(income={**NUMBER, "bounds": [0, 100]}, load={**NUMBER, "bounds": [0, 1000]})


def way(schema: Schema, method: str, k: object, **given: Any) -> Method:
    settings = {"by": None, "l": None, "t": None, "gamma": None, "override": (), **given}
    return chosen_method(schema, method, k=k, **settings)


def released(table: pa.Table, schema: Schema, chosen: Method, seed: int) -> Published:
    """In the order of the source: whose each row is, the intruder knows by age."""
    original = chosen.prepare(read_original(table, schema), Seeded(seed))
    safe = chosen.publish(original, Seeded(seed + 1))
    order = np.argsort(original.cells["age"].numbers)
    return Published(
        {name: column.take(order) for name, column in safe.cells.items()},
        {name: labels[order] for name, labels in safe.groups.items()},
    )


def believed(seed: int) -> Any:
    """What one who knows age and income of all believes of each person's load: exactly."""
    k, n = 3, 12
    income = [5, 37, 71, 11, 43, 77, 17, 49, 83, 23, 55, 89]
    load = [990, 991, 992, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    table = pa.table({"age": list(range(40, 52)), "income": income, "load": load})
    chosen = way(TWO, "swap", k, by="other-attributes")
    age = np.arange(40, 52) / 120

    def groups(values: Any) -> Any:
        return mdav(np.column_stack([age, values]), k).labels

    safe = released(table, TWO, chosen, seed)
    shown = {name: safe.cells[name].numbers for name in ("income", "load")}
    giver = [income.index(value) for value in shown["income"]]  # whose income each row shows
    visible = groups(shown["income"] / 100)  # the groups of load are seen in the release
    members = [np.flatnonzero(visible == group) for group in range(visible.max() + 1)]
    belief, total = np.zeros((n, n)), 0.0
    for orders in itertools.product(*(itertools.permutations(group) for group in members)):
        guess = np.empty(n, np.int64)
        for group, order in zip(members, orders, strict=True):
            guess[group] = shown["load"][list(order)]
        labels = groups(guess / 1000)
        if (labels == labels[giver]).all():
            weight = 1 / math.prod(math.factorial(size) for size in np.bincount(labels).tolist())
            total += weight
            belief[np.arange(n), [load.index(value) for value in guess]] += weight
    return belief / total


def test_whoever_knows_one_confidential_column_learns_of_another() -> None:
    """Far more than 1/3 of one person's load: the release promises less than the thesis says."""
    belief = believed(0)
    assert belief.max() > 0.9
    assert np.diag(belief).max() > 0.9  # and it is the truth
    chosen = way(TWO, "swap", 3, by="other-attributes")
    assert INFORMED in certify(chosen, registered=False).does_not_promise


def test_a_group_that_grew_tells_what_its_first_members_share() -> None:
    """Of all tables that give this release, each has the same illness in the first three rows."""
    ages = [10, 11, 12, 40, 41, 42, 60, 61, 62, 100, 101, 102]
    ill = ["hiv"] * 3 + ["flu", "cold", "hiv", "ok", "flu", "cold", "ok", "cold", "flu"]
    kinds = {"type": "category", "categories": ["flu", "cold", "hiv", "ok"]}
    schema = declared(ill={**kinds, "role": "confidential", "sensitive": True})
    chosen = way(schema, "microaggregate", 3, l=2)

    def grouping(values: list[str]) -> Any:
        safe = released(pa.table({"age": ages, "ill": values}), schema, chosen, 1)
        return [(age, kind) for age, kind in zip(safe.cells["age"].numbers, values, strict=True)]

    shown = sorted(grouping(ill))
    assert len({kind for age, kind in shown if age == shown[0][0]}) == 3  # l is 3 in that group
    possible = {
        (*first, *ill[6:])
        for first in set(itertools.permutations(ill[:6]))
        if sorted(grouping([*first, *ill[6:]])) == shown
    }
    assert len(possible) > 1
    assert {values[:3] for values in possible} == {("hiv", "hiv", "hiv")}
    assert GROWN.format(asked="l") in certify(chosen, registered=False).does_not_promise


def test_columns_that_tell_each_other_cross_below_k() -> None:
    """tax = 3 * income: whoever knows the records sees how few share the groups of both columns.

    With k of 5 and 7 some are found with certainty; equal k do not help where relations differ.
    """
    n = 120
    income = np.cumsum(np.arange(n) % 17 + 1)
    table = pa.table({"age": np.arange(n), "income": income, "tax": 3 * income})
    schema = declared(income={**NUMBER, "bounds": [0, 2000]}, tax={**NUMBER, "bounds": [0, 6000]})

    def most_certain(k: dict[str, int]) -> float:
        chosen = way(schema, "swap", k, by="each-confidential")
        by = released(table, schema, chosen, 2).groups
        _, both = np.unique(np.array([by["income"], by["tax"]]), axis=1, return_inverse=True)
        assert CROSSED in certify(chosen, registered=False).does_not_promise
        return float(1 / np.bincount(both.reshape(-1)).min())

    assert most_certain({"income": 5, "tax": 7}) > 1 / 3
    assert most_certain({"income": 5, "tax": 5}) <= 1 / 5


def test_equal_k_do_not_make_the_joint_claim_true() -> None:
    """(1, 1), (2, 3), (3, 2), (4, 4) with k = 2: who knows the records, not whose they are, learns
    all, and no certificate says "unless their k are equal"."""
    schema = declared(income={**NUMBER, "bounds": [0, 9]}, tax={**NUMBER, "bounds": [0, 9]})
    rows = {"age": [1, 2, 3, 4], "income": [1, 2, 3, 4], "tax": [1, 3, 2, 4]}
    chosen = way(schema, "swap", 2, by="each-confidential")
    by = released(pa.table(rows), schema, chosen, 1).groups
    cells = list(zip(by["income"].tolist(), by["tax"].tolist(), strict=True))
    assert len(set(cells)) == 4
    certificate = certify(chosen, registered=False)
    assert CROSSED in certificate.does_not_promise
    assert "unless" not in " ".join(certificate.does_not_promise)


def related(n: int = 1500) -> tuple[pa.Table, Schema]:
    """A tax that hangs on income, which is published as it is."""
    random = np.random.default_rng(4)
    income = random.integers(0, 2000, n)
    tax = income * 3 + random.integers(0, 4, n)
    age = random.integers(0, 100, n)
    quasi = {"type": "number", "bounds": [0, 2000], "role": "quasi-identifier"}
    schema = declared(income=quasi, tax={**NUMBER, "bounds": [0, 7000]})
    return pa.table({"age": age, "income": income, "tax": tax}), schema


@pytest.mark.parametrize("by", ["quasi-identifiers", "each-confidential"])
def test_values_are_put_back_by_what_the_release_tells(by: str) -> None:
    """The attack succeeds, is measured for the holder, warned of, and stated as a limit."""
    table, schema = related()
    release = tn.publish(table, schema=schema, method="swap", k=5, by=by, ledger=False)
    found = release.risk.rematched["tax"]
    assert found.records > 0.4 > 2 * found.records_blind * 0.9
    assert found.records_blind <= 1 / 5
    assert any("reassigns" in warning and "`tax`" in warning for warning in warnings_of(release))
    assert RELATED in release.certificate.does_not_promise


def test_where_nothing_is_related_nothing_is_put_back() -> None:
    """So the measure does not cry wolf: it stays near 1/k, and nobody is warned."""
    table, schema = related()
    shuffled = np.random.default_rng(5).permutation(table["tax"].to_numpy())
    calm = table.set_column(2, "tax", pa.array(shuffled))
    release = tn.publish(calm, schema=schema, method="swap", k=5, ledger=False)
    assert release.risk.rematched["tax"].records < 0.3
    assert not any("reassigns" in warning for warning in warnings_of(release))
