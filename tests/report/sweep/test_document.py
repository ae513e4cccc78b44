"""The page of a sweep as text: nothing becomes markup, every number has its place."""

import re
from typing import Any

import pytest
from tests.report.hostile import PAYLOADS, Elements, charts_of, poisoned, words_of
from tests.sweep.made_up import curves_of, failure, finished, grid_of

from nbyt.report.pages.sweep import render_sweep
from nbyt.sweep.summary import summarise

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")
_CLEAN: list[Any] = []


def six(values: list[Any]) -> list[Any]:
    """Values as charts have them, with six digits."""
    return [None if one is None else float(f"{one:.6g}") for one in values]


def trace(chart: Data, name: str) -> Data:
    return next(one for one in chart["data"] if one.get("name") == name)


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_no_text_becomes_markup(small: Data, payload: str) -> None:
    if not _CLEAN:
        _CLEAN.append(Elements(render_sweep(small)).found)
    bad = poisoned(small, payload, set())
    bad["settings"] = {payload + name: one for name, one in bad["settings"].items()}
    html = render_sweep(bad)
    assert Elements(html).found == _CLEAN[0]
    html.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\u2066\u2028\u2029]", html)


def test_the_test_above_would_see_markup(data: Data) -> None:
    html = render_sweep(data)
    assert Elements(html.replace("FrozenLake", "<i>")).found != Elements(html).found
    shown = Elements(render_sweep(poisoned(data, "<script>", set()))).words
    assert sum("<script>" in word for word in shown) > 15


def test_charts_have_the_numbers(data: Data) -> None:
    charts = charts_of(render_sweep(data))
    known = [one for one in data["layouts"] if one["seeds"]["finished"]]
    assert len(known) == len(data["layouts"]) - 1
    for kind in ("per_sample", "per_second"):
        chart = charts[f"chart-steps-{kind}"][0]
        line = trace(chart, "IQM")
        assert line["x"] == [one["steps"] for one in known]
        assert line["y"] == six([one[kind]["over_training"]["value"] for one in known])
        dots = trace(chart, "a seed")
        assert dots["y"] == six([score for one in known for score in one[kind]["scores"]])
        assert trace(chart, "best")["x"] == [data["answer"][kind]["steps"]]
    assert trace(charts["chart-steps-per_sample"][0], "advised")["x"] == [4]
    advice = charts["chart-advice-per_sample"][0]
    foretold = data["advice"]["per_sample"]["foretold"]
    assert trace(advice, "8x8")["x"] == six([foretold[3]["value"]])
    assert "chart-advice-per_second" not in charts


def test_the_slider_brings_one_layout_forward(data: Data) -> None:
    frames = charts_of(render_sweep(data))["chart-curves-per_sample"]
    known = [one for one in data["layouts"] if one["seeds"]["finished"]]
    assert len(frames) == len(known)
    for frame, layout in zip(frames, known, strict=True):
        band, *_, last = frame["data"]
        curve = layout["per_sample"]["curve"]
        assert last["name"] == f"{layout['envs']}x{layout['steps']}"
        assert last["x"] == data["samples"]
        assert last["y"] == six([one["value"] for one in curve])
        assert band["y"][: len(curve)] == six([one["low"] for one in curve])


def test_all_are_held_against_the_best_first(data: Data) -> None:
    first = charts_of(render_sweep(data))["chart-wins"][0]
    place = next(k for k, one in enumerate(data["layouts"]) if one["steps"] == 8)
    for row, layout in enumerate(data["layouts"]):
        if layout["steps"] not in (8, 64):
            number = data["wins"]["per_sample"][row][place]
            point = trace(first, f"{layout['envs']}x{layout['steps']}")
            assert point["y"] == six([100 * number["value"]])
    assert len(first["data"]) == len(data["layouts"]) - 2


def test_failures_are_listed_with_their_reasons(data: Data) -> None:
    words = words_of(render_sweep(data))
    assert "10 of 56 trainings failed" in words
    assert "32x2, seeds 0, 1; 1x64, seeds 0, 1, 2, 3, 4, 5, 6, 7" in words
    assert "env 'x' raised ValueError" in words and "What to do: mend the env" in words
    assert "nothing finished" in words and "ValueError: own words" in words


def test_what_came_out_is_said(data: Data) -> None:
    words = words_of(render_sweep(data))
    for said in (
        "Best for the same samples",
        "16x4 loses",
        "Rank correlation of the two",
        "default of Stable-Baselines3",
        "nbyt sweep tabular:FrozenLake-v1 --batch 64",
        "stratified bootstrap",
    ):
        assert said in words
    assert "None" not in words and "nan" not in words.split()


def test_nothing_finished_has_a_page(data: Data) -> None:
    grid = grid_of(2, (4, 8))
    failures = {cell: failure() for cell in grid.cells}
    found = summarise(grid, {}, failures, costs=None, advice=None)
    html = render_sweep({**data, **found, "cells": {"done": 0, "failed": 4, "total": 4}})
    assert charts_of(html) == {}
    assert words_of(html).count("No training was finished") >= 4


@pytest.mark.parametrize(("seeds", "steps"), [(1, (4, 8)), (1, (8,)), (2, (4, 8, 16))])
def test_the_smallest_sweeps_have_a_page(seeds: int, steps: tuple[int, ...]) -> None:
    grid = grid_of(seeds, steps)
    html = render_sweep(finished(grid, curves_of(grid)))
    assert "nobody can say" in words_of(html)
    frames = charts_of(html)["chart-curves-per_second"]
    assert len(frames) == len(steps)


def test_links_lead_somewhere(data: Data) -> None:
    html = render_sweep(data)
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)
    assert set(charts_of(html)) <= set(ids)
