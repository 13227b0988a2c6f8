"""Parameters of statistics: what is lacking and what is too much is refused, without rows."""

from __future__ import annotations

import pytest

from tenue.errors import InvalidArgument
from tenue.sensitivity.parameters import STATISTICS, Parameters


@pytest.mark.parametrize("statistic", STATISTICS)
def test_each_statistic_takes_its_own_and_no_other(statistic: str) -> None:
    own = dict.fromkeys(STATISTICS[statistic], 1)
    bounds = None if statistic == "mode" else (0, 1)
    Parameters(**own).check(statistic, bounds)
    for extra in {"k", "q", "low", "high", "ridge", "categories"} - set(own):
        with pytest.raises(InvalidArgument, match=f"has no `{extra}`"):
            Parameters(**own, **{extra: 1}).check(statistic, bounds)
    for lacking in set(own) - {"ridge"}:
        with pytest.raises(InvalidArgument, match=f"needs `{lacking}`"):
            Parameters(**{n: v for n, v in own.items() if n != lacking}).check(statistic, bounds)
    with pytest.raises(InvalidArgument, match="bounds"):
        Parameters(**own).check(statistic, (0, 1) if bounds is None else None)


def test_what_is_not_given_is_not_stated() -> None:
    assert Parameters(k=0, low=1).stated() == {"k": 0, "low": 1}
    with pytest.raises(InvalidArgument, match="is not a statistic"):
        Parameters().check("medium", (0, 1))
