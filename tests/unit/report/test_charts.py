"""Anything of Tenue as a chart."""

from __future__ import annotations

import importlib
import pkgutil
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tenue as tn
from tenue.report import charts
from tenue.report.charts.belief import HIDDEN, known_panel, prior_panel
from tenue.report.charts.comparison import compared, document
from tenue.report.picture import (
    Band,
    Bars,
    Curve,
    Dots,
    Lengths,
    Panel,
    Picture,
    Rule,
    Spans,
    Words,
)
from tenue.report.plot import SUBJECTS, picture_of, plot

PICTURE = Picture("by hand", [Panel([Rule(0)])])


class Drawable:
    def picture(self) -> Picture:
        return PICTURE


class Album:
    picture = "not to be called"


def test_an_object_is_asked_for_its_picture() -> None:
    assert picture_of(Drawable()) is PICTURE
    assert picture_of(PICTURE) is PICTURE
    assert plot(PICTURE, theme="dark").theme == "dark"


def test_what_has_no_picture_is_refused() -> None:
    for given in (3, None, "text", Album()):
        with pytest.raises(tn.Refused, match="There is no chart of a"):
            plot(given)


def test_every_subject_exists_and_every_file_has_one() -> None:
    files = {made.partition(":")[0] for made in SUBJECTS.values()}
    assert files == {module.name for module in pkgutil.iter_modules(charts.__path__)}
    for kind, made in SUBJECTS.items():
        module, _, name = kind.rpartition(".")
        assert isinstance(getattr(importlib.import_module(f"tenue.{module}"), name), type)
        file, _, function = made.partition(":")
        assert callable(getattr(importlib.import_module(f"tenue.report.charts.{file}"), function))


# -- belief ----------------------------------------------------------------------------------------

PRIORS: list[Any] = [
    tn.prior.Uniform(0, 10),
    tn.prior.Normal(0, 1, -4, 4),
    tn.prior.Histogram([0, 1, 3], [0.5, 0.5]),
    tn.prior.Points({0: 0.5, 1: 0.5}),
    tn.prior.Binomial(1080, 0.3),
    tn.prior.Binomial(10**8, 0.3),
    tn.prior.BetaBinomial(20, 1, 2),
    tn.prior.Categorical({"flu": 0.7, "none": 0.3}),
    tn.prior.Ordinal(["low", "high"], [0.2, 0.8]),
    tn.prior.Table({("a", 1): 0.5, ("b", 2): 0.5}),
]


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_every_prior_is_drawn(prior: Any) -> None:
    picture = picture_of(prior)
    assert picture.title == repr(prior)
    (panel,) = picture.panels
    assert panel.marks


def test_heights_are_masses() -> None:
    (mark,) = prior_panel(tn.prior.Points({0: 0.25, 3: 0.75})).marks
    assert isinstance(mark, Bars)
    assert [height for *_, height in mark.bars] == [0.25, 0.75]
    (curve,) = prior_panel(tn.prior.Binomial(1080, 0.3)).marks
    assert isinstance(curve, Curve)
    peak = max(curve.points, key=lambda point: point[1])
    assert peak[0] == pytest.approx(324, abs=1)
    assert peak[1] == pytest.approx(float(tn.prior.Binomial(1080, 0.3).points.mass(324)), rel=1e-3)
    names = prior_panel(
        tn.prior.Categorical({f"c{i}": Fraction(i + 1, 1275) for i in range(50)})
    ).marks[0]
    assert isinstance(names, Lengths)
    assert len(names.bars) == 20
    assert sum(share for _, share in names.bars) == pytest.approx(1)


TEN = tn.prior.Points(dict.fromkeys(range(10), 0.1))
FOUR = tn.prior.Categorical({"flu": 0.25, "cold": 0.25, "none": 0.25, "both": 0.25})


@pytest.mark.parametrize("prior", [PRIORS[0], TEN, FOUR], ids=repr)
def test_of_a_refined_law_nothing_depends_on_the_truth(prior: Any) -> None:
    """The mutant draws the law, or its core: two truths would give two pictures."""
    truths: list[Any] = ["flu", "none"] if "Cat" in repr(prior) else [0, 9]
    laws = [tn.mechanism.refine(prior, truth, 1, kind="statistical") for truth in truths]
    one, other = (picture_of(law) for law in laws)
    assert one == other
    assert one.subtitle == HIDDEN
    assert laws[0].core != laws[1].core


