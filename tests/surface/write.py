"""Write the snapshot of the public surface and the JSON Schemas that are shipped: `make surface`.

It refuses to write a surface that differs from the snapshot while the changelog says nothing new
under Unreleased.
"""

import sys
from pathlib import Path

from tests.surface import snapshot

from nbyt.results.schema import FOLDER, schemas


def main() -> None:
    """Write both, or end with 1 and say what is missing."""
    refused = written(snapshot.lines(), snapshot.FILE, snapshot.CHANGELOG.read_text("utf-8"))
    if refused:
        sys.exit(refused)
    FOLDER.mkdir(exist_ok=True)
    made = {FOLDER / f"{name}.json": one for name, one in schemas().items()}
    for path in set(FOLDER.iterdir()) - set(made):
        path.unlink()
    for path, one in made.items():
        path.write_text(snapshot.schema_text(one), encoding="utf-8")


def written(surface: list[str], file: Path, changelog: str) -> str:
    """Write the snapshot if the changelog is not the one of the last; else return what to do."""
    before = file.read_text("utf-8") if file.exists() else ""
    changed = snapshot.difference(snapshot.known(before), surface)
    digest = snapshot.unreleased(changelog)
    if not changed:
        return ""
    if digest in snapshot.sealed(before):
        told = "\n".join(changed)
        return (
            f"the public surface has changed:\n{told}\n"
            "CHANGELOG.md says nothing new: add a line under Unreleased, and run this again"
        )
    file.write_text(snapshot.as_text(surface, digest), encoding="utf-8")
    sys.stderr.write("\n".join([*changed, ""]))
    return ""


if __name__ == "__main__":
    main()
