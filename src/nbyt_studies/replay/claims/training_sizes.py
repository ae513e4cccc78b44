"""Claims on sizes of the mini-batch in whole trainings, and on optimisers."""

from nbyt.report import figures
from nbyt.results.values import Data
from nbyt_studies.numbers import mean_of, spread_of
from nbyt_studies.replay.claims.buffers import (
    TOPIC,
    Seeds,
    average,
    chance_mark,
    curves,
    each,
    less,
    listed,
)
from nbyt_studies.study import Claim, Results, always
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
    return [
        Check(
            {"optimiser": _NAMES[row["optimiser"]]},
            words,
            mean_of(_gain(data, row)).as_dict(),
            low=_LEARNT,
        )
        for row in data["rows"]
    ]


def _figures(results: Results) -> list[Data]:
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


def _ranked(data: Data) -> Data:
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


def _rates(data: Data) -> Data:
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


def _notes(results: Results) -> list[str]:
    ends = [
        _NAMES[row["optimiser"]]
        for row in results["optimisers"]["rows"]
        if row["learning_rate"] in (row["rates"][0], row["rates"][-1])
    ]
    found = [
        "That mini-batches are commonly used with these optimisers is no matter of measurement; "
        "that they learn with them is.",
        "The other settings were found with Adam.",
    ]
    if ends:
        found.append(
            f"The rate chosen is at an end of the grid for {', '.join(ends)}: one beyond it may "
            "do better."
        )
    return found


_NEEDS = "training-sizes"
_USUAL = range(32, 257)
_MEASURES = {"final_return": "final return", "on_the_way": "mean return on the way"}
# How much worse still counts as not worse: a twentieth of the 500 that can be had.
_ALLOWED = 25.0
_COMMON = "DQN with a 64x64 network, 24,000 steps of CartPole-v1, 8 seeds (quick: 3). "


def _by_budget(results: Results) -> dict[str, list[Data]]:
    rows = results[_NEEDS]["rows"]
    return {name: [r for r in rows if r["equal"] == name] for name in {r["equal"]: 0 for r in rows}}


def _balance(results: Results) -> list[Check]:
    found = []
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
                    found.append(Check(case, "difference of returns", number, low=-_ALLOWED))
    return found


def _panel(rows: list[Data], budget: str, name: str, marks: list[tuple[float, str]]) -> Data:
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


def _sizes(results: Results) -> list[Data]:
    marks = chance_mark(results[_NEEDS]["random_returns"])
    panels = [
        figures.row(
            *(_panel(rows, budget, name, marks) for budget, rows in _by_budget(results).items())
        )
        for name in _MEASURES
    ]
    head = [
        "equal",
        "mini-batch",
        "gradient steps at once",
        "steps before them",
        *_MEASURES.values(),
    ]
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
    table = figures.table("CartPole-v1, every size", [*head, "spread of final returns"], cells)
    return [*panels, table]


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
    ways = {
        f"all 2,048, rate {row['learning_rate']:g}, copies every {row['target_every']:,}": row[
            "seeds"
        ]
        for row in data["whole"]
    }
    return {"32, rate 0.002, copies every 400": data["part"], **ways}


def _whole(results: Results) -> list[Data]:
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


_size_notes = always(
    "All sizes have the same learning rate, .002, which was found with a mini-batch of 64. A "
    "rate of its own for every size may change the order.",
    "Equal compute means as many transitions differentiated, not as many seconds: a gradient "
    "step on few transitions costs more for each of them.",
    "At equal compute, larger mini-batches also make fewer gradient steps between two copies "
    "to the target network.",
)


_whole_notes = always(
    "Both make the same use of every transition, in 86 gradient steps with the whole buffer "
    "and in 5,489 with mini-batches. Copies to the target network every 400 steps come after "
    "one or two gradient steps with the whole buffer; runs with fewer copies were added when "
    "those had been seen to fail."
)


CLAIMS = (
    Claim(
        id="size-balance",
        topic=TOPIC,
        says="Mini-batches of 32 to 256 balance efficiency and stability.",
        measured=_COMMON + "Mini-batches of 1 to 1,024: one every 4 steps whatever its size (equal "
        "gradient steps), or 16 transitions differentiated for every step (equal compute). Return "
        "of the last policy in 64 whole episodes, and mean return of the episodes of training.",
        asks="The return with each size from 32 to 256 less that with each smaller or larger size, "
        "pairs with the same seed, is above -25: not worse by more than a twentieth of what can "
        "be had.",
        needs=(_NEEDS,),
        checks=_balance,
        figures=_sizes,
        notes=_size_notes,
    ),
    Claim(
        id="whole-buffer-slower",
        topic=TOPIC,
        says="Frequent updates from mini-batches learn faster than updates from all the data.",
        measured=_COMMON + "A buffer of the last 2,048 transitions: a gradient step on all of it "
        "every 256 steps, at two learning rates and with more or fewer copies to the target "
        "network, or on 32 of it every 4 steps: as many transitions differentiated.",
        asks="Final return and mean return on the way with mini-batches, less those with the whole "
        "buffer in each of these ways, are above 0; pairs with the same seed.",
        needs=(_NEEDS,),
        checks=_faster,
        figures=_whole,
        notes=_whole_notes,
    ),
    Claim(
        id="optimisers",
        topic=TOPIC,
        says="Mini-batch training goes with stochastic gradient descent or its variants.",
        measured="DQN with a 64x64 network, 24,000 steps of CartPole-v1, a random mini-batch of 64 "
        "every 4 steps, with SGD, RMSprop and Adam. Each has the best of four learning rates, "
        "chosen by the mean return on the way with seeds of their own (3; quick: 1), and is then "
        "run with 8 fresh seeds (quick: 3).",
        asks="Final return less that of random actions is above 50, a tenth of what can be had.",
        needs=("optimisers",),
        checks=_checks,
        figures=_figures,
        notes=_notes,
    ),
)
