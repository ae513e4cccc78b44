"""Random mini-batches are said to help in situations not met before."""

from collections import Counter
from collections.abc import Iterator

from nbyt.results.values import Data
from nbyt.studies.replay.claims import unseen_numbers as numbers
from nbyt.studies.replay.claims.unseen_figures import NEEDS, abroad_figures, retained_figures
from nbyt.studies.study import Claim, Results
from nbyt.studies.verdict import Check, judge

_TOPIC = "Generalisation"
_MEASURED = (
    "DQN, 1 env x 4 steps and then one mini-batch of 64 from all that was met: uniform, sequential "
    "(64 neighbours from a random place) or newest (the last 64). CartPole-v1, 10 seeds of 40,000 "
    "steps (quick: 3 of 20,000), then greedy from wide starts (those with a state met in training "
    "near them left out), and with another pole, gravity or force. Lakes of 4 x 4 cells with 4 "
    "holes, the map in view, 8 seeds of 40,000 steps on 200 maps or of 24,000 on 2,000 (quick: 3 "
    "of 20,000 or 10,000), then greedy on 500 other maps from every start, by following it "
    "exactly: success is the share of starts that reach the goal. The mean of three moments in the "
    "last half of a run; samplings are compared seed by seed. "
)


def _cases(results: Results) -> Iterator[tuple[Data, str, str, dict[str, str]]]:
    """Data, condition, the other sampling and the case, for every comparison."""
    for name in NEEDS:
        data = results[name]
        for condition in data["conditions"]:
            for other in numbers.others(data):
                case = {"env": data["env"], "unseen": condition, "compared with": other}
                yield data, condition, other, case


def _level_checks(results: Results) -> list[Check]:
    return [
        Check(
            case,
            f"{_unit(data)} there, uniform less {other}",
            numbers.gained(data, other, condition).as_dict(),
            low=0,
        )
        for data, condition, other, case in _cases(results)
    ]


def _drop_checks(results: Results) -> list[Check]:
    found = []
    for data, condition, other, case in _cases(results):
        share = numbers.retained_more(data, other, condition)
        words = f"share of the {_unit(data)} at home that is retained, uniform less {other}"
        found.append(Check({**case, "measure": "retained share"}, words, share.as_dict(), low=0))
        beyond = numbers.gained_at_equal_home(data, other, condition)
        words = f"{_unit(data)} there at equal {_unit(data)} at home, uniform less {other}"
        found.append(Check({**case, "measure": "at equal home"}, words, beyond.as_dict(), low=0))
    return found


def _unit(data: Data) -> str:
    return "return" if "never_visited" in data else "success"


def _level_notes(results: Results) -> list[str]:
    return [
        _by_other(_level_checks(results)),
        *_at_home(results),
        _never_visited(results),
        _added(results, _level_checks(results)),
        _ONE_SET,
    ]


def _drop_notes(results: Results) -> list[str]:
    return [
        _by_other(_drop_checks(results)),
        *_at_home(results),
        "A policy that is better at home is mostly better abroad too, and has more to lose: the "
        "drop itself, in the table, favours runs that learnt little. Hence the share, and the "
        "difference at equal home.",
        "The share favours runs that learnt little as well: what any policy gets is retained in "
        "full. At equal home a straight line common to both samplings stands for how abroad goes "
        "with home; where runs of one sampling are nowhere as good as those of the other, it "
        "reaches beyond what was measured. The points show where that is so.",
        "A change can make CartPole easier than it was; then more than all is retained.",
        "The return at home is itself measured with 64 episodes or so, which makes the line a "
        "little too flat.",
        _added(results, _drop_checks(results)),
        _ONE_SET,
    ]


_ONE_SET = (
    "All runs share one set of maps and one list of changes to CartPole: intervals are over seeds "
    "of training, not over maps or changes."
)


def _added(results: Results, checks: list[Check]) -> str:
    """What was not decided beforehand, and the verdict without it."""
    added = results["unseen-many-lakes"]["env"]
    before = judge([check for check in checks if check.case["env"] != added])
    return (
        "Lakes with 2,000 maps were added when runs with 200 had shown that uniform sampling does "
        "best at home and not on other maps: what can be known by heart may be the reason. Without "
        f"them the verdict would be: {before}."
    )


def _by_other(checks: list[Check]) -> str:
    """How the checks say, apart for each of the other samplings."""
    found = []
    for other in dict.fromkeys(check.case["compared with"] for check in checks):
        said = Counter(check.says for check in checks if check.case["compared with"] == other)
        found.append(f"with {other}, {said['yes']} yes, {said['no']} no, {said['open']} open")
    return f"Compared {'; '.join(found)}."


def _never_visited(results: Results) -> str:
    shares = results["unseen-carts"]["never_visited"]
    return (
        f"Of CartPole's wide starts {sum(shares) / len(shares):.0%} (by seed {min(shares):.0%} to "
        f"{max(shares):.0%}) had no state near them, within 5 % of the width of the starts in all "
        "four numbers, in any of the seed's three runs; only those count. Some of them "
        "may be beyond saving by any policy."
    )


def _at_home(results: Results) -> list[str]:
    found = []
    for name in NEEDS:
        data = results[name]
        words = [
            f"less {other} {numbers.gained(data, other, data['home'])}"
            for other in numbers.others(data)
        ]
        found.append(f"{data['env']}, {_unit(data)} at home: uniform {', '.join(words)}.")
    return found


CLAIMS = (
    Claim(
        id="unseen-level",
        topic=_TOPIC,
        says="An agent that learns from randomly drawn mini-batches does better in situations "
        "that it has not met.",
        measured=_MEASURED,
        asks="Return or success in the unseen, uniform less the other sampling, is above 0.",
        needs=NEEDS,
        checks=_level_checks,
        figures=abroad_figures,
        notes=_level_notes,
    ),
    Claim(
        id="unseen-drop",
        topic=_TOPIC,
        says="It does so beyond being better where it was trained: it loses less on the way "
        "into the unseen.",
        measured=_MEASURED,
        asks="Two numbers are above 0: the share of its level at home that uniform sampling "
        "retains, less the other's share; and the difference abroad at equal level at home.",
        needs=NEEDS,
        checks=_drop_checks,
        figures=retained_figures,
        notes=_drop_notes,
    ),
)