def test_a_posterior_has_its_interval_and_median() -> None:
    law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon=0.1)
    found = tn.estimate.count(400, law, tn.prior.Binomial(1080, 0.3))
    (panel,) = picture_of(found).panels
    (band,) = (mark for mark in panel.marks if isinstance(mark, Band))
    assert (band.low, band.high) == found.interval(0.95)
    assert any(isinstance(mark, Words) and "347" in mark.text for mark in panel.marks)


def test_an_opinion_is_drawn_by_name() -> None:
    prior = tn.prior.Categorical({"flu": 0.7, "none": 0.3})
    found = tn.estimate.refined("flu", prior, 1, kind="individual")
    (panel,) = picture_of(found).panels
    assert set(panel.y.names) == {"flu", "none"}


def test_what_is_no_belief_is_a_fault_of_the_caller() -> None:
    for draw in (prior_panel, known_panel):
        with pytest.raises(TypeError):
            draw(3)


# -- comparison ------------------------------------------------------------------------------------

NAME = '<img src=x onerror=alert(1)> =HYPERLINK("x")'


def found() -> tn.evaluate.Comparison:
    before = pa.table({NAME: [NAME, "b", "b", NAME], "x": [1.5, 2, 3, 4]})
    after = pa.table({NAME: ["b", "b", NAME, NAME], "x": [2.5, 2, 3, 4]})
    return tn.compare(before, after, quasi_identifiers=[NAME], confidential=["x"])


def test_names_and_values_stay_text() -> None:
    page = document(found()).html()
    assert "<img" not in page
    assert page.count("&lt;img src=x onerror") > 3
    assert not re.search(r"<[^>]*\son[a-z]+=", page)
    assert "<img" not in plot(found()).svg()


def test_nothing_is_promised_and_all_is_for_the_holder() -> None:
    made = document(found())
    assert "What is promised" not in made.html()
    assert "certificate.json" not in made.html()
    assert made.for_holder
    assert "original" in compared(found()).subtitle


# -- law -------------------------------------------------------------------------------------------

LAWS: list[Any] = [
    tn.noise.Laplace(sensitivity=1, epsilon=1),
    tn.noise.Optimal(sensitivity=2, epsilon=1, minimise="variance"),
    tn.noise.HeavyTail(gamma=3, smooth_sensitivity=1, epsilon=1),
    tn.noise.DiscreteLaplace(sensitivity=1, epsilon=0.5),
    tn.noise.DiscreteLaplace(sensitivity=1, epsilon=0.01),
    tn.noise.Optimal(sensitivity=10, epsilon=1).on_grid(1),
]


def law_marks(panel: Panel, kind: type) -> list[Any]:
    return [mark for mark in panel.marks if isinstance(mark, kind)]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_a_law_is_drawn_with_its_interval(law: Any) -> None:
    (panel,) = picture_of(law).panels
    (band,) = law_marks(panel, Band)
    low, high = law.interval(Fraction(95, 100))
    assert band.low <= low
    assert band.high >= high
    assert panel.x.low is not None
    assert panel.x.low <= band.low


def test_heights_are_the_density() -> None:
    law = LAWS[1]
    (panel,) = picture_of(law).panels
    (curve,) = law_marks(panel, Curve)
    for x, height in curve.points[::50]:
        assert height == pytest.approx(law.pdf(x))


def test_few_masses_are_bars_and_many_a_line() -> None:
    (few,) = picture_of(LAWS[3]).panels
    (bars,) = law_marks(few, Bars)
    middle = len(bars.bars) // 2
    assert bars.bars[middle][2] == pytest.approx(LAWS[3].mass(0))
    assert bars.bars[middle + 1][2] == pytest.approx(LAWS[3].mass(1))
    (many,) = picture_of(LAWS[4]).panels
    assert not law_marks(many, Bars)
    assert law_marks(many, Curve)


