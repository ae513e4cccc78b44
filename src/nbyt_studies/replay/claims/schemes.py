"""Claims on schemes: how libraries cut PPO's batches, and whether it matters."""

from nbyt.report.figures import bars, lines, row, series, slides
from nbyt.results.values import Data
from nbyt_studies.study import Claim, Results, always
from nbyt_studies.verdict import Check

_TOPIC = "PPO's mini-batches, library by library"
_NAMES = {
    "shuffle_and_chop": "shuffle and chop",
    "another shuffle": "another shuffle",
    "rsl_rl": "one shuffle an update (rsl_rl)",
    "random_fetch": "random fetch",
    "time_slabs": "a few steps of all envs",
    "whole_envs": "all steps of a few envs",
    "brax": "whole unrolls (Brax)",
    "dopamine": "blocks of time (Dopamine)",
    "rl_games": "slices of rollouts (rl_games)",
}
_TOGETHER = ("time_slabs", "whole_envs", "brax", "dopamine", "rl_games")
_ABOUT = 0.1
_CLIP_MARGIN = 0.02
_COSINE_MARGIN = 0.05
_MEASURED = (
    "PPO on FrozenLake 8x8 (table) and CartPole-v1 (64x64), frozen early and late; batches of "
    "16x128. "
)


def _rows(results: Results, part: str) -> list[tuple[dict[str, str], Data]]:
    return [
        (
            {
                "env": case["env"],
                "stage": case["stage"],
                "gradient": case["gradient"],
                "scheme": _NAMES[one["scheme"]],
                "mini-batch": str(one["minibatch"]),
            },
            one,
        )
        for case in results["schemes"]["cases"]
        if part in ("", case["gradient"])
        for one in case["rows"]
    ]


def _noise(results: Results) -> list[Check]:
    words = "Var(G_mb) / Var(G_mb) of shuffled mini-batches"
    return [
        Check(where, words, one["ratio"], low=1)
        for where, one in _rows(results, "")
        if one["scheme"] in _TOGETHER and not _same_as_another(results, one)
    ]


def _same_as_another(results: Results, one: Data) -> bool:
    within_rollouts = one["minibatch"] <= results["schemes"]["layout"]["steps"]
    return one["scheme"] == "rl_games" or (one["scheme"] == "brax" and within_rollouts)


def _formula(results: Results) -> list[Check]:
    words = "mean |G_mb - G_B|², measured over expected"
    return [
        Check(where, words, one["against_formula"], 1 - _ABOUT, 1 + _ABOUT)
        for where, one in _rows(results, "")
        if "against_formula" in one
    ]


def _ends(results: Results) -> list[Check]:
    asked = {
        "ratio": ("mean |ratio - 1|, over the shuffle's", 1 - _ABOUT, 1 + _ABOUT),
        "clip_fraction": ("clip fraction, less the shuffle's", -_CLIP_MARGIN, _CLIP_MARGIN),
        "cosine": ("cosine with G_B, less the shuffle's", -_COSINE_MARGIN, _COSINE_MARGIN),
    }
    checks = []
    for case in results["scheme-ends"]["cases"]:
        for scheme, own in case["ends"].items():
            if scheme in ("shuffle_and_chop", "another shuffle"):
                continue
            where = {"env": case["env"], "stage": case["stage"], "scheme": _NAMES[scheme]}
            for name, (words, low, high) in asked.items():
                checks.append(Check({**where, "what": name}, words, own[name], low, high))
    return checks


def _noise_figures(results: Results) -> list[Data]:
    title = "Var(G_mb) over a shuffle's"
    return [
        row(*(_bars(results, part, size, "ratio", title) for size in ("64", "256")))
        for part in ("actor", "critic")
    ]


def _formula_figures(results: Results) -> list[Data]:
    title = "measured over expected"
    charts = (_bars(results, part, "256", "against_formula", title) for part in ("actor", "critic"))
    return [row(*charts)]


