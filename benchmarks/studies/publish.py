"""From a finished `nbyt reproduce NAME` to docs: the data, the page, and a table of verdicts.

Run: python -m benchmarks.studies.publish runs/post
"""

import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from nbyt.report.numbers import short
from nbyt.report.pages.study import study_page
from nbyt.results import plain
from nbyt.store.files import PAGE, STUDY
from nbyt.store.run import Folder

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_CHANGES = Path(__file__).with_name("changes.toml")
_HEADS = {
    "post": """# The post, sentence by sentence

A post on the trade-off between parallel environments N and rollout steps T in PPO makes statements
about the gradient. Here is what was found, and then each statement, section by section, in our
words, with the number that was measured for it and the verdict;
""",
    "replay": """# The note on replay, sentence by sentence

A note on mini-batches and experience replay says what drawing mini-batches at random from a buffer
is good for. Here are its statements, section by section, in our words, with the number that was
measured for each and the verdict;
""",
}
_BODY = """the [page with all figures]({name}/{page}) (download it, it needs no network) and the
[data]({name}/{study}) behind it are committed beside it. All of it was made by

```sh
{command}
python -m benchmarks.studies.publish runs/{name}
```

{findings}## Every statement

{rule}

A number is the median over the cases that were measured, with the least and the largest in
brackets; each has its interval on the page. *Identities* are true by mathematics: they were
checked, and get no verdict.

| statement | measured, and verdict |
|---|---|
"""
_CHANGED = """
## What changed

The first version of this page asked some questions that could only come out one way, pooled actor
and critic, and sharpened some sentences. Each statement with its verdict then and now:

| statement | then | now | why |
|---|---|---|---|
"""


def main(folder: Path) -> None:
    """Copy data and page, and write the table of verdicts, under the study's name in docs."""
    # Where it was made says nothing to anybody else.
    study = replace(Folder(folder).require(STUDY), out=".", report=PAGE.name)
    data = plain(study)
    target = _DOCS / data["study"]
    target.mkdir(exist_ok=True)
    (target / STUDY.name).write_text(json.dumps(data, separators=(",", ":")) + "\n")
    study_page(study).write(target / PAGE.name)
    (_DOCS / f"{data['study']}.md").write_text(page(data))


def page(data: dict[str, Any]) -> str:
    """Return findings, the table of verdicts, and what changed, as Markdown."""
    name = data["study"]
    body = _BODY.format(
        name=name,
        page=PAGE.name,
        study=STUDY.name,
        command=f"{data['reproduce']} --out runs/{name}",
        rule=data["rule"],
        findings="".join(f"**{one['title']}.** {one['text']}\n\n" for one in data["findings"]),
    )
    lines, topic = [(_HEADS[name] + body).rstrip("\n")], ""
    for claim in data["claims"]:
        if claim["topic"] != topic:
            topic = claim["topic"]
            lines.append(f"| **{topic}** | |")
        lines.append(_row(claim["claim"], "<br>".join(_parts(claim))))
    return "\n".join([*lines, _CHANGED.rstrip("\n"), *_changed(data), ""])


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _parts(claim: dict[str, Any]) -> Iterator[str]:
    if not claim["parts"]:
        counts = claim["counts"]
        rest = ", the rest open" if counts["open"] and not counts["no"] else ""
        yield f"*identity*, confirmed in {counts['yes']} of {sum(counts.values())} checks{rest}"
    for part in claim["parts"]:
        of = ", ".join(part["case"][key] for key in claim["apart"] if key in part["case"])
        goes_on = part["word"] == "holds when" or part["when"].startswith("(")
        when = f"{'' if goes_on else ':'} {part['when']}" if part["when"] else ""
        words = (f"{of}:" if of else "", _range(part["range"]), f"**{part['word']}**{when}")
        yield " ".join(word for word in words if word)


def _range(numbers: list[float] | None) -> str:
    if numbers is None:
        return ""
    low, middle, high = (short(number, 2) for number in numbers)
    return low if low == high else f"{middle} ({low} to {high})"


def _changed(data: dict[str, Any]) -> Iterator[str]:
    now = {claim["id"]: claim["verdict"] for claim in data["claims"]}
    for id, change in tomllib.loads(_CHANGES.read_text("utf-8"))[data["study"]].items():
        why = change.get("gone") or change["why"]
        yield _row(id, change["was"], "gone" if "gone" in change else now[id], why)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
