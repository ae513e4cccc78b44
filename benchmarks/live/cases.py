"""The problems and the layouts whose batches are measured, and the truth about them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nbyt.exact import Control, frozenlake, garnet, moments
from nbyt.layout import Layout

GRADIENTS = ("actor", "critic")
NO_MEAN = "the mean gradient is zero: no batch is large enough"
CONTROLS: dict[str, Callable[[], Control]] = {
    "garnet": lambda: garnet(6, 2, 0),
    "frozenlake-mid": lambda: frozenlake("mid"),
}
# From 8 envs on their streams are the units; fewer are cut into pieces.
LAYOUTS = tuple(
    Layout(envs, steps)
    for envs, steps in ((8, 64), (16, 32), (64, 8), (256, 2), (1, 2048), (4, 512))
)

Truth = float | str


@dataclass(frozen=True)
class Case:
    """Batches of one layout of one problem."""

    name: str
    control: Control
    layout: Layout

    @property
    def words(self) -> str:
        """The case in one word, as a role of random numbers and a line of progress have it."""
        return f"{self.name}.{self.layout.envs}x{self.layout.steps}"


def cases() -> list[Case]:
    """All of them; a problem is made once, for programs are compiled for its very stage."""
    made = {name: make() for name, make in CONTROLS.items()}
    return [Case(name, control, layout) for name, control in made.items() for layout in LAYOUTS]


def truths(case: Case) -> dict[tuple[str, str], Truth]:
    """The true value by gradient and field, or why there is none."""
    control, layout = case.control, case.layout
    exact = moments(
        control.env, control.stage, steps=layout.steps, gamma=control.gamma, lam=control.lam
    )
    found: dict[tuple[str, str], Truth] = {}
    for name in GRADIENTS:
        own = getattr(exact, name)
        noise = own.noise_factor(layout.envs) if np.linalg.norm(own.mean) > own.grain else 0.0
        fields = {
            "individual": own.individual / layout.envs,
            "covariance": own.covariance / layout.envs,
            "variance": own.variance / layout.envs,
            "ess_ratio": own.ess_ratio,
            "covariance_share": own.covariance / own.variance,
            "noise_factor": noise,
            "noise_scale": layout.batch * (1 / noise - 1) if noise else NO_MEAN,
        }
        found |= {(name, field): truth for field, truth in fields.items()}
    return found
