"""Questions: the candidates of a plan, and answers, as far as they may be shown."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ...ask.answer import Answer
from ...ask.belief.answer import BeliefPlan, Believed
from ...ask.grouping_sets import GroupedAnswer
from ...ask.plan.plan import Plan
from ...ask.possible import TOO_NOISY
from ...ask.question import KeyOutput, Output
from ...text import exactly, readable, shortly
from ..picture import Axis, Dots, Lengths, Mark, Panel, Picture, Rule, Spans, Words
from .belief import known_panel, prior_panel

LEVEL = Fraction(95, 100)
_MOST_ROWS = 40
_LONGEST = 28
_AFTER = "The error is reported with the answer, because it depends on the number of rows."


def plan(found: Plan) -> Picture:
    """The expected error of every candidate, a panel for each output; the chosen one is darker."""
    panels = []
    for place, chosen in enumerate(found.chosen.expectations):
        errors = [
            (one.mechanism, one.expectations[place].expected_error) for one in found.candidates
        ]
        panels.append(_errors(errors, found.chosen.mechanism, chosen.alias))
    subtitle = f"epsilon {exactly(found.epsilon)}, mean absolute error of each candidate"
    return Picture(_short(found.sql, 90), panels, subtitle, across=2, notes=found.caveats)


def belief_plan(found: BeliefPlan) -> Picture:
    """The same for a question with a prior; errors are averaged over it."""
    errors = [(way.mechanism, way.expected_error) for way in found.candidates]
    errors.append(("the prior alone", found.without))
    panel = _errors(errors, found.chosen.mechanism, ", ".join(found.names))
    subtitle = f"epsilon {exactly(found.epsilon)}, error averaged over the prior"
    panels = [panel, prior_panel(found.prior)]
    return Picture(_short(found.sql, 90), panels, subtitle, notes=found.limit_notes)


def answer(found: Answer) -> Picture:
    """Each number with its 95 % confidence interval, if there is one; a panel for each output."""
    spans, useless = found.spans(LEVEL), found.spans_too_noisy
    panels = [
        _values(
            name,
            [
                (key, value, ends, noisy)
                for (key, alias, value, ends), noisy in zip(spans, useless, strict=True)
                if alias == name
            ],
        )
        for name in dict.fromkeys(alias for _, alias, _, _ in spans)
    ]
    kind = "95 % confidence intervals" if any(ends for *_, ends in spans) else "no interval"
    subtitle = f"epsilon {exactly(found.price)}, {found.plan.chosen.mechanism}, {kind}"
    title = _short(found.plan.sql, 90)
    return Picture(title, panels, subtitle, across=2, notes=found.caveats)


def grouped_answer(found: GroupedAnswer) -> Picture:
    """The same for several grouping sets, in one panel; totals as (all)."""
    outputs = found.question.outputs
    keys = [output.alias for output in outputs if isinstance(output, KeyOutput)]
    rows = found.value
    ends, noisy = found.interval(LEVEL), found.too_noisy
    names = [", ".join("(all)" if row[k] is None else str(row[k]) for k in keys) for row in rows]
    panels = [
        _values(
            name,
            [
                (n, row[name], end[name], useless[name])
                for n, row, end, useless in zip(names, rows, ends, noisy, strict=True)
            ],
        )
        for name in (output.alias for output in outputs if isinstance(output, Output))
    ]
    subtitle = f"epsilon {exactly(found.price)}, 95 % confidence intervals where they exist"
    title = _short(found.sql, 90)
    return Picture(title, panels, subtitle, across=2, notes=found.caveats)


def believed(found: Believed) -> Picture:
    """The prior with the sample, and the posterior; nothing of the refined law."""
    before = replace(prior_panel(found.plan.prior), title="before: the prior")
    if found.noisy is None and isinstance(found.sample, numbers.Real):
        sample, text = float(found.sample), f"the sample {readable(found.sample)}"
        label = Words(text, sample, None, "other", bold=True, right=5, down=6)
        before = replace(before, marks=[*before.marks, Rule(sample, tone="other"), label])
    panels = [before]
    if found.posterior is not None:
        panels.append(replace(known_panel(found.posterior), title="after: the posterior"))
    subtitle = f"epsilon {exactly(found.price)}, {found.mechanism}"
    title = _short(found.plan.sql, 90)
    return Picture(title, panels, subtitle, across=1, notes=found.caveats)


def _errors(errors: Sequence[tuple[str, float | None]], chosen: str, title: str) -> Panel:
    known = [(name, error) for name, error in errors if error is not None]
    if not known:
        return Panel([Words(_AFTER, None, None, "quiet", down=20)], title=title, height=40)
    top = max(error for _, error in known)
    other = [(name, error) for name, error in known if name != chosen]
    marks: list[Mark] = [Lengths([one for one in known if one[0] == chosen], "deep")]
    marks += [Lengths(other, "pale")] if other else []
    marks += [
        Words(shortly(error), error, name, right=5, bold=name == chosen) for name, error in known
    ]
    return Panel(
        marks,
        x=Axis(low=0, high=1.2 * top or 1, shown=False),
        y=Axis(names=tuple(dict.fromkeys(name for name, _ in known))),
        title=title,
        height=28 * len(known),
        width=300,
    )


Shown = tuple[str, Any, tuple[Any, Any] | None, bool]
"""A number of an answer: its keys, its value, its interval, and whether it is too noisy."""


def _values(title: str, rows: Sequence[Shown]) -> Panel:
    """Numbers on an axis; anything else as words. What is too noisy is pale, and says so."""
    shown = rows[:_MOST_ROWS]
    names = _distinct([key or title for key, *_ in shown])
    if not all(_is_number(value) for _, value, *_ in shown):
        words: list[Mark] = [
            Words(_written(value, noisy), 0.0, name, _tone(noisy), bold=not noisy)
            for name, (_, value, _, noisy) in zip(names, shown, strict=True)
        ]
        x, y = Axis(low=0, high=1, shown=False), Axis(names=names)
        return Panel(words, x, y, title=title, height=28 * len(names))
    points: list[tuple[float, str]] = []
    useless: list[tuple[float, str]] = []
    spans = []
    labels: list[Mark] = []
    for name, (_, value, ends, noisy) in zip(names, shown, strict=True):
        (useless if noisy else points).append((float(value), name))
        label_at = float(value)
        if ends is not None and all(map(_is_number, ends)):
            spans.append((name, float(ends[0]), float(ends[1])))
            label_at = float(ends[1])
        labels.append(Words(_written(value, noisy), label_at, name, _tone(noisy), right=8))
    marks: list[Mark] = [Spans(spans, "pale", width=5)] if spans else []
    marks += [Dots(useless, "quiet")] if useless else []
    marks += [*([Dots(points)] if points else []), *labels]
    reached = [value for value, _ in points + useless] + [end for _, *ends in spans for end in ends]
    low, high = min(0.0, *reached), max(0.0, *reached)
    room = 0.16 * (high - low or 1)
    more = f"{len(rows) - len(shown)} more rows" if len(rows) > len(shown) else ""
    return Panel(
        marks,
        x=Axis(more, low=low, high=high + room, grid=True, write="~s" if high >= 1e4 else ""),
        y=Axis(names=names),
        title=title,
        height=max(28 * len(names), 40),
        width=340,
    )


def _written(value: object, noisy: bool) -> str:
    return f"{readable(value)}, {TOO_NOISY}" if noisy else readable(value)


def _tone(noisy: bool) -> str:
    return "quiet" if noisy else "ink"


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _distinct(words: Sequence[str]) -> tuple[str, ...]:
    made: list[str] = []
    for word in words:
        short = _short(word, _LONGEST)
        while short in made:
            short += "\N{ZERO WIDTH SPACE}"
        made.append(short)
    return tuple(made)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
