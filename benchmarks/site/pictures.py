"""Pictures of pages for the README and the documentation, taken in Chromium.

    python -m benchmarks.site.pictures

They show the page of the advice whose output the README prints, from the result that is kept for
it (`make retrained-outputs`), light and dark.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from msgspec import convert
from playwright.sync_api import Browser, sync_playwright

from benchmarks.site.outputs import ROOT, blocks
from nbyt.report.pages.advice import advice_page
from nbyt.results.advice import Advice

PICTURES = ROOT / "docs" / "assets"
LARGEST = 200_000
"""Bytes of a picture."""
CHROMIUM = shutil.which("chromium")
_WINDOW: dict[str, Any] = {"viewport": {"width": 1120, "height": 900}, "device_scale_factor": 1.0}


def page(folder: Path) -> Path:
    """Write the page of the README's advice into a folder."""
    (block,) = (one for one in blocks((ROOT / "README.md",)) if one.words[0] == "advise")
    record = convert(json.loads(block.file.read_text("utf-8")), Advice)
    path = folder / "report.html"
    advice_page(record).write(path)
    return path


def take(browser: Browser, path: Path, scheme: Any) -> bytes:
    """Return a picture of the answer and the learning curves."""
    context = browser.new_context(**_WINDOW, color_scheme=scheme)
    context.set_default_timeout(300_000)
    shown = context.new_page()
    shown.goto(path.as_uri())
    shown.locator("#curves .main-svg").last.wait_for()
    # The page ends below the curves: what comes after is told of in its tutorial.
    last = shown.locator("#curves").bounding_box()
    assert last is not None
    clip = {
        "x": 0,
        "y": 0,
        "width": _WINDOW["viewport"]["width"],
        "height": last["y"] + last["height"] + 24,
    }
    picture = shown.screenshot(full_page=True, clip=clip)
    context.close()
    return picture


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        path = page(Path(folder))
        for scheme in ("light", "dark"):
            picture = take(browser, path, scheme)
            if len(picture) > LARGEST:
                sys.exit(f"the {scheme} picture has {len(picture):,} bytes, of at most {LARGEST:,}")
            target = PICTURES / f"advice-{scheme}.png"
            target.write_bytes(picture)
            print(f"{target.relative_to(ROOT)}  {len(picture):,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
