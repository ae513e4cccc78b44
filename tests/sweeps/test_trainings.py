"""What a sweep's folder holds: curves of its own points count, all others are trained again."""

from dataclasses import replace
from pathlib import Path

from tests.sweeps.made_up import curves_of as made_up_curves
from tests.sweeps.made_up import failure, grid_of

from nbyt.store.files import CELL, FAILED
from nbyt.store.run import open_run
from nbyt.sweeps.trainings import curves_of, failures_of
from nbyt.training.curves import Curve


def test_parts_of_trainings_are_known_by_their_own_points(tmp_path: Path) -> None:
    """Layouts that stop after different updates have points of their own each."""
    grid = grid_of(seeds=1, steps=(4, 8))
    grid = replace(grid, lengths=((40, grid.points[4]), (20, grid.points[1])))
    folder = open_run(tmp_path / "advice", {"command": "advise"}, "advise")
    for cell in grid.cells:
        samples = tuple(point * grid.batch for point in grid.points_of(cell))
        folder.write(CELL, Curve(samples, (0.5,) * len(samples), 0).as_dict(), cell.name)
    first, second = (curve.samples for curve in curves_of(grid, folder).values())
    assert (len(first), len(second)) == (5, 2)
    longer = replace(grid, lengths=((40, grid.points[4]), (20, grid.points[2])))
    assert [cell.steps for cell in curves_of(longer, folder)] == [4]


def test_a_curve_with_other_points_or_wrong_keys_is_to_be_trained_again(tmp_path: Path) -> None:
    grid = grid_of(seeds=2, steps=(4, 8))
    folder = open_run(tmp_path / "sweep", grid.identity(), "sweep")
    curves = made_up_curves(grid)
    for cell, curve in curves.items():
        folder.write(CELL, curve.as_dict(), cell.name)
    assert curves_of(grid, folder) == curves
    cut, wrong, failed, whole = grid.cells
    facts = curves[cut].as_dict()
    folder.write(
        CELL, {**facts, **{key: facts[key][:-1] for key in ("samples", "returns")}}, cut.name
    )
    folder.write(CELL, {**facts, "unfinished": "x"}, wrong.name)
    (folder.path / f"cell-{failed.name}.json").unlink()
    folder.write(FAILED, failure(), failed.name)
    assert curves_of(grid, folder) == {whole: curves[whole]}
    assert failures_of(grid, folder) == {failed: failure()}
