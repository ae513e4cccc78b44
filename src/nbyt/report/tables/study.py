"""A study's claims in a terminal: each with its verdict and the counts of its checks."""

from collections import Counter
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from nbyt.results.study import JudgedClaim
from nbyt.store.text import plain

_STYLES = {
    "holds": "green",
    "does not hold": "red",
    "depends": "yellow",
    "holds when": "yellow",
    "cannot be told": "dim",
    "identity": "dim",
}
_ANSWERS = ("yes", "no", "open")


def claim_table(claims: Sequence[JudgedClaim]) -> Table:
    """Build a row for each claim, by topic; yes, no and open count its checks."""
    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="bold",
        caption=_summary(claims),
        caption_justify="left",
        caption_style="",
    )
    table.add_column("verdict", no_wrap=True)
    table.add_column("claim", ratio=1, overflow="fold")
    for name in _ANSWERS:
        table.add_column(name, justify="right", no_wrap=True)
    for topic in dict.fromkeys(claim.topic for claim in claims):
        table.add_row()
        table.add_row("", Text(plain(topic), style="bold"))
        for claim in claims:
            if claim.topic == topic:
                _add(table, claim)
    return table


def _add(table: Table, claim: JudgedClaim) -> None:
    verdict = Text(plain(claim.word), style=_STYLES[claim.word])
    said = Text(plain(claim.claim))
    if claim.when:
        words = "when " if claim.word == "holds when" else ""
        said.append(f"\n{words}{plain(claim.when)}", style="dim")
    table.add_row(verdict, said, *(str(getattr(claim.counts, name)) for name in _ANSWERS))


def _summary(claims: Sequence[JudgedClaim]) -> Text:
    found: Counter[str] = Counter(claim.word for claim in claims)
    said = [f"{word} {found[word]}" for word in _STYLES if found[word]]
    return Text(f"\n{len(claims)} claims: {', '.join(said)}" if said else "no claims")
