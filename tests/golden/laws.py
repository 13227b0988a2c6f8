"""Laws of noise, beliefs, refined beliefs and Bayes estimates, drawn from a seeded source."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import tenue as tn
from golden.kit import Case, Theme, outcome, parsed, plain

LEVELS = (0.5, 0.9, 0.95, 0.999)
PLACES = (0.001, 0.025, 0.2, 0.5, 0.8, 0.975, 0.999)
N = tn.noise
P = tn.prior

ONE: dict[str, Callable[[], Any]] = {
    "Laplace(1, 1)": lambda: N.Laplace(sensitivity=1, epsilon=1),
    "Laplace(3/2, 0.1)": lambda: N.Laplace(sensitivity=Fraction(3, 2), epsilon="0.1"),
    "DiscreteLaplace(1, 1)": lambda: N.DiscreteLaplace(sensitivity=1, epsilon=1),
    "DiscreteLaplace(1, 0.01)": lambda: N.DiscreteLaplace(sensitivity=1, epsilon=0.01),
    "DiscreteLaplace(5, 0.3, 1/4)": lambda: N.DiscreteLaplace(
        sensitivity=5, epsilon="0.3", grid="1/4"
    ),
    "Optimal(1, 1)": lambda: N.Optimal(sensitivity=1, epsilon=1),
    "Optimal(1, 4)": lambda: N.Optimal(sensitivity=1, epsilon=4),
    "Optimal(10, 0.5)": lambda: N.Optimal(sensitivity=10, epsilon=0.5),
    "Optimal(1, 1, absolute error)": lambda: N.Optimal(
        sensitivity=1, epsilon=1, minimise="absolute-error"
    ),
    "Optimal(1, 2, interval)": lambda: N.Optimal(
        sensitivity=1, epsilon=2, minimise=("interval", 0.95)
    ),
    "Optimal(1, 1, d=1/3)": lambda: N.Optimal(sensitivity=1, epsilon=1, d=Fraction(1, 3)),
    "HeavyTail(2, 1, 1)": lambda: N.HeavyTail(gamma=2, smooth_sensitivity=1, epsilon=1),
    "HeavyTail(4, 3, 0.5)": lambda: N.HeavyTail(gamma=4, smooth_sensitivity=3, epsilon=0.5),
}
BOXES: dict[str, Callable[[], Any]] = {
    "OptimalBox([1, 1], 1)": lambda: N.OptimalBox(sensitivities=[1, 1], epsilon=1),
    "OptimalBox([1, 2, 3], 0.5, same)": lambda: N.OptimalBox(
        sensitivities=[1, 2, 3], epsilon=0.5, signs="same"
    ),
    "OptimalBox([1, 1, 1, 1], 2, absolute error)": lambda: N.OptimalBox(
        sensitivities=[1] * 4, epsilon=2, minimise="absolute-error"
    ),
    "OptimalBox([1, 5], 1, core)": lambda: N.OptimalBox(
        sensitivities=[1, 5], epsilon=1, core=[0, 1]
    ),
    "IndependentLaplace([1, 2])": lambda: N.IndependentLaplace(scales=[1, 2]),
}
GRIDS = ("1", "0.01")
BELIEFS: dict[str, Callable[[], Any]] = {
    "Uniform(0, 10)": lambda: P.Uniform(0, 10),
    "Uniform(-1, 1) on 1/8": lambda: P.Uniform(-1, 1).on_grid("1/8"),
    "Normal(5, 2, 0, 10)": lambda: P.Normal(5, 2, 0, 10),
    "Normal(50, 20, 0, 100) on 1": lambda: P.Normal(50, 20, 0, 100).on_grid(1),
    "Histogram": lambda: P.Histogram([0, 1, 3, 10], ["0.2", "0.5", "0.3"]),
    "Histogram on 1": lambda: P.Histogram([0, 2, 4, 10], ["0.2", "0.5", "0.3"]).on_grid(1),
    "Points": lambda: P.Points({0: "0.5", "1.5": "0.25", 4: "0.25"}),
    "Binomial(20, 0.3)": lambda: P.Binomial(20, 0.3),
    "BetaBinomial(30, 2, 5)": lambda: P.BetaBinomial(30, 2, 5),
    "Categorical": lambda: P.Categorical({"flu": "0.1", "cold": "0.2", "none": "0.7"}),
    "Categorical of booleans": lambda: P.Categorical({True: "0.3", False: "0.7"}),
    "Ordinal": lambda: P.Ordinal(["low", "middle", "high"], ["0.3", "0.4", "0.3"]),
    "Independent": lambda: P.Independent(
        [P.Categorical({"a": "0.5", "b": "0.5"}), P.Ordinal([1, 2, 3], ["0.2", "0.3", "0.5"])]
    ),
    "Table": lambda: P.Table({("yes", "no"): "0.8", ("no", "yes"): "0.15", ("no", "no"): "0.05"}),
    "normalised Categorical": lambda: P.Categorical(P.normalised({"x": 1, "y": 2, "z": 4})),
}
TRUTHS: dict[str, tuple[Any, ...]] = {
    "Uniform(0, 10)": (3,),
    "Uniform(-1, 1) on 1/8": ("1/2", None),
    "Normal(5, 2, 0, 10)": ("0.25",),
    "Normal(50, 20, 0, 100) on 1": (50, 3),
    "Histogram": (2,),
    "Histogram on 1": (3,),
    "Points": (0, "1.5", None),
    "Binomial(20, 0.3)": (6, 20),
    "BetaBinomial(30, 2, 5)": (0, 11),
    "Categorical": ("flu", "none", None),
    "Categorical of booleans": (True, None),
    "Ordinal": ("low", "middle"),
    "Independent": (("a", 2),),
    "Table": (("no", "yes"), ("no", "no"), None),
}


def each(**calls: Callable[[], Any]) -> dict[str, Any]:
    """Each call by its name: what it returns, or how it is refused."""
    found = {name: outcome(call) for name, call in calls.items()}
    # what a thing does not have is absent here, so that it is seen to go or to come
    return {
        name: told["is"] if told.keys() == {"is"} else told
        for name, told in found.items()
        if told.get("raised") != "AttributeError"
    }


def one(law: Any) -> dict[str, Any]:
    """All that a law of one number tells."""
    return each(
        text=lambda: str(law),
        variance=lambda: law.variance,
        mean_absolute_error=lambda: law.mean_absolute_error,
        loss=lambda: [law.loss(x) for x in (0, Fraction(1, 4), 1, 2, 7)],
        loss_1=lambda: law.loss(1),
        interval=lambda: [law.interval(level) for level in LEVELS],
        quantile=lambda: [law.quantile(p) for p in PLACES],
        cdf=lambda: [law.cdf(x) for x in (-5, -1, 0, 1, 2.5)],
        pdf=lambda: [law.pdf(x) for x in (-5.0, -1.0, 0.0, 0.3, 1.0)],
        pmf=lambda: [law.pmf(x) for x in (-5, -1, 0, 1, 4)],
        mass=lambda: [law.mass(x) for x in (-5, -1, 0, 1, 4)],
        scale=lambda: law.scale,
        sensitivity=lambda: law.sensitivity,
        dominated=lambda: law.dominated,
        sampling_grid=lambda: law.sampling_grid,
        sample=lambda: law.sample(8, source=N.Seeded(7)),
        single=lambda: law.sample(source=N.Seeded(8)),
        steps=lambda: law.steps(8, source=N.Seeded(7)),
    )


def many(law: Any) -> dict[str, Any]:
    """All that a law of several numbers tells."""
    return each(
        text=lambda: str(law),
        variance=lambda: law.variance,
        mean_absolute_error=lambda: law.mean_absolute_error,
        loss=lambda: [law.loss([1, 0]), law.loss([1, 1]), law.loss([1, -1])],
        loss_3=lambda: [law.loss([1, 0, 2]), law.loss([1, 2, 3])],
        interval=lambda: [law.interval(level) for level in LEVELS],
        quantile=lambda: [law.quantile(p) for p in PLACES],
        volume=lambda: [law.volume(level) for level in LEVELS],
        radius=lambda: [law.radius(level) for level in LEVELS],
        core=lambda: law.core,
        region=lambda: [law.region(level) for level in LEVELS],
        sampling_grid=lambda: law.sampling_grid,
        sample=lambda: law.sample(4, source=N.Seeded(7)),
        single=lambda: law.sample(source=N.Seeded(8)),
        steps=lambda: law.steps(4, source=N.Seeded(7)),
    )


def belief(made: Any) -> dict[str, Any]:
    """All that a belief tells."""
    again = each(again=lambda: parsed(P.from_json(made.to_json()).to_json()))
    return again | each(
        text=lambda: str(made),
        html=lambda: made._repr_html_(),
        json=lambda: parsed(made.to_json()),
        dict=lambda: made.to_dict(),
        mean=lambda: made.mean,
        variance=lambda: made.variance,
        masses=lambda: made.masses,
        low_high=lambda: (made.low, made.high),
        cdf=lambda: [made.cdf(x) for x in (0, 1, "2.5", 4)],
        density=lambda: [made.density(x) for x in (0, 1, "2.5", 4)],
        quantile=lambda: [made.quantile(p) for p in PLACES],
        sample=lambda: made.sample(8, source=N.Seeded(7)),
        single=lambda: made.sample(source=N.Seeded(8)),
        guess_error=lambda: tn.estimate.guess_error(made),
    )


def _refined(name: str, truth: Any, kind: str, epsilon: Any, **options: Any) -> dict[str, Any]:
    made = BELIEFS[name]()
    law = tn.mechanism.refine(made, truth, epsilon, kind=kind, **options)
    sample = law.sample(source=N.Seeded(7))
    return each(
        text=lambda: str(law),
        up=lambda: law.factor_up,
        down=lambda: law.factor_down,
        core=lambda: law.core,
        masses=lambda: law.masses,
        cdf=lambda: [law.cdf(x) for x in (0, 1, 3, 5)],
        density=lambda: [law.density(x) for x in (0, 1, 3, 5)],
        variance=lambda: law.variance,
        error=lambda: law.mean_absolute_error,
        loss=lambda: law.loss_against(None),
        samples=lambda: law.sample(8, source=N.Seeded(7)),
        posterior=lambda: posterior(tn.estimate.refined(sample, made, epsilon, kind=kind)),
        expected=lambda: tn.mechanism.expected_error(made, epsilon, kind=kind),
        afterwards=lambda: tn.estimate.refined_error(made, epsilon, kind=kind),
    )


def posterior(found: Any) -> dict[str, Any]:
    """All that a posterior, or an opinion about a category, tells."""
    return each(
        text=lambda: str(found),
        mean=lambda: found.mean,
        variance=lambda: found.variance,
        median=lambda: found.median,
        mode=lambda: found.mode,
        likeliest=lambda: found.likeliest(),
        error=lambda: found.mean_absolute_error,
        interval=lambda: [found.interval(level) for level in (0.5, 0.95)],
        values=lambda: list(found.values)[:6],
        masses=lambda: _first(found.masses),
        probability=lambda: found.probability(0, 5),
    )


def _first(masses: Any) -> Any:
    return dict(list(masses.items())[:6]) if hasattr(masses, "items") else list(masses)[:6]


def _estimates() -> dict[str, Case]:
    laplace = lambda e: N.DiscreteLaplace(sensitivity=1, epsilon=e)  # noqa: E731
    box = lambda: N.OptimalBox(sensitivities=[1, 1, 1], epsilon=1, signs="same").on_grid(1)  # noqa: E731
    estimate = tn.estimate
    return {
        "count, Binomial": lambda: posterior(
            estimate.count(400, laplace(0.1), P.Binomial(1080, 0.3))
        ),
        "count below 0": lambda: posterior(estimate.count(-7, laplace(0.1), P.Binomial(99, 0.01))),
        "count, BetaBinomial": lambda: posterior(
            estimate.count(12, laplace(1), P.BetaBinomial(40, 2, 3))
        ),
        "total, Normal": lambda: posterior(
            estimate.total(
                57, N.Optimal(sensitivity=10, epsilon=1).on_grid(1), P.Normal(50, 20, 0, 100)
            )
        ),
        "total, Uniform": lambda: posterior(
            estimate.total(57, N.Laplace(sensitivity=5, epsilon=1).on_grid(1), P.Uniform(0, 100))
        ),
        "counts": lambda: [posterior(p) for p in estimate.counts([3, 7, 9], laplace(1), total=20)],
        "margin": lambda: [estimate.Margin(box(), 1).log_mass(x) for x in (tn_ints([-2, 0, 3]),)],
        "out of range": lambda: [
            estimate.out_of_range(true, 1080, laplace(0.1)) for true in (0, 20, 324)
        ],
        "compare, mean": lambda: asdict(estimate.compare(laplace(0.2), P.Binomial(100, 0.3))),
        "compare, median": lambda: asdict(
            estimate.compare(laplace(0.2), P.Binomial(100, 0.3), estimator="median")
        ),
        "compare, drawn": lambda: asdict(
            estimate.compare(laplace(0.2), P.Binomial(100, 0.3), draws=500, source=N.Seeded(7))
        ),
        "expected error": lambda: [
            estimate.expected_error(laplace(e), P.Binomial(100, 0.3)) for e in (0.05, 0.5, 2)
        ],
    }


def tn_ints(values: list[int]) -> Any:
    import numpy as np

    return np.array(values)


def _cases() -> dict[str, Case]:
    cases: dict[str, Case] = {
        "source, seeded": lambda: {
            str(bits): N.Seeded(7).words(4, bits) for bits in (8, 16, 32, 64)
        },
        "source, goes on": lambda: (lambda s: [s.words(3, 8), s.words(3, 8)])(N.Seeded(1)),
    }
    for name, make in ONE.items():
        cases[f"law {name}"] = lambda make=make: one(make())
        for grid in GRIDS:
            cases[f"law {name} on {grid}"] = lambda make=make, grid=grid: outcome(
                lambda: one(make().on_grid(grid))
            )
    for name, make in BOXES.items():
        cases[f"law {name}"] = lambda make=make: many(make())
        for grid in ("1", "0.1"):
            cases[f"law {name} on {grid}"] = lambda make=make, grid=grid: outcome(
                lambda: many(make().on_grid(grid))
            )
        if name.startswith("OptimalBox"):
            cases[f"law {name}, margin"] = lambda make=make: outcome(
                lambda: one(make().marginal(0))
            )
    for name, make in BELIEFS.items():
        cases[f"belief {name}"] = lambda make=make: belief(make())
    for name, truths in TRUTHS.items():
        for i, truth in enumerate(truths):
            for kind, epsilon in (("individual", 0.5), ("statistical", 2))[i % 2 :: 2]:
                cases[f"refined {name} at {truth}, {kind}, {epsilon}"] = (
                    lambda name=name, truth=truth, kind=kind, epsilon=epsilon: outcome(
                        lambda: _refined(name, truth, kind, epsilon)
                    )
                )
    cases["refined with delta"] = lambda: outcome(
        lambda: _refined("Categorical", "flu", "individual", 1, delta=1e-6)
    )
    cases["refined with alpha"] = lambda: outcome(
        lambda: _refined("Categorical", "flu", "statistical", 1, alpha_up="1/2")
    )
    cases["normalised"] = lambda: [
        P.normalised([1, 2, 4]),
        P.normalised({"a": 0.1, "b": 0.2}),
        P.normalised([math.pi, math.e]),
    ]
    cases |= {f"estimate {name}": case for name, case in _estimates().items()}
    return cases


THEME = Theme("laws", _cases(), exact=False)
__all__ = ["THEME", "each", "plain", "posterior"]
