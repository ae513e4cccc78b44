"""Two tasks, opposite answers: CartPole learns best with long T, Acrobot with short T."""

from typing import Any

from benchmarks.advice.ask import BATCH, per_sample

# What training each layout on each task says: T at least, or at most.
KNOWN = {"CartPole-v1": (128, None), "Acrobot-v1": (None, 8)}
HARMFUL = 2


def advised(env: str, seed: int) -> dict[str, Any]:
    """The advice per sample of `nbyt advise ENV --batch 2048`."""
    data = per_sample(env, seed)
    found = data["advice"]["per_sample"]
    return {
        "seed": seed,
        "envs": found["envs"],
        "steps": found["steps"],
        "win_share": found["win_share"],
        "ties": [steps for _, steps in found["ties"]],
        "relative": {str(row["steps"]): row["relative"] for row in found["ranking"]},
        "harmful": {str(row["steps"]): row["harmful_at"] for row in found["ranking"]},
        "stages": [
            {"name": one["name"], "weight": one["weight"], "clear": one["clear"]}
            for one in data["stages"]
        ],
        "returns": [one["mean_return"] for one in data["stages"]],
    }


def judged(env: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """In how many seeds the advice is on the known side, and 1024x2 is called harmful."""
    least, most = KNOWN[env]
    right = [(least or 0) <= row["steps"] <= (most or BATCH) for row in rows]
    return {
        "seeds": len(rows),
        "right": sum(right),
        "harmful": sum(bool(row["harmful"][str(HARMFUL)]) for row in rows),
        "steps": [row["steps"] for row in rows],
    }
