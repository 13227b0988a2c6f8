"""Every mistake in the parameters of a law is a refusal: what, what is allowed, how to fix it.

Never a bare Python error, never a warning of numpy (warnings are errors in this suite).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.errors import Refused
from tenue.noise import DiscreteLaplace, HeavyTail, IndependentLaplace, Laplace, Optimal, OptimalBox

GOOD: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Laplace": (Laplace, {"sensitivity": 1, "epsilon": 1}),
    "DiscreteLaplace": (DiscreteLaplace, {"sensitivity": 1, "epsilon": 1, "grid": 1}),
    "Optimal": (Optimal, {"sensitivity": 1, "epsilon": 1}),
    "Optimal, d": (Optimal, {"sensitivity": 1, "epsilon": 1, "d": Fraction(1, 2)}),
    "HeavyTail": (HeavyTail, {"gamma": 3, "smooth_sensitivity": 1, "epsilon": 1}),
    "OptimalBox": (OptimalBox, {"sensitivities": [1, 2], "epsilon": 1}),
    "OptimalBox, same": (OptimalBox, {"sensitivities": [1, 2], "epsilon": 1, "signs": "same"}),
    "OptimalBox, core": (OptimalBox, {"sensitivities": [1, 2], "epsilon": 1, "core": [0, 1]}),
    "IndependentLaplace": (IndependentLaplace, {"scales": [1, 2]}),
}
NO_NUMBERS: dict[str, Any] = {
    "none": None,
    "true": True,
    "false": False,
    "text": "one",
    "empty text": "",
    "nan": math.nan,
    "numpy nan": np.float64("nan"),
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "text nan": "NaN",
    "text infinity": "Infinity",
    "decimal nan": Decimal("NaN"),
    "list": [1],
    "array": np.array([1.0, 2.0]),
    "complex": 1j,
    "object": object(),
    "far too long": "1" * 5000,
    "far too large": "1e999999999",
    "no division": "1/0",
}
NOT_ABOVE_ZERO: dict[str, Any] = {
    "zero": 0,
    "float zero": 0.0,
    "minus zero": -0.0,
    "negative": -1,
    "tiny negative": -1e-300,
    "underflowing text": "-1e-390",
    "numpy negative": np.int64(-3),
}
SCALARS = {"sensitivity", "epsilon", "grid", "smooth_sensitivity"}


def refused(call: Callable[[], Any]) -> Refused:
    with pytest.raises(Refused) as info:
        call()
    refusal = info.value
    for part in (refusal.what, refusal.allowed, refusal.fix, refusal.code):
        assert isinstance(part, str)
        assert part.strip(" .`")
    assert str(refusal) == f"{refusal.what} {refusal.allowed} {refusal.fix}"
    assert len(str(refusal)) < 1000  # a mistake may be long, its refusal is not
    return refusal


WRONG_SCALARS = [
    pytest.param(law, name, value, id=f"{law}-{name}-{kind}")
    for law, (_, good) in GOOD.items()
    for name in good
    if name in SCALARS
    for kind, value in (NO_NUMBERS | NOT_ABOVE_ZERO).items()
]


@pytest.mark.parametrize(("law", "name", "value"), WRONG_SCALARS)
def test_a_wrong_number_is_refused_by_name(law: str, name: str, value: Any) -> None:
    build, good = GOOD[law]
    assert name in str(refused(lambda: build(**{**good, name: value})))


@pytest.mark.parametrize("law", GOOD)
def test_missing_unknown_and_nameless_parameters_are_refused(law: str) -> None:
    build, good = GOOD[law]
    required = [n for n in good if n not in ("grid", "d", "core", "signs", "minimise")]
    for name in required:
        rest = {key: value for key, value in good.items() if key != name}
        assert name in refused(lambda rest=rest: build(**rest)).what
    for wrong in ("eps", "sensitivty", "scale", "seed", "delta"):
        refusal = refused(lambda wrong=wrong: build(**good, **{wrong: 1}))
        assert wrong in refusal.what
    refused(lambda: build(*good.values()))
    refused(lambda: build())


@pytest.mark.parametrize("law", [name for name in GOOD if "sensitivty" not in name])
def test_a_misspelt_parameter_is_pointed_at(law: str) -> None:
    build, good = GOOD[law]
    if "epsilon" in good:
        rest = {key: value for key, value in good.items() if key != "epsilon"}
        assert "epsilon" in refused(lambda: build(**rest, epsilonn=1)).fix


VECTORS: dict[str, Any] = {
    "empty": [],
    "empty array": np.array([]),
    "text": "12",
    "bytes": b"12",
    "number": 3,
    "none": None,
    "text inside": [1, "x"],
    "none inside": [1, None],
    "nan inside": [1, math.nan],
    "infinity inside": [1, math.inf],
    "zero inside": [1, 0],
    "negative inside": [1, -2],
    "bool inside": [1, True],
    "nested": [[1], [2]],
    "matrix": np.ones((2, 2)),
}


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("signs", ["any", "same"])
def test_wrong_vectors_are_refused(kind: str, signs: Any) -> None:
    value = VECTORS[kind]
    refused(lambda: OptimalBox(sensitivities=value, epsilon=1, signs=signs))
    refused(lambda: IndependentLaplace(scales=value))
    if kind not in ("zero inside", "none"):  # an empty core is legal, and so is none
        refused(lambda: OptimalBox(sensitivities=[1, 2], epsilon=1, core=value, signs=signs))


@pytest.mark.parametrize("core", [[1], [1, 2, 3], [-1, 1], ["0.1", "-0.0001"]])
def test_cores_of_another_shape_are_refused(core: Any) -> None:
    refused(lambda: OptimalBox(sensitivities=[1, 2], epsilon=1, core=core))


def test_a_core_of_another_proportion_is_refused_where_signs_agree() -> None:
    refusal = refused(
        lambda: OptimalBox(sensitivities=[1, 2], epsilon=1, core=[1, 1], signs="same")
    )
    assert "proportional" in refusal.what
    law = OptimalBox(sensitivities=["0.1", "0.3"], epsilon=1, core=["0.01", "0.03"], signs="same")
    assert law.core == pytest.approx((0.01, 0.03))


@pytest.mark.parametrize("signs", ["both", "", None, 1, True, ["any"], "ANY"])
def test_other_signs_are_refused(signs: Any) -> None:
    refused(lambda: OptimalBox(sensitivities=[1, 2], epsilon=1, signs=signs))


def test_two_ways_to_fix_the_shape_are_refused() -> None:
    refused(lambda: Optimal(sensitivity=1, epsilon=1, d="0.5", minimise="variance"))
    refused(lambda: OptimalBox(sensitivities=[1], epsilon=1, core=["0.5"], minimise="variance"))


@pytest.mark.parametrize("d", [-1, "1.0001", 2, math.nan, math.inf, "x", True, [0.5]])
def test_cores_outside_the_sensitivity_are_refused(d: Any) -> None:
    refused(lambda: Optimal(sensitivity=1, epsilon=1, d=d))


@pytest.mark.parametrize(
    "minimise", ["variances", "interval", ("interval", 95), ("interval", 0), ("interval",), 3, True]
)
def test_other_criteria_are_refused(minimise: Any) -> None:
    refused(lambda: Optimal(sensitivity=1, epsilon=1, minimise=minimise))
    refused(lambda: OptimalBox(sensitivities=[1], epsilon=1, minimise=minimise))


# -- questions put to a law ------------------------------------------------------------------------

LAWS: dict[str, Callable[[], Any]] = {
    **{name: lambda build=build, good=good: build(**good) for name, (build, good) in GOOD.items()},
    "Optimal on grid": lambda: Optimal(sensitivity=3, epsilon=1).on_grid(1),
    "HeavyTail on grid": lambda: HeavyTail(gamma=3, smooth_sensitivity=1, epsilon=1).on_grid(1),
    "OptimalBox on grid": lambda: OptimalBox(sensitivities=[1, 2], epsilon=1).on_grid(1),
    "OptimalBox on grid, same": lambda: OptimalBox(
        sensitivities=[1, 2], epsilon=1, signs="same"
    ).on_grid(1),
}
NO_LEVELS = [0, 1, 0.0, 1.0, 95, -0.5, 1.0001, math.nan, math.inf, None, True, "high", [0.5], "95%"]


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("level", NO_LEVELS, ids=repr)
def test_levels_outside_zero_and_one_are_refused(name: str, level: Any) -> None:
    law = LAWS[name]()
    asked = 0
    for method in ("interval", "quantile", "region", "volume", "radius"):
        if hasattr(law, method):
            refused(lambda method=method: getattr(law, method)(level))
            asked += 1
    assert asked


def test_percent_is_pointed_at() -> None:
    assert "0.95" in refused(lambda: Laplace(sensitivity=1, epsilon=1).interval(95)).fix


@pytest.mark.parametrize("name", [n for n in LAWS if "Independent" not in n])
@pytest.mark.parametrize("size", [-1, 1.5, "many", math.nan, math.inf, True, [2]], ids=repr)
def test_sizes_that_count_nothing_are_refused(name: str, size: Any) -> None:
    law = LAWS[name]()
    refused(lambda: law.sample(size))
    if hasattr(law, "steps"):
        refused(lambda: law.steps(size))


CAN_CHANGE_GRID = [n for n in LAWS if "on grid" not in n]


@pytest.mark.parametrize("name", CAN_CHANGE_GRID)
@pytest.mark.parametrize(
    "grid", [0, -1, math.nan, math.inf, None, True, "fine", "", [0, 1], [1, 1, 1], []], ids=repr
)
def test_wrong_grids_are_refused(name: str, grid: Any) -> None:
    law = LAWS[name]()
    refused(lambda: law.on_grid(grid))


@pytest.mark.parametrize("name", [n for n in LAWS if "Box" not in n and "Indep" not in n])
@pytest.mark.parametrize("shift", [None, True, "far", math.nan, math.inf, [1]], ids=repr)
def test_shifts_that_are_no_numbers_are_refused(name: str, shift: Any) -> None:
    law = LAWS[name]()
    refused(lambda: law.loss(shift))


# -- sizes at the edge of what numbers can hold ----------------------------------------------------

EDGES: dict[str, Callable[[], Any]] = {
    "laplace, scale beyond doubles": lambda: Laplace(sensitivity=1e308, epsilon=1e-10).scale,
    "laplace, sensitivity beyond doubles": lambda: Laplace(sensitivity="1e350", epsilon=1).variance,
    "laplace, sensitivity below doubles": lambda: Laplace(sensitivity="1e-350", epsilon=1).pdf(0),
    "laplace, variance beyond doubles": lambda: Laplace(sensitivity=1e200, epsilon=1).variance,
    "laplace, epsilon below doubles": lambda: Laplace(sensitivity=1, epsilon="1e-350").scale,
    "laplace, epsilon beyond doubles": lambda: Laplace(sensitivity=1, epsilon="1e350").pdf(1),
    "laplace, draws beyond integers": lambda: Laplace(sensitivity=1, epsilon=1e-30).sample(3),
    "laplace, wide sensitivity": lambda: Laplace(sensitivity=1e300, epsilon=1).sample(3),
    "discrete, scale beyond integers": lambda: DiscreteLaplace(sensitivity=1, epsilon=1e-20).sample(
        3
    ),
    "discrete, sensitivity beyond integers": lambda: DiscreteLaplace(sensitivity=1e30, epsilon=1),
    "discrete, grid below doubles": lambda: DiscreteLaplace(
        sensitivity="1e-350", epsilon=1, grid="1e-350"
    ).cdf(1),
    "discrete, grid beyond integers": lambda: DiscreteLaplace(
        sensitivity=10**30, epsilon=30, grid=10**30
    ).sample(3),
    "discrete, epsilon beyond doubles": lambda: DiscreteLaplace(
        sensitivity=1, epsilon="1e350"
    ).mass(1),
    "discrete, huge epsilon drawn": lambda: DiscreteLaplace(sensitivity=1, epsilon=1e6).sample(3),
    "optimal, epsilon beyond doubles": lambda: Optimal(sensitivity=1, epsilon="1e350").variance,
    "optimal, epsilon below doubles": lambda: Optimal(sensitivity=1, epsilon="1e-350").variance,
    "optimal, sensitivity beyond doubles": lambda: Optimal(sensitivity="1e350", epsilon=1).variance,
    "optimal, sensitivity below doubles": lambda: Optimal(sensitivity="1e-350", epsilon=1).pdf(0),
    "optimal, draws beyond integers": lambda: Optimal(sensitivity=1, epsilon=1e-18).sample(3),
    "optimal, grid too fine": lambda: Optimal(sensitivity=1, epsilon=1).on_grid(1e-20).sample(3),
    "heavy, scale beyond doubles": lambda: HeavyTail(
        gamma=2, smooth_sensitivity="1e350", epsilon=1
    ).cdf(1),
    "heavy, scale below doubles": lambda: HeavyTail(
        gamma=2, smooth_sensitivity="1e-350", epsilon=1
    ).cdf(1),
    "heavy, variance beyond doubles": lambda: (
        HeavyTail(gamma=5, smooth_sensitivity=1e200, epsilon=1).variance
    ),
    "heavy, moments on a fine grid": lambda: (
        HeavyTail(gamma=5, smooth_sensitivity=1e200, epsilon=1).on_grid(1).variance
    ),
    "box, epsilon beyond doubles": lambda: (
        OptimalBox(sensitivities=[1, 1], epsilon="1e350").variance
    ),
    "box, epsilon below doubles": lambda: (
        OptimalBox(sensitivities=[1, 1], epsilon="1e-350", core=[0, 0]).variance
    ),
    "box, sensitivities beyond doubles": lambda: (
        OptimalBox(sensitivities=["1e350", 1], epsilon=1).variance
    ),
    "box, density beyond doubles": lambda: OptimalBox(
        sensitivities=[1e-200, 1e-200], epsilon=1
    ).pdf([0, 0]),
    "box, volume beyond doubles": lambda: OptimalBox(
        sensitivities=[1e200, 1e200], epsilon=1
    ).volume(0.9),
    "box, draws beyond integers": lambda: OptimalBox(sensitivities=[1, 1], epsilon=1e-18).sample(3),
    "box, huge epsilon drawn": lambda: OptimalBox(sensitivities=[1, 1], epsilon=1e6).sample(3),
    "independent, beyond doubles": lambda: IndependentLaplace(scales=["1e350", 1]).variance,
    "independent, volume beyond doubles": lambda: IndependentLaplace(scales=[1e200, 1e200]).volume(
        0.9
    ),
}


@pytest.mark.parametrize("name", EDGES)
def test_the_edge_of_doubles_and_integers_is_answered_or_refused(name: str) -> None:
    """A refusal, or numbers (infinity included) that are not NaN; never another exception."""
    try:
        answer = EDGES[name]()
    except Refused:
        return
    if not isinstance(answer, DiscreteLaplace):
        assert not np.isnan(np.asarray(answer, dtype=float)).any()
