"""What the named rules mean, in one sentence each."""

RAGGED = {
    "keep_short": "kept as a short last mini-batch",
    "extra_short": "made into one extra, tiny mini-batch",
    "drop": "dropped",
    "merge_last": "merged into the last mini-batch",
    "wrap": "filled up from the next pass, so that all mini-batches are full",
    "floor_count": "left to later draws: the number of mini-batches is rounded down",
    "even_split": "spread, so that sizes differ by at most one sample",
    "error": "refused: the batch must divide",
    "full_batch": "never there: each gradient step takes the whole batch",
    "unread": "not read in its code",
}

MIXING = {
    "shuffle": "samples of all envs and times are shuffled, then chopped",
    "shuffle_cyclic": "the first pass is in order, episode after episode; later ones are shuffled",
    "in_order": "never shuffled: mini-batches are pieces of episodes in order",
    "block_order": "contiguous blocks of time; only the order of the blocks is shuffled",
    "env_blocks": "fixed blocks of whole env rollouts, never shuffled",
    "slices": "fixed contiguous slices of rollouts, never shuffled",
    "unrolls": "whole unrolls are shuffled; the steps of one stay together",
    "prioritised": "whole fragments drawn by the size of their advantages; some repeat, some wait",
    "whole": "nothing to mix: the whole batch at once",
    "unread": "not read in its code",
}

NORMALISE = {
    "minibatch": "normalised over each mini-batch",
    "batch": "normalised over the whole batch",
    "process": "normalised over the batch of each process",
    "none": "not normalised",
    "either": "normalised over the batch or the mini-batch, as it is set up",
    "unread": "not read in its code",
}

TIME_LIMITS = {
    "bootstrap": "the critic's value stands for what would have followed",
    "terminal": "treated as a death: nothing follows",
    "unread": "not read in its code",
}

COLLECT = {
    "per_env": "steps are counted per env: more envs make a larger batch",
    "total_up": "the batch is set as a total: more envs make fewer steps each, rounded up",
    "total_down": "the batch is set as a total: more envs make fewer steps each, rounded down",
    "spread": "the batch is set as a total: more envs make fewer steps each",
    "fragments": "the batch does not depend on the envs: more envs make fewer steps each",
}

UPDATES = {
    "floor": "whole updates only",
    "ceil": "until the total is reached",
    "by_evaluation": "each stretch between evaluations is rounded up to whole updates",
    "unread": "until the total is reached, more or less: not read in its code",
}

# Settings that count processes, each of which takes its own share of a mini-batch.
PROCESSES = ("processes", "num_learners")

ONE_SAMPLE = {
    "nan": "its standard deviation, and so the loss, is NaN",
    "zero": "its normalised advantage is zero, so it teaches the policy nothing",
    "raw": "it is left as it is",
}

TOTAL = {
    "steps": "steps of all envs together",
    "steps_per_env": "steps of each env",
    "updates": "updates",
}


def sentence_of_mixing(mixing: str, *, reshuffle: bool) -> str:
    """How mini-batches are mixed, and whether the next epoch is mixed anew."""
    if mixing not in ("shuffle", "unrolls", "block_order"):
        return MIXING[mixing]
    again = "anew each epoch" if reshuffle else "once an update: all epochs see the same ones"
    return f"{MIXING[mixing]}; {again}"
