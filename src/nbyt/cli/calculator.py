"""`nbyt calculator`: the answers about settings as one page, to be used without a network."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from nbyt import __version__
from nbyt.cli.output import Common, Outcome, show


def run(
    *,
    out: Path = Path("calculator.html"),
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Write one HTML file that explains, translates and compares settings in the browser.

    Parameters
    ----------
    out
        The file to write.
    """
    from nbyt.calculator import page  # compiles the rules, which no other command needs

    page.write(out, __version__)
    size = out.stat().st_size
    if not common.json:
        show(Text(f"{out}: {size / 1024:,.0f} KB; open it in a browser, it needs no network"))
    return Outcome({"path": str(out), "bytes": size})
