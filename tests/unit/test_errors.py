"""Refusals carry what was wrong, what is allowed and how to fix it."""

from __future__ import annotations

import inspect

import pytest

from tenue import errors

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.Refused)
]


@pytest.mark.parametrize("kind", KINDS)
def test_each_refusal_says_three_things(kind: type[errors.Refused]) -> None:
    refusal = kind("It is wrong", "This is allowed.", "Do this", remaining=3)
    assert refusal.to_dict() == {
        "code": kind.code,
        "kind": kind.code,
        "what": "It is wrong.",
        "allowed": "This is allowed.",
        "fix": "Do this.",
    }
    assert str(refusal) == "It is wrong. This is allowed. Do this."
    assert refusal.remaining == 3
    with pytest.raises(AttributeError):
        _ = refusal.nothing


def test_codes_are_distinct_and_every_kind_is_described() -> None:
    codes = [kind.code for kind in KINDS]
    assert len(set(codes)) == len(codes)
    assert set(codes) == set(errors.KINDS)
    assert all(inspect.getdoc(kind) for kind in KINDS)
    assert len({kind.__doc__ for kind in KINDS}) == len(KINDS)


def test_a_code_may_be_made_more_precise() -> None:
    assert errors.Refused("a", "b", "c", code="spent").code == "spent"


def test_faults_are_not_refusals() -> None:
    assert not issubclass(errors.Fault, errors.Refused)
    assert issubclass(errors.EngineFault, errors.Fault)
    assert issubclass(errors.LedgerFault, errors.Fault)


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_shows_three_sentences(kind: type[errors.Refused]) -> None:
    """IPython asks an exception for this before it writes a traceback of its own."""
    refusal = kind("It is wrong", "This is allowed", "Do this")
    assert refusal._render_traceback_() == [
        "Refused: It is wrong.",
        "This is allowed.",
        "Do this.",
    ]


def test_a_fault_keeps_its_traceback() -> None:
    assert not hasattr(errors.EngineFault("why"), "_render_traceback_")


@pytest.mark.parametrize(
    ("many", "end"), [(12, "`c11`."), (13, "`c12`."), (14, "`c11` and 2 others.")]
)
def test_one_name_more_is_said_and_not_counted(many: int, end: str) -> None:
    said = errors.nearest("?", [f"c{number:02}" for number in range(many)])
    assert said.endswith(end)
