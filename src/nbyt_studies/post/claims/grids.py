"""Claims that the grids on FrozenLake show: who agrees with whom, and why."""

from nbyt.results.values import Data
from nbyt_studies.post.claims import grid_figures as figures
from nbyt_studies.study import Claim, Results
from nbyt_studies.verdict import Check

TOPIC = "Batch against batch"
EXPERIMENT = "grids"
# About 0: what a correlation of .02, the published band at lag 1, would still be called.
NEARLY_ZERO = 0.02
# Steps that correlate by .02 have a cosine of .1 with the mean of 100 others:
# 100 x .02 / sqrt(100 + 100 x 99 x .02) = .12.
WEAK = 0.1

_MEASURED = (
    "FrozenLake 8x8, slippery, a table policy trained for 1,500 updates with 4x32 and another with "
    "32x4 (gamma .99, lambda .95, step size .003). At every 100th update 64 fresh, independent "
    "batches of 128 samples of the frozen policy, from random phases of an episode; five of them "
    "are drawn. Contributions are the advantages as they are times the scores."
)


def _agreement_checks(results: Results) -> list[Check]:
    data = results[EXPERIMENT]
    few, many = data["layouts"]
    found = [
        Check(
            {"policy trained with": own, "number": "measured, mean over the updates"},
            f"mean cosine between batch means, {many} less {few}",
            training["gain"],
            low=0.0,
        )
        for own, training in data["trainings"].items()
    ]
    return found + [
        Check(
            {"policy trained with": own, "number": f"exact, update {update}"},
            f"cosine to expect of two batches, {many} less {few}",
            {"value": gain, "low": gain, "high": gain},
            low=0.0,
        )
        for own, update, gain in _exact_gains(data)
    ]


def _exact_gains(data: Data) -> list[tuple[str, int, float]]:
    """For each policy that the oracle knows: the many envs' cosine to expect less the few's."""
    few, many = data["layouts"]
    known = {
        (one["trained"], one["update"], one["layout"]): one["expected"] for one in data["exact"]
    }
    places = [(own, update) for own, update, layout in known if layout == few]
    return [
        (own, update, known[own, update, many] - known[own, update, few]) for own, update in places
    ]


def _agreement_notes(results: Results) -> list[str]:
    data = results[EXPERIMENT]
    most = max(one["expected"] for one in data["exact"])
    least = min(one["mean_square"] / one["variance"] for one in data["exact"])
    shares = [abs(one["covariance_share"]) for one in data["exact"]]
    return [
        "A cosine shows direction only; it discards length. Two independent batch gradients with "
        "mean E G and variance V have a cosine of about |E G|² / (|E G|² + V): it tells how noise "
        "compares with the mean, not how large either is, and two long gradients that agree look "
        "the same as two short ones. The table has the variance that each cosine stands for.",
        f"At 128 samples hardly anything is shared: no exact value is above {most:.3f}, and the "
        f"squared mean is as little as {least:.4f} of the variance. One grid of five batches "
        "cannot show which layout agrees better.",
        "Why 4x32 agrees less is not seen in a grid: the covariance between steps makes up at most "
        f"{100 * max(shares):.1f} % of the variance in any exact case. It is the single "
        "contributions that are noisier where a longer rollout lets advantages look further.",
        _left_out(data),
        "A first run had been looked at when it was decided to take all updates together: a single "
        "update's 64 batches mostly leave the sign of the difference open.",
    ]


def _left_out(data: Data) -> str:
    words = []
    for own, training in data["trainings"].items():
        counts = {one["update"]: one["grid"]["left_out"] for one in training["stages"]}
        some = [f"{count} at update {update}" for update, count in counts.items() if count]
        words.append(f"{own}: {', '.join(some) or 'none'}")
    return (
        "Samples of batch 0 whose contribution is 0 have no direction and are left out of the "
        f"points ({'; '.join(words)}): until the goal is met first, a critic of 0 and rewards of 0 "
        "give no advantage at all."
    )


def _lean_checks(results: Results) -> list[Check]:
    return _by_stage(results, "own_less_other", "its own batch's mean less another's", low=0.0)


def _share_checks(results: Results) -> list[Check]:
    return _by_stage(
        results,
        "without_step_less_other",
        "the mean of the rest of its batch less another batch's mean",
        low=-NEARLY_ZERO,
        high=NEARLY_ZERO,
    )


