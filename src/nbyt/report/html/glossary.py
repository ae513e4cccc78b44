"""The terms of the pages: one sentence each, shown where they are used and listed at the end."""

from nbyt.report.html.element import Markup, tag

TERMS = {
    "layout": (
        "layout",
        "How one update gets its samples: N envs side by side, T steps each; written N × T.",
    ),
    "envs": ("envs (N)", "The number of environments that run side by side."),
    "steps": (
        "steps (T)",
        "The steps that each env takes between two updates, and how far an advantage can look "
        "ahead before the critic stands in for the rest.",
    ),
    "batch": ("batch", "All samples of one update: N × T of them."),
    "alignment": (
        "alignment",
        "What is left of an ideal step: with an alignment of .67, of 100 ideal steps 67 are left. "
        "It is bias factor times noise factor, from −1 to 1; below 0 the gradient points the wrong "
        "way.",
    ),
    "bias_factor": (
        "bias factor",
        "How well the expected gradient points along the true one: their cosine times its size; "
        "1 is no loss of direction, below 0 points away.",
    ),
    "noise_factor": (
        "noise factor",
        "How much of a batch's gradient is signal: the square of its mean over its mean square, "
        "from 0 to 1.",
    ),
    "expected_loss": (
        "expected loss",
        "The share of the way from the untrained policy to the best layout that a layout is "
        "expected to miss: 0 % is as good as the best, 100 % learns nothing.",
    ),
    "within_5": (
        "within 5 %",
        "The probability that a layout loses at most 5 %; shown only where such numbers came "
        "true on the reference tasks.",
    ),
    "safe": (
        "safe",
        "A layout that loses at most 5 % with a probability of at least .9.",
    ),
    "race": (
        "race",
        "Short trainings of a few layouts with the same seeds; it decides which layout to use.",
    ),
    "quarter_training": (
        "quarter training",
        "A training that is stopped after a quarter of its budget.",
    ),
    "reference_task": (
        "reference task",
        "A task on which all layouts were trained beforehand; what happened there is what is "
        "known before a race.",
    ),
    "untrained": ("untrained", "The policy before its first update, and its mean return."),
    "stage": (
        "stage",
        "A policy and its critic, frozen at a moment of training; every number belongs to one.",
    ),
    "chain": (
        "chain",
        "One env's long stream of steps under a frozen policy; it is cut into rollouts of every "
        "T afterwards.",
    ),
    "pool": ("pool", "The many independent chains that a stage is measured on."),
    "individual": (
        "individual",
        "The part of the variance that single steps would have if they had nothing in common.",
    ),
    "covariance": (
        "covariance",
        "The part of the variance that comes from steps of one rollout being alike; it can be "
        "negative, and then lowers the variance.",
    ),
    "ess": (
        "ESS",
        "Effective sample size: how many independent steps would have the same noise, here as a "
        "share of the N × T steps of the batch.",
    ),
    "contribution": (
        "contribution",
        "What one step adds to the gradient: its advantage times the gradient of log π (actor) "
        "or of V (critic).",
    ),
    "actor": ("actor", "The policy, and the gradient that moves it."),
    "critic": ("critic", "The value function, and the gradient that moves it."),
    "lambda": (
        "lambda",
        "How far advantages trust what was seen over what the critic says: 0 looks one step "
        "ahead, 1 to the end of the rollout.",
    ),
    "gamma": ("gamma", "The discount: how much a reward one step later counts."),
    "explained_variance": (
        "explained variance",
        "How much of the scatter of the true returns the critic foresees; 1 is all of it.",
    ),
    "phase": (
        "phase",
        "Where in its episode an env is; if all envs start at a reset together, they share it, "
        "and more envs do not average that out.",
    ),
    "sampling": ("sampling", "Noise from which states and actions happened to be visited."),
    "own_step": ("own step", "Noise from the env's answer to the action itself."),
    "credit": ("credit", "Noise from later luck that is credited to earlier actions."),
    "coupling": ("coupling", "Noise from luck that also decides what is visited next."),
    "true_gradient": (
        "true gradient",
        "What the gradient would be with rollouts without end and no noise; all layouts are "
        "held against it.",
    ),
    "interval": (
        "interval",
        "The range in brackets that holds the true number 95 times in 100; ≈ marks one that "
        "holds it about so often. It ends where the possible ends, but the value may be beyond.",
    ),
    "undetermined": (
        "undetermined",
        "The data say nothing about this number: its interval would be all that is possible.",
    ),
    "default": (
        "library default",
        "The compared layout whose T is nearest to the one that the library takes by itself.",
    ),
}


def term(key: str, text: str | None = None) -> Markup:
    """Build a link to a term's definition, which is also shown on hover and focus."""
    return tag("a", text or TERMS[key][0], class_="term", href=f"#term-{key}", data_term=key)


def definitions() -> Markup:
    """List all terms in alphabetical order."""
    order = sorted(TERMS, key=lambda key: TERMS[key][0].lower())
    entries = [
        tag("div", tag("dt", TERMS[key][0]), tag("dd", TERMS[key][1]), id=f"term-{key}")
        for key in order
    ]
    return tag("dl", *entries, class_="glossary")
