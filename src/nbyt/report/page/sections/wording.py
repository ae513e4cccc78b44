"""Words that several sections share."""


def gradient_words(objective: str) -> str:
    """Which gradient an objective means, after "the"."""
    if objective == "total":
        return "gradient of actor and critic together"
    return f"{objective}'s gradient"
