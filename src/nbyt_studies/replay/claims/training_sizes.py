"""Claims on sizes of the mini-batch in whole trainings, and on optimisers."""

from nbyt.report import figures
from nbyt.results.study import Figures, Lines, Table
from nbyt.results.values import Data
from nbyt_studies.numbers import mean_of, spread_of
from nbyt_studies.replay.claims.buffers import (
    Seeds,
    average,
    chance_mark,
    curves,
    each,
    less,
    listed,
)
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check, Number

_NAMES = {"sgd": "SGD", "rmsprop": "RMSprop", "adam": "Adam"}
# What counts as learning: a tenth of the 500 that can be had.
_LEARNT = 50.0


def _gain(data: Data, row: Data) -> list[float]:
    returns = zip(each(row["seeds"], "final_return"), data["random_returns"], strict=True)
    return [own - chance for own, chance in returns]


def _checks(results: Results) -> list[Check]:
    data = results["optimisers"]
    words = "final return less that of random actions"
    gains = {_NAMES[row["optimiser"]]: mean_of(_gain(data, row)) for row in data["rows"]}
    return [
        Check({"optimiser": name}, words, gain.as_dict(), low=_LEARNT)
        for name, gain in gains.items()
    ]


def _figures(results: Results) -> Figures:
    data = results["optimisers"]
    conditions = {
        f"{_NAMES[row['optimiser']]}, rate {row['learning_rate']:g}": row["seeds"]
        for row in data["rows"]
    }
    marks = chance_mark(data["random_returns"])
    words = "return of training's episodes"
    return [
        curves("CartPole-v1", words, conditions, "curve", data["every"], marks),
        _ranked(data),
        _rates(data),
    ]


def _ranked(data: Data) -> Table:
    ordered = sorted(data["rows"], key=lambda row: -sum(each(row["seeds"], "final_return")))
    rows = [
        [
            _NAMES[row["optimiser"]],
            average(row["seeds"], "final_return"),
            less(ordered[0]["seeds"], row["seeds"], "final_return") if row != ordered[0] else "",
            average(row["seeds"], "on_the_way"),
            listed(row["seeds"], "final_return"),
        ]
        for row in ordered
    ]
    head = ["optimiser", "final return", "behind the best", "mean return on the way"]
    return figures.table("CartPole-v1, on fresh seeds", [*head, "final return of each seed"], rows)


def _rates(data: Data) -> Table:
    rows = [
        [
            _NAMES[row["optimiser"]],
            ", ".join(
                f"{rate:g}: {value:.0f}"
                for rate, value in zip(row["rates"], row["tried"], strict=True)
            ),
            f"{row['learning_rate']:g}",
        ]
        for row in data["rows"]
    ]
    head = ["optimiser", "learning rate: mean return on the way", "chosen"]
    return figures.table(f"How rates were chosen, {data['choosing']} seeds each", head, rows)


def _values(results: Results) -> Data:
    ends = [
        _NAMES[row["optimiser"]]
        for row in results["optimisers"]["rows"]
        if row["learning_rate"] in (row["rates"][0], row["rates"][-1])
    ]
    words = "The rate chosen is at an end of the grid for {}: one beyond it may do better."
    return {"at_an_end": [words.format(", ".join(ends))] if ends else []}


_NEEDS = "training-sizes"
_USUAL = range(32, 257)
_MEASURES = {"final_return": "final return", "on_the_way": "mean return on the way"}
# How much worse still counts as not worse: a twentieth of the 500 that can be had.
_ALLOWED = 25.0


def _by_budget(results: Results) -> dict[str, list[Data]]:
    rows = results[_NEEDS]["rows"]
    return {name: [r for r in rows if r["equal"] == name] for name in {r["equal"]: 0 for r in rows}}


def _balance(results: Results) -> list[Check]:
    checks = []
    for budget, rows in _by_budget(results).items():
        usual = [row for row in rows if row["minibatch"] in _USUAL]
        unusual = [row for row in rows if row["minibatch"] not in _USUAL]
        for row in usual:
            for other in unusual:
                for name, words in _MEASURES.items():
                    case = {
                        "compared with": f"{other['minibatch']:,}",
                        "mini-batch": f"{row['minibatch']:,}",
                        "equal": budget,
                        "measure": words,
                    }
                    number = less(row["seeds"], other["seeds"], name)
                    checks.append(Check(case, "difference of returns", number, low=-_ALLOWED))
    return checks


def _panel(rows: list[Data], budget: str, name: str, marks: list[tuple[float, str]]) -> Lines:
    some = []
    for words, usual in (("32 to 256", True), ("smaller and larger", False)):
        own = [row for row in rows if (row["minibatch"] in _USUAL) == usual]
        numbers = [average(row["seeds"], name) for row in own]
        places = [row["minibatch"] for row in own]
        some.append(figures.series(words, places, numbers, line=False))
    ticks = [(row["minibatch"], f"{row['minibatch']:,}") for row in rows]
    title = f"CartPole-v1, equal {budget}"
    return figures.lines(
        title, "mini-batch", _MEASURES[name], some, log_x=True, ticks=ticks, marks=marks
    )


def _sizes(results: Results) -> Figures:
    marks = chance_mark(results[_NEEDS]["random_returns"])
    panels = [
        figures.row(
            *(_panel(rows, budget, name, marks) for budget, rows in _by_budget(results).items())
        )
        for name in _MEASURES
    ]
    head = ["equal", "mini-batch", "gradient steps at once", "steps before them"]
    head += [*_MEASURES.values(), "spread of final returns"]
    cells = [
        [
            row["equal"],
            f"{row['minibatch']:,}",
            f"{row['gradient_steps']}",
            f"{row['steps']}",
            *(average(row["seeds"], name) for name in _MEASURES),
            spread_of(each(row["seeds"], "final_return")).as_dict(),
        ]
        for row in results[_NEEDS]["rows"]
    ]
    return [*panels, figures.table("CartPole-v1, every size", head, cells)]


def _faster(results: Results) -> list[Check]:
    data = results[_NEEDS]
    return [
        Check(
            {
                "measure": words,
                "learning rate of the whole": f"{row['learning_rate']:g}",
                "steps between copies": f"{row['target_every']:,}",
            },
            f"{words}, mini-batches less whole buffer",
            less(data["part"], row["seeds"], name),
            low=0,
        )
        for row in data["whole"]
        for name, words in _MEASURES.items()
    ]


def _against_whole(results: Results) -> dict[str, Seeds]:
    data = results[_NEEDS]
    conditions = {"32, rate 0.002, copies every 400": data["part"]}
    for row in data["whole"]:
        way = f"rate {row['learning_rate']:g}, copies every {row['target_every']:,}"
        conditions[f"all 2,048, {way}"] = row["seeds"]
    return conditions


def _whole(results: Results) -> Figures:
    conditions = _against_whole(results)
    marks = chance_mark(results[_NEEDS]["random_returns"])
    title = "CartPole-v1, a buffer of the last 2,048 transitions"
    words = "return of training's episodes"
    rows: list[list[str | Number]] = [
        [name, *(average(seeds, key) for key in _MEASURES)] for name, seeds in conditions.items()
    ]
    return [
        curves(title, words, conditions, "curve", results[_NEEDS]["every"], marks),
        figures.table(title, ["transitions of a gradient step", *_MEASURES.values()], rows),
    ]


EVIDENCE = {
    "size-balance": Evidence(_balance, _sizes),
    "whole-buffer-slower": Evidence(_faster, _whole),
    "optimisers": Evidence(_checks, _figures, _values),
}
