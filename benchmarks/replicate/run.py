"""Six central measurements on CartPole, by brute force over gradients that are written out.

Run: python -m benchmarks.replicate.run (some ten minutes on two cores)
"""

import json
from pathlib import Path
from typing import Any

import torch

from benchmarks.replicate.cartpole import (
    GAMMA,
    LAM,
    Envs,
    Rollout,
    collect,
    fallen,
    moved,
    scores,
    train,
)

RESULT = Path(__file__).with_name("result.json")
SEEDS = (11, 12, 13, 14, 15)
STAGES = {"early": 4, "middle": 12}
CHAINS, LONG, SHORT, BATCH = 128, 512, 8, 2048
_WARM_UP, _TAIL, _BLOCK = 200, 256, 16


def main() -> None:
    """Measure every stage of every training, and write the numbers."""
    rows = []
    for seed in SEEDS:
        for stage, updates in STAGES.items():
            rows.append({"seed": seed, "stage": stage, **measured(seed, updates)})
            print(json.dumps(rows[-1]), flush=True)
    RESULT.write_text(json.dumps({"env": "CartPole", "rows": rows}, indent=1) + "\n")


def measured(seed: int, updates: int) -> dict[str, float]:
    """Return the six numbers of one frozen policy, and its mean episode."""
    actor, critic = train(seed, updates)
    envs = Envs(CHAINS, torch.Generator().manual_seed(1000 + seed))
    collect(envs, actor, critic, _WARM_UP)
    long = collect(envs, actor, critic, LONG + _TAIL)
    some = Rollout(
        *(x[:LONG] for x in (long.state, long.action, long.value, long.following, long.over))
    )
    state, action = some.state.reshape(-1, 4), some.action.reshape(-1)
    lengths = {steps: some.advantages(LAM, steps) for steps in (SHORT, LONG)}
    normal = {steps: (x - x.mean()) / x.std() for steps, x in lengths.items()}
    true = long.advantages(1.0)[:LONG]
    of_value = _shaped(scores(critic, state, None))
    share_of_critic = _terms(of_value * lengths[LONG][..., None], LONG)[1]
    del of_value
    of_policy = _shaped(scores(actor, state, action))
    variance, share = _terms(of_policy * normal[LONG][..., None], LONG)
    short_variance, _ = _terms(of_policy * normal[SHORT][..., None], SHORT)
    cosines = _cosines(of_policy, lengths, true)
    return {
        "episode": float(LONG * CHAINS / max(1, int(some.over.sum()))),
        "critic_covariance_share": share_of_critic,
        "actor_covariance_share": share,
        "variance_ratio": short_variance / variance,
        **cosines,
        "minibatch_over_formula": _minibatches(of_policy, normal[LONG], seed),
        **_qualities(actor, critic, envs),
    }


def _shaped(rows: torch.Tensor) -> torch.Tensor:
    return rows.reshape(LONG, CHAINS, -1)


def _terms(contributions: torch.Tensor, steps: int) -> tuple[float, float]:
    """Return Var(G) of a batch of 2,048 samples in rollouts of T steps, and covariance's share.

    Chains are independent; fragments of one are looked at one by one.
    """
    fragments = contributions.reshape(-1, steps, CHAINS, contributions.shape[-1])
    whole = float(fragments.mean(1).var(1).sum(-1).mean())
    own = float(contributions.var(1).sum(-1).mean()) / steps
    return whole * steps / BATCH, 1 - own / whole


