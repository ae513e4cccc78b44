"""`nbyt doctor`: versions, devices, and a control run whose answer is known."""

import tempfile
from pathlib import Path
from typing import Annotated, Literal

import jax
from cyclopts import Parameter
from rich.text import Text

from nbyt.cli.output import Common, Outcome, facts_table, show, talk
from nbyt.cli.tested import CONSTRAINTS_REFRESHED
from nbyt.errors import StoreError
from nbyt.numbers import Seed
from nbyt.store.manifest import manifest
from nbyt.store.run import verify
from nbyt.training import hardware
from nbyt.training.control import Control, run_control


def run(
    *,
    dir: Path | None = None,
    seed: Seed = 0,
    device: Literal["auto", "cpu", "gpu", "tpu"] = "auto",
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Show versions and devices, and run a control whose answer is known.

    Parameters
    ----------
    dir
        Check the files of this run folder instead, and list every bad one.
    seed
        Seed of the control run.
    device
        Device that JAX uses: auto, cpu, gpu or tpu.
    """
    if dir is not None:
        return _check_files(dir, common)
    hardware.prepare(device, quiet=common.quiet)
    console = talk(quiet=common.quiet)
    facts = manifest("doctor", {}, seed, hardware.describe())
    versions = {name: version or "not installed" for name, version in facts["versions"].items()}
    devices = [str(one) for one in jax.devices()]
    with (
        console.status("training a control on FrozenLake, about ten seconds"),
        tempfile.TemporaryDirectory() as folder,
    ):
        control = run_control(Path(folder), seed)
    if not common.json:
        _show(versions, devices, control)
    data = {
        "versions": versions,
        "constraints_refreshed": CONSTRAINTS_REFRESHED,
        "devices": devices,
        "control": control.as_dict(),
    }
    return Outcome(data, [], *(("ok", 0) if control.agrees else ("failed", 1)))


def _show(versions: dict[str, str], devices: list[str], control: Control) -> None:
    rows = [
        *versions.items(),
        ("tested", f"with the newest versions of {CONSTRAINTS_REFRESHED}"),
        ("devices", ", ".join(devices)),
    ]
    rows += [
        ("control", "PPO on FrozenLake, then its return measured and calculated"),
        ("measured", f"{control.measured}  (95 % interval)"),
        ("exact", f"{control.exact:.4f}"),
    ]
    show(facts_table(rows))
    good = Text("the control agrees with the exact answer", style="green")
    bad = Text("the control does not agree: measured and exact differ too much", style="bold red")
    show(good if control.agrees else bad)


def _check_files(folder: Path, common: Common) -> Outcome:
    if not folder.is_dir():
        raise StoreError(f"{folder} is not a folder", where="--dir", fix="name a run's folder")
    bad = verify(folder)
    if not common.json:
        for line in bad:
            show(Text(line))
        show(Text(f"{len(bad)} bad files", style="bold red" if bad else "green"))
    verdict = ("failed", 1) if bad else ("ok", 0)
    return Outcome({"folder": str(folder.resolve()), "bad": bad}, [], *verdict)
