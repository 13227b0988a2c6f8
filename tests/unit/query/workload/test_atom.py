"""Atoms: no question tells their rows apart, and every two of them are told apart by one."""

from __future__ import annotations

import numpy as np

from tenue.query.workload.atom import Slice, atoms_of, with_outside
from tenue.query.workload.grid import grid_of
from unit.query.workload.small import asked, schema, thresholds
from unit.query.workload.test_grid import TEXTS


def test_atoms_are_the_classes_of_cells() -> None:
    questions = asked(*TEXTS[:4])
    grid = grid_of(questions, (), schema())
    assert grid is not None
    slices = [Slice(n, q.cells) for n, q in enumerate(questions)]
    found = atoms_of(grid, questions, slices)
    assert found is not None
    table = np.array([grid.members(q) for q in questions])
    signs = {tuple(column) for column in table.T if (column >= 0).any()}
    assert found.many == len(signs)
    for atom in range(-1, found.many):
        inside = {tuple(column) for column in table.T[found.labels == atom]}
        assert len(inside) == 1 or (atom == -1 and all(max(sign) < 0 for sign in inside))
    # a row of the answers holds just the atoms that are in its cell
    start = 0
    for number, question in enumerate(questions):
        for cell in range(question.cells):
            row = found.rows.row(start + cell)
            wanted = {int(a) for a in found.labels[table[number] == cell]}
            assert set(np.nonzero(row)[0]) == wanted
        start += question.cells


def test_many_ranges_are_atoms_in_a_row() -> None:
    texts = [
        f"SELECT COUNT(*) FROM t WHERE x BETWEEN {a} AND {b}"  # noqa: S608
        for a in range(30)
        for b in range(a, 30)
    ]
    questions = asked(*texts)
    grid = grid_of(questions, (), schema())
    assert grid is not None
    quick = atoms_of(grid, questions, [Slice(n, 1) for n in range(len(texts))])
    few = atoms_of(grid, questions[:150], [Slice(n, 1) for n in range(150)])
    assert quick is not None
    assert few is not None
    assert quick.line
    assert quick.many == 30
    assert (quick.rows.dense()[:150] == few.rows.dense()).all()


def test_what_no_question_is_about_is_in_no_atom() -> None:
    questions = asked(*thresholds(5))
    grid = grid_of(questions, (), schema())
    assert grid is not None
    found = atoms_of(grid, questions, [Slice(n, 1) for n in range(5)])
    assert found is not None
    assert found.many == 5
    assert found.labels.tolist() == [0, 1, 2, 3, 4, -1, -1]


def test_too_many_atoms_are_none() -> None:
    texts = [
        f"SELECT COUNT(*) FROM t WHERE x = {k} AND pay = {j}"  # noqa: S608
        for k in range(40)
        for j in range(50)
    ]
    texts += [f"SELECT COUNT(*) FROM t WHERE y = {k} AND pay < 9" for k in range(-3, 6)]  # noqa: S608
    texts += [f"SELECT COUNT(*) FROM t WHERE y > {k}" for k in range(-3, 6)]  # noqa: S608
    questions = asked(*texts)
    grid = grid_of(questions, (), schema())
    assert grid is not None
    assert atoms_of(grid, questions, [Slice(n, 1) for n in range(len(texts))]) is None


def test_the_outside_is_one_atom_more_if_rows_may_be_there() -> None:
    """Mutants: pieces where no row can be count as the outside; a shared condition does not."""

    def more(*texts: str) -> int:
        questions = asked(*texts)
        grid = grid_of(questions, (), schema())
        assert grid is not None
        found = atoms_of(grid, questions, [Slice(n, q.cells) for n, q in enumerate(questions)])
        assert found is not None
        outside = with_outside(found, grid)
        assert (outside.labels == found.labels).all()
        assert (outside.rows.dense()[:, : found.many] == found.rows.dense()).all()
        assert not outside.rows.dense()[:, found.many :].any()
        return outside.many - found.many

    every = "SELECT COUNT(*) FROM t WHERE x < 3", "SELECT COUNT(*) FROM t WHERE x >= 3"
    assert more(*every) == 0, "x is never missing"
    assert more("SELECT COUNT(*) FROM t WHERE y < 3", "SELECT COUNT(*) FROM t WHERE y >= 3") == 1
    assert more(*thresholds(5)) == 1
    shared = "SELECT BIN(x, {}), COUNT(*) FROM t WHERE c = 'a' GROUP BY 1"
    assert more(shared.format(4), shared.format(8)) == 1
