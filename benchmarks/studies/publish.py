"""From a finished `nbyt reproduce NAME` to docs: the data, the page, and a table of verdicts.

Run: python -m benchmarks.studies.publish runs/post
"""

import json
import sys
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from nbyt.report.pages.study import study_page
from nbyt.results import plain
from nbyt.store.files import PAGE, STUDY
from nbyt.store.run import Folder

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_HEADS = {
    "post": """# The post, claim by claim

A post on the trade-off between parallel environments N and rollout steps T in PPO makes statements
about the gradient. This page lists each of them, in our words, with the verdict of a measurement;
""",
    "replay": """# The note on replay, claim by claim

A note on mini-batches and experience replay says what drawing mini-batches at random from a buffer
is good for. This page lists its statements, in our words, each with the verdict of a measurement;
""",
}
_BODY = """the [page with all figures]({name}/{page}) (download it, it needs no network) and the
[data]({name}/{study}) behind it are committed beside it. All of it was made by

```sh
{command}
python -m benchmarks.studies.publish runs/{name}
```

{rule}

| claim | verdict | yes / no / open |
|---|---|---|
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
    """Return the table of verdicts as Markdown."""
    name = data["study"]
    body = _BODY.format(
        name=name,
        page=PAGE.name,
        study=STUDY.name,
        command=f"{data['reproduce']} --out runs/{name}",
        rule=data["rule"],
    )
    lines, topic = [(_HEADS[name] + body).rstrip("\n")], ""
    for claim in data["claims"]:
        if claim["topic"] != topic:
            topic = claim["topic"]
            lines.append(f"| **{topic}** | | |")
        counts = " / ".join(str(claim["counts"][name]) for name in ("yes", "no", "open"))
        cells = [claim["claim"], claim["verdict"], counts]
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