def test_a_box_has_a_panel_for_each_answer() -> None:
    law = tn.noise.OptimalBox(sensitivities=[1, 10], epsilon=1)
    first, second = picture_of(law).panels
    assert (first.title, second.title) == ("answer 1", "answer 2")
    (curve,) = law_marks(second, Curve)
    places = np.array([x for x, _ in curve.points])
    heights = np.array([h for _, h in curve.points])
    assert float((heights * np.diff(places)[0]).sum()) == pytest.approx(1, abs=0.05)
    (one,) = (mark for mark in first.marks if isinstance(mark, Band))
    (other,) = (mark for mark in second.marks if isinstance(mark, Band))
    assert other.high == pytest.approx(10 * one.high)


def test_independent_answers_have_their_own_scales() -> None:
    panels = picture_of(tn.noise.IndependentLaplace(scales=[1, 5])).panels
    highs = [mark.high for panel in panels for mark in panel.marks if isinstance(mark, Band)]
    assert highs[1] == pytest.approx(5 * highs[0])


# -- question --------------------------------------------------------------------------------------

SCHEMA: dict[str, Any] = {
    "table": {"name": "people", "unit": "record", "neighbours": "replace", "rows": 200},
    "columns": {
        "age": {"type": "number", "bounds": [0, 100], "missing": 0},
        "town": {"type": "category", "categories": ["Bern", "Genf", "<b>"]},
    },
    "budget": {"total": 100, "individual": 10},
}
GROUPS = "SELECT town, COUNT(*) AS people, AVG(age) AS mean_age FROM people GROUP BY town"


@pytest.fixture(scope="module")
def data() -> Any:
    rows = {"age": [i % 90 for i in range(200)], "town": ["Bern", "Genf"] * 100}
    return tn.protect(pa.table(rows), schema=SCHEMA, ledger=tn.ledger.Memory())


def marks(picture: Any, kind: type) -> list[Any]:
    return [mark for panel in picture.panels for mark in panel.marks if isinstance(mark, kind)]


def test_groups_have_their_intervals(data: Any) -> None:
    answer = data.ask(GROUPS, epsilon=5)
    picture = picture_of(answer)
    assert [panel.title for panel in picture.panels] == ["people", "mean_age"]
    assert picture.panels[0].y.names == ("Bern", "Genf", "<b>")
    spans = {
        name: (low, high) for mark in marks(picture, Spans)[:1] for name, low, high in mark.spans
    }
    for row, ends in zip(answer.value, answer.interval(0.95), strict=True):
        assert spans[row["town"]] == ends["people"]
    assert "<b>" not in plot(answer).svg()


def test_where_no_interval_can_be_told_none_is_drawn(data: Any) -> None:
    """Selection has an interval in ranks only; individual DP has none of anything."""
    middle = data.ask("SELECT MEDIAN(age) FROM people", epsilon=1)
    own = data.ask("SELECT MAX(age) FROM people", epsilon=1, individual=True)
    for answer in (middle, own):
        picture = picture_of(answer)
        assert not marks(picture, Spans)
        assert marks(picture, Dots)
        assert "no interval" in picture.subtitle


def test_a_plan_shows_every_way_and_the_chosen_one(data: Any) -> None:
    plan = data.explain(
        "SELECT COUNT(*) AS n, SUM(age) AS total FROM people WHERE age > 3", epsilon=1
    )
    picture = picture_of(plan)
    chosen = [mark for mark in marks(picture, Lengths) if mark.tone == "deep"]
    assert len(chosen) == 2
    assert chosen[0].bars[0][0] == plan.chosen.mechanism
    shown = {name for mark in marks(picture, Lengths) for name, _ in mark.bars}
    assert shown == {one.mechanism for one in plan.candidates}


def test_what_is_told_with_the_answer_is_not_drawn_before(data: Any) -> None:
    plan = data.explain("SELECT MEDIAN(age) FROM people", epsilon=1)
    assert any("reported with the answer" in mark.text for mark in marks(picture_of(plan), Words))


