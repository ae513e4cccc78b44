"""The findings on top of the page: numbers of the claims they rest on, and a picture each."""

from functools import partial

from nbyt_studies.highlights import bars_of, figure_of, some_checks, words_of
from nbyt_studies.replay.claims.correlation import EVIDENCE as CORRELATION
from nbyt_studies.replay.claims.schemes import EVIDENCE as SCHEMES
from nbyt_studies.replay.claims.stability import EVIDENCE as STABILITY
from nbyt_studies.replay.claims.training_sizes import EVIDENCE as SIZES
from nbyt_studies.replay.claims.unseen import EVIDENCE as UNSEEN
from nbyt_studies.study import Picture

_NOISE = {
    "256_transitions": some_checks(CORRELATION, "replay-decorrelates", **{"mini-batch": "256"}),
    "32_transitions": some_checks(CORRELATION, "replay-decorrelates", **{"mini-batch": "32"}),
}
_BETTER = partial(some_checks, STABILITY, "training-policy")
_LEVEL = partial(some_checks, UNSEEN, "unseen-level")
_SCHEME = partial(some_checks, SCHEMES, "scheme-noise", **{"mini-batch": "256"})
_STEPS, _COMPUTE = (
    some_checks(SIZES, "size-balance", equal=equal, compared_with="1,024")
    for equal in ("gradient steps", "compute")
)

PICTURES: dict[str, Picture] = {
    "noise": (
        words_of(large=_NOISE["256_transitions"], small=_NOISE["32_transitions"]),
        bars_of(
            "Noise of neighbours in time over that of random draws",
            "ratio of variances",
            ("env", "moment"),
            **_NOISE,
        ),
    ),
    "replay": (
        words_of(
            newest=_BETTER(instead_of_random_draws="no replay, the newest"),
            neighbours=_BETTER(instead_of_random_draws="neighbours in time"),
        ),
        figure_of(STABILITY, "training-policy"),
    ),
    "unseen": (
        words_of(
            poles=_LEVEL(env="CartPole-v1", compared_with="newest"),
            alike=_LEVEL(env="CartPole-v1", compared_with="sequential"),
            few=_LEVEL(env="Lakes, 200 maps", compared_with="sequential"),
            many=_LEVEL(env="Lakes, 2,000 maps", compared_with="sequential"),
        ),
        figure_of(UNSEEN, "unseen-level"),
    ),
    "sizes": (
        words_of(
            whole=some_checks(SIZES, "whole-buffer-slower", measure="final return"),
            steps=_STEPS,
            compute=_COMPUTE,
        ),
        figure_of(SIZES, "whole-buffer-slower"),
    ),
    "schemes": (
        words_of(critic=_SCHEME(gradient="critic"), actor=_SCHEME(gradient="actor")),
        bars_of(
            "Noise of mini-batches of 256 over that of shuffled ones, late in training",
            "ratio of variances",
            ("env", "scheme"),
            critic=_SCHEME(gradient="critic", stage="late"),
            actor=_SCHEME(gradient="actor", stage="late"),
        ),
    ),
}
