"""Draws the chart of naive-or-bayes.md: `python docs/examples/naive_or_bayes_chart.py > chart.svg`.

Left, one noisy answer and what Bayes' rule makes of it; right, mean errors for every epsilon.
Exact sums only, no simulation: the same picture every time.
"""

from __future__ import annotations

import html
import math
import sys
from collections.abc import Callable, Sequence

import tenue as tn

__all__ = ["chart"]

INK, QUIET, LINE, PAPER = "#1c2733", "#5b6b7b", "#dde3e9", "#ffffff"
NAIVE, BAYES, PRIOR = "#c8553d", "#0b5fa5", "#8b98a5"
WIDTH, HEIGHT = 900, 430
TOP, BOTTOM = 118, 362
LEFT, RIGHT = (44, 420), (520, 872)

ROWS, SHARE, NOISY, EPSILON = 1080, 0.3, 400, 0.1
COUNTS = range(270, 441)
EPSILONS = [0.01 * 10 ** (k / 12) for k in range(25)]

Place = Callable[[float], float]


def chart() -> str:
    """A self-contained SVG."""
    parts = [
        text(LEFT[0] - 20, 34, "The noisy count, or the Bayes estimate?", size=20, weight=600),
        text(
            LEFT[0] - 20,
            56,
            f"A count among {ROWS:,} rows, of which about three in ten are expected; "
            "discrete Laplace noise",
            fill=QUIET,
        ),
        *one_answer(),
        *all_epsilons(),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" '
        'font-family="system-ui, -apple-system, Segoe UI, Roboto, sans-serif">\n'
        "<title>A noisy count and its Bayes estimate, and their mean errors</title>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def one_answer() -> list[str]:
    """Prior, likelihood and posterior of one noisy count."""
    belief = tn.prior.Binomial(ROWS, SHARE)
    law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon=EPSILON)
    after = tn.estimate.count(NOISY, law, belief)
    curves = [
        (PRIOR, [float(belief.points.mass(k)) for k in COUNTS]),
        (NAIVE, [float(law.mass(NOISY - k)) for k in COUNTS]),
        (BAYES, [after.mass(k) for k in COUNTS]),
    ]
    highest = max(max(heights) for _, heights in curves)
    x = scale(COUNTS[0], COUNTS[-1], *LEFT)
    y = scale(0, highest * 1.12, BOTTOM, TOP)
    low, high = after.interval(0.95)
    band = (
        f'<rect x="{x(low):.1f}" y="{TOP}" width="{x(high) - x(low):.1f}" '
        f'height="{BOTTOM - TOP}" fill="{BAYES}" opacity="0.07"/>'
    )
    parts = [
        text(LEFT[0], 92, f"One answer at ε = {EPSILON:g}: {NOISY}", size=14, weight=600),
        band,
        axis(LEFT),
    ]
    for count in range(280, 441, 40):
        parts.append(text(x(count), BOTTOM + 20, str(count), size=12, fill=QUIET, anchor="middle"))
    for colour, heights in curves:
        parts.append(curve([(x(k), y(h)) for k, h in zip(COUNTS, heights, strict=True)], colour))
    for value, colour, name in (
        (belief.mean, PRIOR, f"prior {belief.mean:.0f}"),
        (after.median, BAYES, f"Bayes {after.median:.0f}"),
        (NOISY, NAIVE, f"noisy {NOISY}"),
    ):
        parts.append(
            f'<line x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{TOP + 6}" y2="{BOTTOM}" '
            f'stroke="{colour}" stroke-width="1.5" stroke-dasharray="3 3"/>'
        )
        anchor, shift = ("end", -5) if name.startswith("prior") else ("start", 5)
        parts.append(
            text(x(value) + shift, TOP + 16, name, size=12, fill=colour, weight=600, anchor=anchor)
        )
    told = f"shaded: {low} to {high}, which holds the true count with 95 %"
    parts.append(text(middle(LEFT), BOTTOM + 44, told, size=12, fill=QUIET, anchor="middle"))
    return parts


