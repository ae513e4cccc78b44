"""Small races: planned, and with curves that are made up."""

import numpy as np

from nbyt.advice.costs import cost_source, known_costs, same_samples
from nbyt.advice.race import Evidence, Race
from nbyt.advice.request import make_advice_request
from nbyt.envs import resolve
from nbyt.stats.prior import Schedule, load_prior
from nbyt.training.curves import Curve
from nbyt.training.plan import PPOSettings

LAKE = resolve("tabular:FrozenLake-v1")
SETTINGS = PPOSettings(network="table", learning_rate=0.02)


def planned(objective: str = "time", **options) -> Race:
    """A small race of T = 4 and 16 with four seeds."""
    given = {"batch": 64, "total": 2560, "settings": SETTINGS, "steps": [4, 16], **options}
    request = make_advice_request(LAKE, objective=objective, costs="parallel:16", **given)
    costs = same_samples(request.steps)
    if objective == "time":
        costs = known_costs(cost_source("parallel:16"), request.steps, request.batch)
    known = load_prior().under(request.steps, costs.values, request.batch)
    return Race(request, costs, known, Schedule((4, 16), 4))


def made_up(race: Race, levels: dict[int, float]) -> Evidence:
    """Evidence of arms that rise at once to a level, some seeds higher than others."""
    generator = np.random.default_rng(0)
    evidence = Evidence(race, dict.fromkeys(race.seeds, 0.0))
    for cell in race.grid(race.seeds).cells:
        points = race.grid(race.seeds).points_of(cell)
        samples = tuple(race.request.batch * one for one in points)
        level = levels[cell.steps] + 0.1 * generator.normal()
        returns = level + 0.01 * generator.normal(size=len(points))
        evidence.curves[cell] = Curve(samples, tuple(map(float, returns)), 0)
    return evidence
