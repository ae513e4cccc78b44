"""Everything from Python: advise, train, probe, sweep, and the questions that need no training.

    python examples/from_python.py

Half a minute: the sizes are small. Each result prints itself, and has layouts, to_frame and plot.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import nbyt


def main(out: Path) -> None:
    """Ask, train, measure, and read it all back."""
    print(nbyt.explain("sb3", {"n_envs": 8, "n_steps": 125, "batch_size": 64}))

    advice = nbyt.advise("FrozenLake-v1", batch=64, trainings=0, out=out / "advice")
    print(advice)
    assert advice.layouts[0].loss is not None

    trained = nbyt.train("FrozenLake-v1", envs=8, steps=8, minibatch=16, total=640, out=out / "run")
    print(trained)

    measured = nbyt.probe("FrozenLake-v1", trained.stages[-1], batch=64, steps=[4, 16], chains=16)
    print(measured.layout(steps=16).actor.alignment)

    again = nbyt.load(out / "advice")
    print(again)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(Path(folder))
