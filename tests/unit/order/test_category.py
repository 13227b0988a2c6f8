"""Categories on a line: no two closer than a score can tell, none further than along the line."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from tenue.order.category import CategoryLine, plain_line, taxonomy_line
from tenue.taxonomy import DISTANCE_STEPS, Taxonomy

JOBS = Taxonomy.from_nested({"any": {"desk": ["clerk", "judge"], "field": {"mine": ["miner"]}}})
SEVERAL = Taxonomy.from_edges(
    [("a", "top"), ("b", "top"), ("x", "a"), ("x", "b"), ("y", "b"), ("z", "top")],
    {"one": "x", "two": "y", "three": "z", "uno": "x"},
)
LINES = {
    "tree": taxonomy_line(JOBS),
    "several parents": taxonomy_line(SEVERAL),
    "flat": taxonomy_line(Taxonomy.flat(["m", "f", "d"])),
    "flat with blank": taxonomy_line(Taxonomy.flat(["m", "f", "d"]), blank=True),
    "tree with blank": taxonomy_line(JOBS, blank=True),
    "truth": plain_line(2),
    "truth with blank": plain_line(2, blank=True),
    "no metric": CategoryLine(np.array([[0, 9, 1], [9, 0, 1], [1, 1, 0]])),
}


@pytest.mark.parametrize("name", LINES)
def test_scores_move_no_more_than_the_line_says(name: str) -> None:
    line = LINES[name]
    size = line.distances.shape[1]
    for v, w in combinations(range(size), 2):
        moved = max(abs(int(row[v] - row[w])) for row in line.distances)
        assert line.metric[v, w] == line.metric[w, v] == moved
        assert moved <= abs(int(line.positions[v] - line.positions[w])) <= line.length


@pytest.mark.parametrize("name", LINES)
def test_neighbours_are_as_far_apart_as_scores_tell(name: str) -> None:
    line = LINES[name]
    steps = [int(line.metric[v, v + 1]) for v in range(line.distances.shape[1] - 1)]
    assert [b - a for a, b in pairwise(line.positions.tolist())] == steps
    assert line.length == sum(steps)


def test_plain_distances_would_be_too_short_for_a_table_that_is_no_metric() -> None:
    """Mutant: δ̃ itself instead of D. Replacing 1 by 2 moves the score of 0 by 8, not by 1."""
    line = LINES["no metric"]
    assert line.distances[1, 2] == 1
    assert line.metric[1, 2] == 8


def test_the_table_is_the_taxonomys() -> None:
    labels = JOBS.depth_first
    for i, one in enumerate(labels):
        for j, other in enumerate(labels):
            exact = JOBS.rational_distance(one, other) * DISTANCE_STEPS
            assert LINES["tree"].distances[i, j] == exact


def test_flat_categories_are_as_the_slow_table_has_them() -> None:
    flat = Taxonomy.from_edges([("a", "any"), ("b", "any")], {"x": "a", "y": "b", "z": "a"})
    table = taxonomy_line(flat).distances
    labels = flat.depth_first
    slow = [[flat.rational_distance(a, b) * DISTANCE_STEPS for b in labels] for a in labels]
    assert table.tolist() == slow


def test_a_blank_is_far_from_all() -> None:
    table = LINES["tree with blank"].distances
    assert set(table[-1, :-1]) == {table[:-1, :-1].max()}
    assert table[-1, -1] == 0
    alone = taxonomy_line(Taxonomy.flat(["only"]), blank=True)
    assert alone.length == 1


def test_one_category_has_a_line_of_no_length() -> None:
    assert taxonomy_line(Taxonomy.flat(["only"])).length == 0
