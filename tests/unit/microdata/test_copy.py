"""A release on the screen: what matters first, nothing of a row, everything escaped."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tenue as tn
from tenue.microdata.copy import Release, warnings_of
from unit.microdata.census import people, schema


@pytest.fixture(scope="module")
def swapped() -> Release:
    return tn.publish(people(), schema=schema(), method="swap", k=4)


@pytest.fixture(scope="module")
def averaged() -> Release:
    table = people(ill=["no"] * 50 + ["flu"] * 10)
    return tn.publish(table, schema=schema(), method="microaggregate", k=5)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_prompt_shows_a_few_lines(swapped: Release, averaged: Release) -> None:
    for release in (swapped, averaged):
        text = repr(release)
        assert text == str(release)
        assert text.startswith("Release: 60 rows, 6 columns")
        assert len(text.splitlines()) < 25
        assert max(map(len, text.splitlines())) <= 88
        assert "Unprotected" in text
        assert "It is not differential privacy." in flat(text)
        assert "person 1" not in text
    assert "k-anonymity (k = 5)" in repr(averaged)
    assert "k = 5; income l = " in flat(repr(averaged))
    assert "away a value that all members have" in flat(repr(averaged))


def test_a_swap_does_not_show_a_k_that_it_does_not_promise(swapped: Release) -> None:
    assert swapped.risk.check is not None
    assert swapped.risk.check.k == 1
    for text in (repr(swapped), swapped.report()):
        assert "k = 1" not in text
        assert "a swap leaves that as it is" in flat(text)
    assert "at most 1/4" in flat(swapped.report())


def test_the_report_has_every_limit_step_and_figure(swapped: Release, averaged: Release) -> None:
    for release in (swapped, averaged):
        text = flat(release.report())
        for limit in (*release.certificate.does_not_promise, *release.certificate.assumptions):
            assert flat(limit) in text
        for step in release.history:
            assert str(step) in text
        assert "for you alone" in text
        assert "Nothing protects `note`" in text
        assert "Compared with the rows as the schema reads them" in text
        assert max(map(len, release.report().splitlines())) <= 90
    assert "Everybody is among at least 5 rows" in flat(averaged.report())


def test_a_notebook_shows_a_table_in_which_all_is_escaped(averaged: Release) -> None:
    hostile = "<script>alert(1)</script>"
    certificate = replace(
        averaged.certificate,
        does_not_promise=(hostile,),
        parameters={"unprotected": hostile},
    )
    shown = replace(averaged, certificate=certificate)._repr_html_()
    assert hostile not in shown
    assert shown.count("&lt;script&gt;") == 2
    assert shown.startswith("<table")
    assert "k-anonymity (k = 5)" in shown


def test_a_swap_that_leaves_most_values_where_they_were_is_warned_of() -> None:
    """One in ten says yes: shuffled among five, four in five rows still tell the truth."""
    given = schema(ill=None, income=None).to_dict()
    given["columns"]["hiv"] = {"type": "boolean", "role": "confidential"}
    table = people(200).append_column("hiv", [[i % 10 == 0 for i in range(200)]])
    release = tn.publish(table, schema=tn.Schema.from_dict(given), method="swap", k=5)
    share = release.risk.own_values["hiv"]
    assert share > 0.6
    (warning,) = warnings_of(release)
    assert "`hiv`" in warning
    for text in (repr(release), release.report()):
        assert flat(warning) in flat(text)
        assert "WARNING (for you alone)" in text
    assert "own true value" not in release.certificate.to_json()  # the holder's fact, of rows
    sentence = release.certificate.promise.sentence()
    assert "came from that unit's record" in sentence
    assert "may be the same for all of its group" in sentence


def test_groups_are_not_warned_of_for_what_they_never_hide(averaged: Release) -> None:
    assert set(averaged.risk.own_values.values()) == {1.0}
    assert warnings_of(averaged) == []


def test_a_column_that_tells_everybody_apart_is_warned_of(averaged: Release) -> None:
    given = schema(note=None).to_dict()
    given["columns"]["no"] = {"type": "number", "bounds": [0, 99], "role": "other"}
    table = people().append_column("no", [list(range(60))])
    release = tn.publish(table, schema=tn.Schema.from_dict(given), method="microaggregate", k=5)
    (warning,) = warnings_of(release)
    assert warning.startswith("`no` has another value in every row")
    assert flat(warning) in flat(release.report())
    assert warnings_of(averaged) == []


def test_a_swap_explains_why_knowing_less_links_more(swapped: Release, averaged: Release) -> None:
    assert "leaves quasi-identifiers as they are, so" in flat(swapped.report())
    assert "leaves quasi-identifiers as they are, so" not in flat(averaged.report())
