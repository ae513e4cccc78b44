"""What a sweep's folder holds: curves of its own points count, all others are trained again."""

from pathlib import Path

from tests.sweep.made_up import curves_of as made_up_curves
from tests.sweep.made_up import failure, grid_of

from nbyt.store.run import open_as
from nbyt.store.sweep import SweepFolder
from nbyt.sweep.run import curves_of, failures_of


def test_a_curve_with_other_points_or_wrong_keys_is_to_be_trained_again(tmp_path: Path) -> None:
    grid = grid_of(seeds=2, steps=(4, 8))
    folder = open_as(SweepFolder, tmp_path / "sweep", grid.identity())
    curves = made_up_curves(grid)
    for cell, curve in curves.items():
        folder.save_cell(cell.name, curve.as_dict())
    assert curves_of(grid, folder) == curves
    cut, wrong, failed, whole = grid.cells
    facts = curves[cut].as_dict()
    folder.save_cell(
        cut.name, {**facts, **{key: facts[key][:-1] for key in ("samples", "returns")}}
    )
    folder.save_cell(wrong.name, {**facts, "unfinished": "x"})
    (folder.path / f"cell-{failed.name}.json").unlink()
    folder.save_failure(failed.name, failure())
    assert curves_of(grid, folder) == {whole: curves[whole]}
    assert failures_of(grid, folder) == {failed: failure()}