def _by_stage(results: Results, key: str, words: str, **bounds: float) -> list[Check]:
    data = results[EXPERIMENT]
    return [
        Check(
            {"layout": own, "update": str(one["update"])},
            f"cosine of a sample with {words}",
            one["leanings"][key],
            **bounds,
        )
        for own, training in data["trainings"].items()
        for one in training["stages"]
    ]


def _share_notes(results: Results) -> list[str]:
    return [
        "The first picture of each row of the grid holds batch 0 against itself. It is not like "
        "the other four: every sample is in that mean with a share of 1/128. Among 128 "
        "contributions of equal length that point anywhere, this alone gives a cosine of about "
        "1/√128 = .09. Two batches make one replicate here, so that replicates share nothing.",
    ]


def _bound_notes(results: Results) -> list[str]:
    return [
        "The bound is the published band of lag correlations. A first run had been looked at when "
        "it was taken over for this claim."
    ]


def _episode_checks(results: Results) -> list[Check]:
    data = results[EXPERIMENT]
    return [
        Check(
            {"policy trained with": own, "update": str(one["update"])},
            "cosine of a step with the mean of its episode's other steps",
            one["episode"]["mean_without"],
            low=WEAK,
        )
        for own, training in data["trainings"].items()
        for one in training["stages"]
    ]


def _episode_notes(results: Results) -> list[str]:
    data = results[EXPERIMENT]
    stages = [
        one["episode"] for training in data["trainings"].values() for one in training["stages"]
    ]
    left, steps = (sum(one[key] for one in stages) for key in ("left_out", "steps"))
    return [
        "With the step itself in the mean, the cosine falls with the length of the episode, as one "
        "share among more and more does; that line says nothing about what steps have in common.",
        f"{left} of {steps} steps have a contribution of 0 and are left out.",
        "A first run had been looked at when the bound of .1 was set.",
    ]


CLAIMS = (
    Claim(
        id="grids-more-envs-agree",
        topic=TOPIC,
        says=(
            "Batches from many envs with few steps each agree better on a direction than batches "
            "of the same size from few envs with many steps."
        ),
        measured=_MEASURED
        + " Both layouts are measured at every policy. The exact oracle gives |E G|² / (|E G|² + V)"
        " at three updates, time limit included.",
        asks=(
            "The mean cosine between different batches' means at 32x4 less that at 4x32, at one "
            "policy, is above 0: measured over all updates, and exact at some."
        ),
        needs=(EXPERIMENT,),
        checks=_agreement_checks,
        figures=lambda results: figures.agreement(results[EXPERIMENT]),
        notes=_agreement_notes,
    ),
    Claim(
        id="grids-own-batch",
        topic=TOPIC,
        says="A batch's samples lean towards their own batch's mean more than towards another's.",
        measured=_MEASURED,
        asks=(
            "A sample's cosine with the mean of its own batch less that with another batch's mean, "
            "averaged over samples, is above 0 at every update."
        ),
        needs=(EXPERIMENT,),
        checks=_lean_checks,
        figures=lambda results: figures.leanings(results[EXPERIMENT]),
        notes=_share_notes,
    ),
    Claim(
        id="grids-own-share",
        topic=TOPIC,
        says=(
            "That lean is a sample's own share in the mean: to the rest of its batch a sample is "
            "no nearer than to another batch, although the rest holds steps of the same rollout."
        ),
        measured=_MEASURED,
        asks=(
            "The same difference with the sample taken out of its batch's mean is between -.02 and "
            ".02 at every update."
        ),
        needs=(EXPERIMENT,),
        checks=_share_checks,
        figures=lambda results: figures.shares(results[EXPERIMENT]),
        notes=_bound_notes,
    ),
    Claim(
        id="grids-along-an-episode",
        topic=TOPIC,
        says="All along an episode, steps point the way that their episode points as a whole.",
        measured=(
            "128 whole episodes of each of those policies, from the start; each step against the "
            "mean of its own episode, with and without itself. The unit is the episode."
        ),
        asks=(
            "A step's cosine with the mean of its episode's other steps is at least .1, which the "
            "steps of a 100-step episode reach if any two of them correlate by .02."
        ),
        needs=(EXPERIMENT,),
        checks=_episode_checks,
        figures=lambda results: [figures.episodes(results[EXPERIMENT])],
        notes=_episode_notes,
    ),
)
