"""A sweep's table and its command line say what was trained."""

import csv
import io
from dataclasses import replace

from tests.sweeps.made_up import curves_of, failure, grid_of

from nbyt.sweeps.run import command_line, table_text
from nbyt.training.plan import PPOSettings


def test_every_cell_has_a_line_of_the_table_whatever_became_of_it() -> None:
    grid = grid_of(seeds=2, steps=(4, 8))
    curves = curves_of(grid)
    failed, missing, *done = grid.cells
    text = table_text(grid, {cell: curves[cell] for cell in done}, {failed: failure()})
    head, *rows = csv.reader(io.StringIO(text))
    assert [tuple(map(int, row[:3])) for row in rows] == [tuple(cell) for cell in grid.cells]
    assert [row[3] for row in rows] == ["failed", "missing", *["done"] * len(done)]
    assert all(len(row) == len(head) for row in rows)
    last = dict(zip(head, rows[-1], strict=True))
    curve = curves[grid.cells[-1]]
    assert float(last["final"]) == curve.returns[-1]
    assert float(last[f"return_at_{curve.samples[0]}"]) == curve.returns[0]
    assert rows[grid.cells.index(missing)][4:] == [""] * (len(head) - 4)


def test_the_command_names_what_is_not_the_default() -> None:
    grid = grid_of(seeds=3, steps=(4, 8))
    plain = command_line(grid)
    assert "--layouts 16x4,8x8" in plain and "--seeds 3" in plain and "--gamma" not in plain
    changed = command_line(replace(grid, settings=PPOSettings(gamma=0.9)), advice=False)
    assert changed == f"{plain} --gamma 0.9 --no-advice"
