from __future__ import annotations

import itertools

import pytest

from tenue.report.theme import DARK, HEATS, LIGHT, SERIES, THEMES, config, heat


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_text_can_be_read_and_marks_can_be_seen(theme: str) -> None:
    colours = THEMES[theme]
    assert contrast(colours["ink"], colours["paper"]) > 12
    for name in ("quiet", "main", "other", "fourth", "sixth"):
        assert contrast(colours[name], colours["paper"]) >= 4.5 - 0.4, name
    for name in SERIES:
        assert contrast(colours[name], colours["paper"]) >= 3, name


def without_green(colour: str) -> tuple[float, float]:
    """Roughly what is left to people who do not tell red from green: lightness and blue-yellow."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    yellow = (red + 2 * green) / 3
    return 0.3 * red + 0.59 * green + 0.11 * blue, blue - yellow


@pytest.mark.parametrize("theme", THEMES)
def test_the_first_three_series_differ_without_red_and_green(theme: str) -> None:
    for one, other in itertools.combinations(SERIES[:3], 2):
        a, b = without_green(THEMES[theme][one]), without_green(THEMES[theme][other])
        assert abs(a[0] - b[0]) + abs(a[1] - b[1]) > 40, (one, other)


def test_every_colour_of_the_light_theme_is_its_own() -> None:
    """A page replaces each by a variable, so two alike could not be told apart."""
    assert len(set(LIGHT.values())) == len(LIGHT)
    assert set(LIGHT) == set(DARK)


def test_heat_runs_from_one_end_to_the_other() -> None:
    assert [heat(x) for x in (-2, -1, 0, 1, 2)] == ["heat-5", "heat-5", "heat0", "heat5", "heat5"]
    assert all(f"heat{step}" in LIGHT for step in range(-HEATS, HEATS + 1))


def test_the_look_says_no_more_than_it_must() -> None:
    assert config(LIGHT)["aria"] is False  # else every value would stand in an attribute
    assert config(DARK)["background"] == DARK["paper"]
