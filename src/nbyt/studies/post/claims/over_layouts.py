"""What the claims about layouts share: the stages measured, and charts over all layouts."""

from nbyt.report.study import figures
from nbyt.studies.study import Data, Results

GRADIENTS = ("actor", "critic")
MEASURED = (
    "FrozenLake8x8, CartPole, Pendulum and Breakout-MinAtar, a batch of 2,048 samples; stages of a "
    "training with 16x128; one pool of frozen-policy chains gives every layout from 1024x2 to "
    "2x1024."
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
) -> Data:
    """One chart for each env, its stages on a slider."""
    envs = list(dict.fromkeys(stage["env"] for stage in stages(results)))
    return figures.row(
        *(
            _by_stage(
                [stage for stage in stages(results) if stage["env"] == env],
                form,
                gradient,
                names,
                y_title,
                log=log,
            )
            for env in envs
        )
    )


def _by_stage(
    stages: list[Data], form: str, gradient: str, names: dict[str, str], y_title: str, *, log: bool
) -> Data:
    env = stages[0]["env"]
    frames = [
        [
            figures.lines(
                f"{env}, {gradient}",
                "layout N x T",
                y_title,
                [
                    _line(stage[form]["layouts"], gradient, name, words)
                    for name, words in names.items()
                ],
                log_x=True,
                log_y=log,
                ticks=_ticks(stage[form]["layouts"]),
            )
        ]
        for stage in stages
    ]
    words = [f"{stage['stage']}, update {stage['updates']}" for stage in stages]
    name = f"{env}-{form}-{gradient}-{'-'.join(names)}".replace("_", "-").lower()
    return figures.slides(name, "stage", words, frames)
