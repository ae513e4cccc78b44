"""Words that several sections share."""

from typing import Any


def gradient_words(objective: str) -> str:
    """Which gradient an objective means, after "the"."""
    if objective == "total":
        return "gradient of actor and critic together"
    return f"{objective}'s gradient"


def deciding_words(data: dict[str, Any]) -> str:
    """Whose gradient decides the advice; what charts show is one gradient also where two decide."""
    who = data.get("decided_by", data["objective"])
    return "the weaker of actor and critic" if who == "both" else f"the {gradient_words(who)}"