def test_beliefs_before_and_after(data: Any) -> None:
    sql = "SELECT COUNT(*) FROM people WHERE age > 40"
    belief = tn.prior.Binomial(200, 0.5)
    plan = data.explain(sql, epsilon=0.1, prior=belief)
    assert "the prior alone" in picture_of(plan).panels[0].y.names
    picture = picture_of(data.ask(sql, epsilon=0.1, prior=belief))
    assert [panel.title for panel in picture.panels] == [
        "before: the prior",
        "after: the posterior",
    ]


def test_a_refined_answer_shows_the_prior_and_the_sample(data: Any) -> None:
    sql = "SELECT SUM(age) FROM people WHERE age > 40"
    answer = data.ask(sql, epsilon=0.001, prior=tn.prior.Uniform(0, 20_000))
    if answer.noisy is None:
        (rule, *_) = marks(picture_of(answer), Rule)
        assert rule.at == float(answer.sample)
    assert picture_of(answer).panels[0].title == "before: the prior"


def test_grouping_sets_have_all_their_rows_with_intervals(data: Any) -> None:
    """Mutant: totals without a name of their own."""
    answer = data.ask("SELECT town, COUNT(*) AS n FROM people GROUP BY ROLLUP (town)", epsilon=5)
    picture = picture_of(answer)
    (panel,) = picture.panels
    assert panel.y.names == ("Bern", "Genf", "<b>", "(all)")
    (spans,) = [{n: (l, h) for n, l, h in mark.spans} for mark in marks(picture, Spans)]
    for row, ends in zip(answer.value, answer.interval(0.95), strict=True):
        assert spans[row["town"] or "(all)"] == ends["n"]
    assert "<b>" not in plot(answer).svg()


LIMITED: dict[str, Any] = {
    "table": {"name": "t", "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 2},
    "columns": {
        "who": {"type": "identifier"},
        "g": {"type": "category", "categories": ["a", "b", "c"]},
        "x": {"type": "number", "bounds": [0, 1000]},
    },
    "budget": {"total": 1000},
}


def test_no_chart_loses_the_limits() -> None:
    """The mutant: the limits stand in the text alone, under a bar that is far from the truth."""
    table = pd.DataFrame({"who": ["p", "q"] * 50, "g": ["a", "b"] * 50, "x": 5})
    grouped = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
    with tn.protect(table, schema=LIMITED, ledger=tn.ledger.Memory()) as data:
        subjects = [
            data.explain(grouped, epsilon=1),
            data.ask(grouped, epsilon=1),
            data.ask("SELECT g, SUM(x) FROM t GROUP BY ROLLUP(g)", epsilon=1),
            data.explain("SELECT COUNT(*) FROM t", epsilon=1, prior=tn.prior.Binomial(200, 0.5)),
            data.ask("SELECT COUNT(*) FROM t", epsilon=1, prior=tn.prior.Binomial(200, 0.5)),
        ]
    for subject in subjects:
        chart = plot(subject)
        assert "at most 2 rows of each who count" in " ".join(chart.picture.notes).lower()
        lines = chart.specification()["title"]["subtitle"]
        assert "at most 2 rows of each who count" in " ".join(lines).lower()
        assert max(map(len, lines)) <= 110


def test_notes_are_drawn_and_read_aloud() -> None:
    drawn = plot(replace(PICTURE, notes=("Limits & such",))).svg()
    assert drawn.count("Limits &amp; such") == 2
    assert "by hand Limits" in drawn


def test_what_is_too_noisy_is_pale_and_says_so() -> None:
    table = pd.DataFrame({"who": [f"p{n}" for n in range(300)], "g": "a", "x": 5})
    asked = "SELECT g, COUNT(*) AS n, MEDIAN(x) AS q FROM t GROUP BY g ORDER BY q"
    with tn.protect(table, schema=LIMITED, ledger=tn.ledger.Memory()) as data:
        panel = picture_of(data.ask(asked, epsilon=200)).panels[1]
    written = [mark for mark in panel.marks if isinstance(mark, Words)]
    assert ["too noisy" in mark.text for mark in written] == [False, True, True]
    assert [mark.tone for mark in written] == ["ink", "quiet", "quiet"]
    dots = {mark.tone: len(mark.points) for mark in panel.marks if isinstance(mark, Dots)}
    assert dots == {"quiet": 2, "main": 1}
