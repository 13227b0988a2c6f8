"""The section [protocol]: what it says and what is wrong with it; the hash is blind to it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.schema import Protocol, Schema
from unit.schema.wrong import AGE, TABLE, places


def stated(section: str) -> str:
    return f"{TABLE}{AGE}{section}"


@pytest.mark.parametrize(
    ("section", "protocol", "text"),
    [
        (
            '[protocol]\nkind = "fixed-noise"\nscale = 2.5\n',
            Protocol(kind="fixed-noise", scale=Fraction(5, 2)),
            "fixed-noise of scale 2.5",
        ),
        ('[protocol]\nkind = "refinement"\n', Protocol(kind="refinement"), "refinement"),
    ],
)
def test_a_protocol_is_read_and_shown(section: str, protocol: Protocol, text: str) -> None:
    schema = Schema.parse(stated(section))
    assert schema.protocol == protocol
    assert str(protocol) == text
    assert f"  protocol: {text}" in str(schema).splitlines()
    assert Schema.from_dict(schema.to_dict()).protocol == protocol
    without = Schema.parse(stated(""))
    assert without.protocol is None
    assert without.digest == schema.digest


@pytest.mark.parametrize(
    "section",
    [
        "[protocol]\n",
        '[protocol]\nkind = "fixed-noise"\n',
        '[protocol]\nkind = "fixed-noise"\nscale = 0\n',
        '[protocol]\nkind = "fixed-noise"\nscale = -1\n',
        '[protocol]\nkind = "fixed-noise"\nscale = "20"\n',
        '[protocol]\nkind = "fixed-noise"\nscale = 1e200\n',
        '[protocol]\nkind = "fixed_noise"\nscale = 20\n',
        '[protocol]\nkind = "refinement"\nscale = 20\n',
        '[protocol]\nkind = "refinement"\nlambda = 20\n',
        "protocol = 1\n",
    ],
)
def test_a_wrong_protocol_is_refused_with_its_place(section: str) -> None:
    text = section + stated("") if section.startswith("protocol") else stated(section)
    assert all(place[1].startswith("protocol") for place in places(text))
    assert places(text)
