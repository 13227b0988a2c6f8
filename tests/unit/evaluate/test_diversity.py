"""(alpha, k), recursive (c, l) and beta-likeness by their definitions, in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenue as tn
from tenue.errors import InvalidArgument
from tenue.evaluate.one_table import diversity
from tenue.evaluate.one_table.diversity import MOST_VALUES

Rows = list[tuple[int, str | None, str]]

ROWS: st.SearchStrategy[Rows] = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from(["a", "b", "c", "d", None]), st.sampled_from("pqrst")
    ),
    min_size=1,
    max_size=24,
)


def entries(rows: Rows, *, persons: bool) -> dict[int, set[tuple[Any, str]]]:
    """For each class, who has which value: each person once for each."""
    found: dict[int, set[tuple[Any, str]]] = {}
    for i, (group, value, person) in enumerate(rows):
        held = found.setdefault(group, set())
        if value is not None:
            held.add((person if persons else i, value))
    return found


def alpha(rows: Rows, *, persons: bool) -> Fraction:
    shares = []
    for held in entries(rows, persons=persons).values():
        who = len({person for person, _ in held})
        counts = Counter(value for _, value in held).values()
        shares.append(max((Fraction(n, who) for n in counts), default=Fraction(1)))
    return max(shares)


def is_recursive(rows: Rows, c: Fraction, l: int, *, persons: bool) -> bool:
    """r_1 < c (r_l + … + r_m) in every class; of persons with several values, with fewer people
    on the right: all, less r_1 to r_(l-1)."""
    for held in entries(rows, persons=persons).values():
        counts = sorted(Counter(value for _, value in held).values(), reverse=True)
        rest = len({person for person, _ in held}) - sum(counts[: l - 1])
        if not counts or not counts[0] < c * rest:
            return False
    return True


def beta(rows: Rows, *, persons: bool) -> tuple[Fraction, bool]:
    held = entries(rows, persons=persons)
    whole = Counter(value for each in held.values() for _, value in each)
    size, gains = sum(whole.values()), [(Fraction(0), 0.0)]
    for each in held.values():
        for value, times in Counter(value for _, value in each).items():
            p, q = Fraction(whole[value], size), Fraction(times, len(each))
            if q > p:
                gains.append(((q - p) / p, -math.log(p)))
    return max(gain for gain, _ in gains), all(gain <= limit for gain, limit in gains)


def measured(rows: Rows, *, persons: bool) -> tn.evaluate.Confidential:
    groups, values, who = (list(column) for column in zip(*rows, strict=True))
    table = pa.table({"q": groups, "s": pa.array(values, pa.string()), "who": who})
    unit = "who" if persons else None
    (found,) = tn.evaluate.check(table, None, ["q"], ["s"], unit).confidential
    return found


def agree(rows: Rows, *, persons: bool) -> bool:
    found = measured(rows, persons=persons)
    gain, enhanced = beta(rows, persons=persons)
    assert found.exact_alpha == alpha(rows, persons=persons)
    assert found.exact_beta == gain
    assert found.beta_enhanced == (float(gain) if enhanced else math.inf)
    for l in range(2, 6):
        least = found.least_c(l)
        if least is None:
            assert not is_recursive(rows, Fraction(10**6), l, persons=persons)
            continue
        assert not is_recursive(rows, least, l, persons=persons)
        assert is_recursive(rows, least + Fraction(1, 10**6), l, persons=persons)
    assert (found.exact_alpha == 1) == (found.l == 1)
    return True


@given(ROWS, st.booleans())
@settings(max_examples=40)
def test_each_is_that_of_its_definition(rows: Rows, persons: bool) -> None:
    assert agree(rows, persons=persons)


CASES: list[Rows] = [
    [(0, "a", "p"), (0, "a", "q"), (0, "b", "q"), (1, "b", "r"), (1, "c", "s")],
    [(0, "a", "p"), (0, "b", "q"), (0, "c", "r"), (0, "a", "s"), (1, None, "t")],
    [(0, "a", "p"), (0, "a", "p"), (0, "b", "q"), (0, "c", "r"), (0, "c", "s"), (0, "d", "t")],
]

Wrong = Callable[[pytest.MonkeyPatch], None]


def of_entries(patch: pytest.MonkeyPatch) -> None:
    """Shares of pairs of person and value, of which there are more than persons."""
    patch.setattr(
        diversity.Holdings, "holders", property(lambda held: held.groups.sizes), raising=True
    )


def from_l_plus_one(patch: pytest.MonkeyPatch) -> None:
    right = diversity.recursive_bounds
    patch.setattr("tenue.evaluate.klt.recursive_bounds", lambda *given: right(*given)[1:])


def without_blank_groups(patch: pytest.MonkeyPatch) -> None:
    right = diversity.largest_share

    def wrong(counts: Any, holders: Any) -> Fraction:
        return right(counts, holders) if counts.filled.size == counts.sizes.size else Fraction(0)

    patch.setattr("tenue.evaluate.klt.largest_share", wrong)


def both_ways(patch: pytest.MonkeyPatch) -> None:
    """The largest change of a share, losses too."""
    from tenue.evaluate.one_table.closeness import ratio

    patch.setattr(
        "tenue.evaluate.klt.gain", lambda counts: ((ratio(counts) or Fraction(9)) - 1, True)
    )


@pytest.mark.parametrize("wrong", [of_entries, from_l_plus_one, without_blank_groups, both_ways])
def test_wrong_definitions_are_seen(wrong: Wrong, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(agree(rows, persons=persons) for rows in CASES for persons in (False, True))
    wrong(monkeypatch)
    failures = 0
    for rows in CASES:
        for persons in (False, True):
            try:
                agree(rows, persons=persons)
            except AssertionError:
                failures += 1
    assert failures


def test_requirements_are_exact() -> None:
    town = [["x", "a"], ["x", "a"], ["x", "b"], ["y", "b"], ["y", "a"], ["y", "c"]]
    table = pa.table({"q": [one for one, _ in town], "s": [two for _, two in town]})
    found = tn.evaluate.check(table, quasi_identifiers=["q"], confidential=["s"])
    assert (found.alpha, found.beta) == (pytest.approx(2 / 3), 1)
    assert found.meets(alpha=Fraction(2, 3), beta=1, c="2.001", l=2)
    assert found.unmet(alpha="0.666")[0].startswith("alpha of s is 0.6667; at most 0.666")
    assert found.unmet(beta="0.99") == ("beta of s is 1; at most 0.99 is required.",)
    # r_1 < c r_2 is strict: 2 < 2 · 1 is not
    assert found.unmet(c=2, l=2) == (
        "s has no recursive (c, l)-diversity with c = 2, l = 2: c must be above 2.",
    )
    assert "no c is large enough" in found.unmet(c=100, l=3)[-1]


def test_requirements_without_what_they_need_are_refused() -> None:
    found = tn.evaluate.check(pa.table({"q": [1, 1], "s": [1, 2]}), None, ["q"], ["s"])
    with pytest.raises(InvalidArgument, match="Add l"):
        found.meets(c=3)
    with pytest.raises(InvalidArgument, match=f"2 to {MOST_VALUES}"):
        found.meets(c=3, l=MOST_VALUES + 1)
    with pytest.raises(InvalidArgument, match="sampling fraction"):
        found.meets(risk=0.1)
    bare = tn.evaluate.check(pa.table({"q": [1, 1]}), None, ["q"])
    for word in ("alpha", "beta"):
        with pytest.raises(InvalidArgument, match=f"{word} is required"):
            bare.meets(**{word: 1})


def test_the_screen_says_what_they_mean() -> None:
    table = pa.table({"q": [1, 1, 1, 2, 2, 2], "s": list("aabbac")})
    text = " ".join(str(tn.evaluate.check(table, None, ["q"], ["s"])).split())
    assert "alpha = 0.6667, beta = 1, (c, 2)-diversity for c above 2" in text
