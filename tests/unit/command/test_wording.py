"""Whoever types options is told about options."""

from __future__ import annotations

import pytest

from tenue.command.wording import in_options, spoken
from tenue.errors import InvalidArgument, InvalidTable, Refused, Unreachable
from tenue.number import exact

SAID = [
    ('Use by="quasi-identifiers" with l=2', "Use --by quasi-identifiers with --l 2."),
    ("Publish with method='microaggregate'", "Publish with --method microaggregate."),
    ('state override="second-release"', "state --override second-release."),
    ("Give one number, such as k=5", "Give one number, such as -k 5."),
    ("Try t=0.3", "Try --t 0.3."),
    ('Give quasi_identifiers=["age", "zip"]', "Give --quasi-identifiers age,zip."),
    (
        "Name another folder, or say that it may be replaced",
        "Name another folder, or add --replace.",
    ),
    ("Choose k = 60 at most", "Choose k = 60 at most."),
    ("Add epsilon=1, or what you decide", "Add --epsilon 1, or what you decide."),
    ('ledger="a.ledger", not ledger=False', "--ledger a.ledger, not --no-register."),
    ("Write --sweep k=3,5,10", "Write --sweep k=3,5,10."),
    ("Try risk=0.05", "Try --risk 0.05."),
    (
        "See tn.plan_release, which says how good it would be",
        "See --method private --epsilon 1 --preview, which says how good it would be.",
    ),
    ("Try quantiles=[0.5, 0.95]", "Try --quantiles 0.5,0.95."),
]


@pytest.mark.parametrize(("python", "words"), SAID)
def test_python_becomes_options(python: str, words: str) -> None:
    with pytest.raises(Unreachable) as refused, spoken():
        raise Unreachable("x", "y", python, code="c")
    assert refused.value.fix == words
    assert refused.value.code == "c"


def test_names_of_arguments_do_and_names_of_columns_do_not() -> None:
    def fails(kind: type[Refused]) -> str:
        with pytest.raises(kind) as refused, spoken():
            raise kind("`k` is 1", "`income` stays", "z")
        assert refused.value.allowed == "`income` stays."
        return refused.value.what

    assert fails(InvalidArgument) == "-k is 1."
    assert fails(InvalidTable) == "`k` is 1."


def test_nobody_types_a_fraction_object() -> None:
    with pytest.raises(InvalidArgument) as refused:
        exact("ten", "epsilon")
    assert in_options(refused.value.fix) == "Give `epsilon` as a decimal number, such as 0.5."


def test_an_option_of_two_words_is_written_as_it_is_typed() -> None:
    assert in_options("Leave `measure_cut` out") == "Leave --measure-cut out"
