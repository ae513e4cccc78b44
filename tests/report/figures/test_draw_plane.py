"""Gradients in a plane."""

from nbyt.report.figures.draw_plane import views
from nbyt.results.measurement import Cloud


def test_clouds_of_very_different_size_have_scales_of_their_own() -> None:
    small, large = (
        Cloud(mean=(0.1, 0.0), covariance=((s, 0.0), (0.0, s)), points=((0.1, 0.0),))
        for s in (1e-6, 1.0)
    )
    assert len(set(views([small, large]))) == 2
    assert len(set(views([large, large]))) == 1
    assert [view.whole for view in views([small, large])] == [False, True]
