"""What the claims about layouts share: the stages measured, and charts over all layouts."""

from nbyt.report.study import figures
from nbyt.results.values import Data
from nbyt.studies.study import Results

GRADIENTS = ("actor", "critic")
MEASURED = (
    "FrozenLake8x8, CartPole, Pendulum and (in the whole study) Breakout-MinAtar, a batch of 2,048 "
    "samples; stages of a training with 16x128; one pool of frozen-policy chains gives every "
    "layout from 1024x2 to 2x1024."
)


def stages(results: Results) -> list[Data]:
    """Every stage of every task."""
    return results["layouts"]["stages"]


def _line(layouts: list[Data], gradient: str, name: str, words: str) -> Data:
    steps = [one["steps"] for one in layouts]
    return figures.series(words, steps, [one[gradient][name] for one in layouts])


def _ticks(layouts: list[Data]) -> list[tuple[float, str]]:
    return [(one["steps"], f"{one['envs']}x{one['steps']}") for one in layouts]


def over_layouts(
    results: Results, form: str, gradient: str, names: dict[str, str], y_title: str, *, log: bool
) -> list[Data]:
    """A chart for each env with the stage on a slider, and those of envs with one stage alone."""

    def chart(stage: Data) -> Data:
        layouts = stage[form]["layouts"]
        return figures.lines(
            f"{stage['env']}, {gradient}",
            "layout N x T",
            y_title,
            [_line(layouts, gradient, name, words) for name, words in names.items()],
            log_x=True,
            log_y=log,
            ticks=_ticks(layouts),
        )

    found = stages(results)
    envs = [stage["env"] for stage in found]
    single = [chart(stage) for stage in found if envs.count(stage["env"]) == 1]
    words = list(dict.fromkeys(one["stage"] for one in found if envs.count(one["env"]) > 1))
    several = [one for one in found if envs.count(one["env"]) > 1]
    frames = [
        [figures.row(*(chart(one) for one in several if one["stage"] == word))] for word in words
    ]
    name = f"{form}-{gradient}-{'-'.join(names)}".replace("_", "-")
    slides = [figures.slides(name, "stage", words, frames, start=len(words) // 2)] if words else []
    return [*slides, figures.row(*single)] if single else slides
