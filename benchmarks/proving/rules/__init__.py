"""Every way of choosing a layout by its name; a new one is one file and one line."""

from benchmarks.proving.replay import Learn
from benchmarks.proving.rules.constant import constant, library, smoothed_constant
from benchmarks.proving.rules.optuna_search import searching
from benchmarks.proving.rules.race import (
    argmax_race,
    own_returns_race,
    posterior_race,
    smoothed_race,
)
from benchmarks.proving.rules.recorded import recorded
from benchmarks.proving.rules.searches import (
    argmax_of_grid,
    hyperband,
    portfolio,
    random_layouts,
    smoothed_grid,
    successive_halving,
)

# Free ones are asked once, without a budget.
FREE: dict[str, Learn] = {
    "constant": constant,
    "constant, smoothed": smoothed_constant,
    "SB3's T = 2048": library(2048),
    "CleanRL's T = 128": library(128),
    "rsl_rl's T = 24": library(24),
}
PAID: dict[str, Learn] = {
    "race": smoothed_race,
    "race, argmax": argmax_race,
    "race, least expected loss": posterior_race,
    "race, own returns": own_returns_race,
    "random, best of k": random_layouts,
    "grid, argmax": argmax_of_grid,
    "grid, smoothed": smoothed_grid,
    "successive halving": successive_halving,
    "Hyperband": hyperband,
    "portfolio": portfolio,
}
# Asked once, before the trainings, at a cost of their own.
RECORDED: dict[str, Learn] = {"gradient at frozen stages": recorded}
# Ways of the race that are compared with it replay by replay.
PAIRED = ("race, argmax", "race, least expected loss", "race, own returns")
# These take up to seconds a replay: with fewer replays, and about one batch size only.
SLOW: dict[str, tuple[Learn, int]] = {
    "Optuna TPE, median pruner": (searching("TPE", "median"), 50),
    "Optuna TPE, Hyperband pruner": (searching("TPE", "Hyperband"), 50),
    "Optuna GP, median pruner": (searching("GP", "median"), 10),
}