def all_epsilons() -> list[str]:
    """Mean absolute errors, averaged over prior and noise."""
    belief = tn.prior.Binomial(ROWS, SHARE)
    naive, bayes = [], []
    for epsilon in EPSILONS:
        law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon=epsilon)
        naive.append(float(law.mean_absolute_error))
        bayes.append(tn.estimate.expected_error(law, belief))
    alone = tn.estimate.guess_error(belief)
    x, y = log_scale(0.01, 1, *RIGHT), log_scale(0.5, 100, BOTTOM, TOP)
    parts = [text(RIGHT[0], 92, "Mean error for every ε", size=14, weight=600)]
    for error in (1, 10, 100):
        parts.append(
            f'<line x1="{RIGHT[0]}" x2="{RIGHT[1]}" y1="{y(error):.1f}" y2="{y(error):.1f}" '
            f'stroke="{LINE}"/>'
        )
        parts.append(
            text(RIGHT[0] - 8, y(error) + 4, str(error), size=12, fill=QUIET, anchor="end")
        )
    parts.append(axis(RIGHT))
    for epsilon in (0.01, 0.1, 1):
        parts.append(
            text(x(epsilon), BOTTOM + 20, f"{epsilon:g}", size=12, fill=QUIET, anchor="middle")
        )
    parts.append(
        f'<line x1="{RIGHT[0]}" x2="{RIGHT[1]}" y1="{y(alone):.1f}" y2="{y(alone):.1f}" '
        f'stroke="{PRIOR}" stroke-dasharray="6 4" stroke-width="1.5"/>'
    )
    for errors, colour in ((naive, NAIVE), (bayes, BAYES)):
        places = [(x(e), y(error)) for e, error in zip(EPSILONS, errors, strict=True)]
        parts.append(curve(places, colour))
    at = EPSILONS.index(min(EPSILONS, key=lambda e: abs(e - EPSILON)))
    for errors, colour, above in ((naive, NAIVE, True), (bayes, BAYES, False)):
        parts.append(
            f'<circle cx="{x(EPSILON):.1f}" cy="{y(errors[at]):.1f}" r="5" fill="{colour}" '
            f'stroke="{PAPER}" stroke-width="1.5"/>'
        )
        parts.append(
            text(
                x(EPSILON) + (16 if above else -8),
                y(errors[at]) + (3 if above else 13),
                f"{errors[at]:.1f}",
                size=12,
                fill=colour,
                weight=600,
                anchor="start" if above else "end",
            )
        )
    parts += [
        text(x(0.0185), y(naive[3]) - 2, "noisy count", size=12, fill=NAIVE, weight=600),
        text(x(0.0105), y(bayes[0]) + 18, "Bayes estimate", size=12, fill=BAYES, weight=600),
        text(
            RIGHT[1],
            y(alone) - 7,
            f"the prior alone {alone:.1f}",
            size=12,
            fill=QUIET,
            anchor="end",
        ),
        text(
            middle(RIGHT),
            BOTTOM + 44,
            "ε, log scale; below is better",
            size=12,
            fill=QUIET,
            anchor="middle",
        ),
    ]
    return parts


def scale(low: float, high: float, start: float, end: float) -> Place:
    return lambda value: start + (end - start) * (value - low) / (high - low)


def log_scale(low: float, high: float, start: float, end: float) -> Place:
    linear = scale(math.log(low), math.log(high), start, end)
    return lambda value: linear(math.log(value))


def middle(panel: tuple[int, int]) -> float:
    return (panel[0] + panel[1]) / 2


def axis(panel: tuple[int, int]) -> str:
    return f'<line x1="{panel[0]}" x2="{panel[1]}" y1="{BOTTOM}" y2="{BOTTOM}" stroke="{QUIET}"/>'


def curve(places: Sequence[tuple[float, float]], colour: str) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return (
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5" '
        'stroke-linejoin="round"/>'
    )


def text(
    x: float,
    y: float,
    words: str,
    *,
    size: float = 13,
    fill: str = INK,
    weight: int = 400,
    anchor: str = "start",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{fill}" '
        f'font-weight="{weight}" text-anchor="{anchor}">{html.escape(words)}</text>'
    )


if __name__ == "__main__":
    sys.stdout.write(chart())
