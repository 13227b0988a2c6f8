"""Certificates of answers depend on question, schema and price only."""

from __future__ import annotations

import tenue as tn
from tenue.promise.loss import EpsilonDelta
from tenue.query.certify import SPREAD, assumptions_of, certify
from tenue.query.plan.make import make_plan
from unit.query.stated import BY_REGION, MEAN, ONE_COUNT, schema


def test_each_kind_of_plan_is_certified() -> None:
    for question in (ONE_COUNT, MEAN, BY_REGION):
        for neighbours in ("replace", "add-or-remove"):
            described = schema(neighbours)
            plan = make_plan(question, described, EpsilonDelta.of("0.25"), sql="SELECT …")
            one, two = (certify(plan, described, "seal") for _ in range(2))
            assert one == two
            assert one.promise == tn.Pure(0.25)
            assert one.neighbours == neighbours
            assert one.schema_hash == "seal"
            assert described.digest not in one.to_json()
            assert one.source
            assert any("groups" in limit for limit in one.does_not_promise)
            assert tn.Certificate.from_json(one.to_json()) == one


def test_what_is_assumed_of_the_source_is_what_is_validated() -> None:
    """Broken files are refused since they are validated: nothing may still call them uncovered."""
    described = schema("replace")
    certificate = certify(
        make_plan(ONE_COUNT, described, EpsilonDelta.of("0.25"), sql="SELECT …"), described
    )
    (source,) = (text for text in certificate.assumptions if "from end to end" in text)
    assert "refused there" in source
    assert "not watched" in source
    assert "break the file's own format" not in certificate.to_json()


def test_rows_chosen_on_machines_rest_on_another_stream_and_it_is_named() -> None:
    for schema_of, named in (({"unit": "record"}, False), ({"unit": "who"}, True)):
        table = {"name": "t", "neighbours": "add-or-remove", **schema_of}
        columns = {"who": {"type": "identifier"}, "x": {"type": "number", "bounds": [0, 9]}}
        if named:
            table["rows_per_unit"] = 2
        assumed = assumptions_of(tn.Schema.from_dict({"table": table, "columns": columns}))
        assert any("SHAKE-256" in text for text in assumed) == named
    assert SPREAD not in assumptions_of(
        tn.Schema.from_dict({"table": table, "columns": columns}), ""
    )
