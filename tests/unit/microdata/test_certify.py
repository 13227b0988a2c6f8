"""What every certificate of a release says, whatever the method."""

from __future__ import annotations

from tenue.microdata.certify import COUNTED, PREVIEWED, UNREGISTERED, UNSEALED, certify
from tenue.microdata.method.catalogue import chosen_method
from unit.microdata.census import schema

METHOD = chosen_method(schema(), "swap", k=4)


def test_what_no_ledger_knows_says_so() -> None:
    lone, known = certify(METHOD, registered=False), certify(METHOD, registered=True, seal="s")
    assert {UNREGISTERED, UNSEALED} <= set(lone.does_not_promise)
    assert not {UNREGISTERED, UNSEALED} & set(known.does_not_promise)
    assert (lone.parameters["registered"], known.parameters["registered"]) == (
        "no, in no ledger",
        "yes",
    )
    assert COUNTED in known.does_not_promise


def test_a_preview_promises_nothing_of_a_table_that_left() -> None:
    made = certify(METHOD, registered=False, preview=True)
    assert made.does_not_promise[0] == PREVIEWED
    assert made.parameters["registered"] == "no, a preview"


def test_columns_that_nothing_protects_are_named() -> None:
    said = " ".join(certify(METHOD, registered=True).does_not_promise)
    assert "Nothing protects `note`" in said
    assert "rows without a value in `age`" in said