def _bars(results: Results, part: str, size: str, key: str, y_title: str) -> Data:
    found = [(w, one) for w, one in _rows(results, part) if w["mini-batch"] == size]
    stages = list(dict.fromkeys(f"{w['env'].removesuffix('-v1')}, {w['stage']}" for w, _ in found))
    some = []
    for scheme, name in _NAMES.items():
        own = [one[key] for _, one in found if one["scheme"] == scheme and key in one]
        if own and (scheme, key) != ("shuffle_and_chop", "ratio"):
            some.append(series(name, range(len(own)), own))
    return bars(f"{part}, mini-batches of {size}", stages, y_title, some)


def _end_figures(results: Results) -> list[Data]:
    data = results["scheme-ends"]
    asked = {
        "ratio": "mean |ratio - 1|",
        "clip_fraction": "clip fraction",
        "cosine": "cosine with G_B",
    }
    frames = []
    for case in data["cases"]:
        charts = []
        for name, words in asked.items():
            # Batches differ far more than schemes: bands over batches would hide every line.
            some = [
                series(
                    _NAMES[scheme], data["looks"], [{"value": one["value"]} for one in own[name]]
                )
                for scheme, own in case["schemes"].items()
                if scheme != "another shuffle"
            ]
            title = f"{case['env']}, {case['stage']}: {words}"
            charts.append(lines(title, "epochs gone", words, some))
        frames.append([row(*charts)])
    stages = [f"{case['env'].removesuffix('-v1')}, {case['stage']}" for case in data["cases"]]
    return [slides("scheme-ends", "stage", stages, frames)]


_noise_notes = always(
    "Var(G_mb) is over independent batches and over the mini-batches of each.",
    "Schemes are named after the libraries whose rule they follow, at our sizes. With 16x128, "
    "mini-batches of 64 of Brax, Dopamine and rl_games are the same sets of samples, and those "
    "of 256 are pairs of whole envs: these three differ in which pairs, and in what an epoch "
    "repeats. A set of mini-batches that is another scheme's as well is asked about once.",
)


def _end_notes(results: Results) -> list[str]:
    again = [case["ends"]["another shuffle"] for case in results["scheme-ends"]["cases"]]
    wide = [abs(own["cosine"]["value"]) for own in again]
    return [
        "Updates of the actor alone, 10 epochs of 8 mini-batches of 256, from the same weights and "
        "optimiser; advantages are normalised in every mini-batch, as in training.",
        "Another shuffle, of another seed, is the yardstick: what differs as much as that, differs "
        f"by chance. Its cosine is up to {max(wide):.2f} from the first one's on average.",
        "The margins (10 % of |ratio - 1|, 0.02 of the clip fraction, 0.05 of the cosine) were set "
        "before anything was measured. The same distance need not be the same place: two updates "
        "that go equally far can end in different weights.",
    ]


CLAIMS = (
    Claim(
        id="scheme-noise",
        topic=_TOPIC,
        says="Schemes that keep neighbours together have noisier mini-batches than a shuffle.",
        measured=_MEASURED
        + "32 independent batches (quick: 12), cut into mini-batches of 64 and 256 by every "
        "scheme; actor and critic apart, at ratio 1.",
        asks="Var(G_mb) over that of shuffled mini-batches is above 1; interval over batches.",
        needs=("schemes",),
        checks=_noise,
        figures=_noise_figures,
        notes=_noise_notes,
    ),
    Claim(
        id="scheme-formula",
        topic=_TOPIC,
        says="Where a scheme draws samples or whole envs at random, the variance that it adds is "
        "what sampling theory says.",
        measured=_MEASURED
        + "The mean of |G_mb - G_B|² over 6 epochs (quick: 4) of each batch, against the formula "
        "with that batch's own spread of samples or of envs.",
        asks="Measured over expected is within 10 % of 1; interval over batches.",
        needs=("schemes",),
        checks=_formula,
        figures=_formula_figures,
    ),
    Claim(
        id="scheme-ends",
        topic=_TOPIC,
        says="Which scheme cuts the batch does not change where an update ends.",
        measured=_MEASURED
        + "16 batches (quick: 6), each updated by every scheme from the same weights.",
        asks="At the end of the update: mean |ratio - 1| within 10 % of the shuffle's, clip "
        "fraction within 0.02, cosine with G_B within 0.05; paired by batch.",
        needs=("scheme-ends",),
        checks=_ends,
        figures=_end_figures,
        notes=_end_notes,
    ),
)
