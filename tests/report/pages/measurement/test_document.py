"""The page of a measurement: what it says first, and that it opens alone in a browser."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.golden.pinned import FOLDERS
from tests.report.browsing import Visit
from tests.report.hostile import charts_of, words_of

from nbyt.report.pages.measurement import measurement_chart, measurement_page
from nbyt.results.measurement import Measurement
from nbyt.results.values import Estimate
from nbyt.store.files import ADVICE


@pytest.fixture(scope="module")
def record() -> Measurement:
    """The measurement of a frozen policy, from a stored advice."""
    stage = ADVICE.read(FOLDERS / "advise" / "advice.json").stages[-1]
    names = Measurement.__struct_fields__
    return Measurement(**{name: getattr(stage, name) for name in names})


def with_alignment(record: Measurement, number: Estimate) -> Measurement:
    """The measurement with this alignment of the actor's gradient in every layout."""
    layouts = (
        structs.replace(one, actor=structs.replace(one.actor, alignment=number))
        for one in record.layouts
    )
    return structs.replace(record, layouts=tuple(layouts))


@pytest.mark.usefixtures("light")
def test_the_best_layout_of_each_gradient_comes_first(record: Measurement) -> None:
    number = Estimate(value=0.671, low=0.602, high=0.718)
    words = words_of(measurement_page(with_alignment(record, number)).html())
    answer, trade_off = words.index("For the actor"), words.index("The trade-off")
    assert answer < words.index("For the critic") < trade_off
    assert "of 100 ideal steps are left" in words[answer:trade_off]
    assert "67 [60, 72]" in words[answer:trade_off]


@pytest.mark.usefixtures("light")
def test_layouts_that_do_not_differ_have_no_best(record: Measurement) -> None:
    tied = {
        name: tuple(structs.replace(one, tied_with_best=True) for one in record.ranking.of(name))
        for name in ("actor", "critic", "total")
    }
    alike = structs.replace(record, ranking=type(record.ranking)(**tied))
    words = words_of(measurement_page(alike).html())
    assert words.count("no difference") == 2


@pytest.mark.usefixtures("light")
def test_several_lambdas_have_a_map_and_charts_show_the_first(record: Measurement) -> None:
    lower = tuple(structs.replace(one, lam=0.5) for one in record.layouts)
    ranks = {
        name: (*rows, *(structs.replace(one, lam=0.5) for one in rows))
        for name in ("actor", "critic", "total")
        if (rows := record.ranking.of(name))
    }
    both = structs.replace(
        record,
        layouts=(*record.layouts, *lower),
        lambdas=(record.lam, 0.5),
        ranking=type(record.ranking)(**ranks),
    )
    assert "T against lambda" in words_of(measurement_page(both).html())
    assert measurement_chart(both)["data"] == measurement_chart(record)["data"]
    assert "T against lambda" not in words_of(measurement_page(record).html())


def test_the_page_opens_without_asking_for_anything(
    record: Measurement, chromium: Any, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    measurement_page(record).write(path)
    visit = Visit(chromium, path, "chart-factors", color_scheme="dark")
    visit.all_drawn()
    assert visit.asked == [] and visit.complaints == []
    assert set(charts_of(path.read_text())) >= {"chart-factors", "chart-terms-actor"}
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 1280
    visit.context.close()