def _cosines(
    score: torch.Tensor, lengths: dict[int, torch.Tensor], true: torch.Tensor
) -> dict[str, float]:
    """Return cosines of mean and true gradient; halves of the chains keep noise out of lengths."""
    half = CHAINS // 2

    def halves(advantage: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        own = torch.einsum("tnp,tn->np", score, advantage) / LONG
        return own[:half].mean(0), own[half:].mean(0)

    def product(a: tuple[torch.Tensor, ...], b: tuple[torch.Tensor, ...]) -> float:
        return float(a[0] @ b[1] + a[1] @ b[0]) / 2

    goal = halves(true)
    found = {}
    for steps, advantage in lengths.items():
        own = halves(advantage)
        square = product(own, own) * product(goal, goal)
        found[f"cosine_{steps}"] = product(own, goal) / square**0.5 if square > 0 else float("nan")
    return found


def _minibatches(score: torch.Tensor, advantage: torch.Tensor, seed: int) -> float:
    """Return the variance that shuffled mini-batches of 64 add, over (1 - m/n) S²/m."""
    steps, carts, size = 128, BATCH // 128, 64
    rows = (score[:steps, :carts] * advantage[:steps, :carts, None]).reshape(BATCH, -1)
    apart = rows - rows.mean(0)
    spread = float((apart**2).sum()) / (BATCH - 1)
    draws = torch.Generator().manual_seed(seed)
    added = [
        float(
            (
                apart[torch.randperm(BATCH, generator=draws)]
                .reshape(-1, size, rows.shape[1])
                .mean(1)
                ** 2
            )
            .sum(-1)
            .mean()
        )
        for _ in range(_BLOCK)
    ]
    return sum(added) / len(added) / ((1 - size / BATCH) * spread / size)


@torch.no_grad()
def _qualities(actor: Any, critic: Any, envs: Envs) -> dict[str, float]:
    """Return corr² of estimated and true advantages for rollouts of 8, 64 and 512 steps.

    Both actions of a state are tried, with the same luck afterwards, in two independent rounds:
    the truth of one round judges the estimates of the other.
    """
    state = torch.cat([collect(envs, actor, critic, 25).state[-1] for _ in range(_BLOCK)])
    chance = torch.softmax(actor(state), 1)
    rounds = [_tried(actor, critic, state, envs.draws) for _ in range(2)]
    true = [q - (chance * q).sum(1, keepdim=True) for q, _ in rounds]
    square = float((chance * true[0] * true[1]).sum(1).mean())
    found = {}
    for steps in (8, 64, 512):
        kept = [own[steps] for _, own in rounds]
        along = (
            sum(
                float((chance * a * b).sum(1).mean()) for a, b in zip(kept, true[::-1], strict=True)
            )
            / 2
        )
        variance = (
            sum(
                float((chance * (a**2)).sum(1).mean()) - float((chance * a).sum(1).mean()) ** 2
                for a in kept
            )
            / 2
        )
        found[f"corr2_{steps}"] = (
            along * abs(along) / variance / square if square > 0 else float("nan")
        )
    return found


def _tried(
    actor: Any, critic: Any, state: torch.Tensor, draws: torch.Generator
) -> tuple[torch.Tensor, dict[int, torch.Tensor]]:
    """Return Q of both actions, and their advantages if half of T steps are still to go."""
    count = len(state)
    here = torch.cat([state, state])
    action = torch.cat([torch.zeros(count), torch.ones(count)]).long()
    q, estimate, alive = (torch.zeros(2 * count) for _ in range(3))
    alive += 1
    value, kept = critic(here)[:, 0], {}
    for t in range(400):
        after = moved(here, action)
        going = alive * ~fallen(after)
        following = critic(after)[:, 0] * going
        estimate += (GAMMA * LAM) ** t * (alive * (1 - value) + GAMMA * following)
        q += GAMMA**t * alive
        if 2 * (t + 1) in (8, 64, 512):
            kept[2 * (t + 1)] = estimate.clone()
        here, alive, value = after, going, critic(after)[:, 0]
        draw = torch.rand(count, generator=draws).repeat(2)
        action = (draw < torch.softmax(actor(here), 1)[:, 1]).long()
    q += GAMMA**400 * alive * value

    def apart(x: torch.Tensor) -> torch.Tensor:
        return x.reshape(2, count).T

    return apart(q), {steps: apart(x) for steps, x in kept.items()}


if __name__ == "__main__":
    main()
