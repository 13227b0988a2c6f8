"""Classes of points that are drawn with exponentially falling weights, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...noise.enclosure import Enclosure, exp_minus
from ...noise.table import Table


def exponential_table(classes: Sequence[tuple[int, int]], fall: Fraction, points: int) -> Table:
    """Draws the number of a class with probability proportional to points·e^(−fall·score).

    classes: (score, points) by increasing score, `points` of them in all or fewer.
    """

    def cumulative(bits: int) -> list[Enclosure]:
        room = bits + points.bit_length() + len(classes).bit_length() + 8
        known: dict[int, Enclosure] = {}
        weight = Enclosure.of(1, room)
        sums: list[Enclosure] = []
        before = classes[0][0]
        for score, held in classes:
            step = score - before
            if step not in known:
                known[step] = exp_minus(fall * step, room)
            weight, before = weight * known[step], score
            part = weight.times(held)
            sums.append(sums[-1] + part if sums else part)
        shift = room - bits
        ratios = [part / sums[-1] for part in sums[:-1]]
        return [Enclosure(r.low >> shift, -(-r.high >> shift), bits) for r in ratios]

    return Table(cumulative)
