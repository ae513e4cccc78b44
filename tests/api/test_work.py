"""nbyt.train, probe, advise and sweep from Python: what they return, and what they show."""

import inspect
import io
import sys

import pytest

import nbyt
from nbyt.advice.run import advise as advised
from nbyt.api.work import watching
from nbyt.measure.probe import probe as probed

SMALL = {"envs": 8, "steps": 8, "minibatch": 16, "total": 256}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    told = []
    out = tmp_path_factory.mktemp("api") / "run"
    done = nbyt.train("FrozenLake-v1", **SMALL, out=out, progress=lambda *one: told.append(one))
    return done, told


def test_a_training_tells_of_its_updates_and_has_its_stages(trained) -> None:
    done, told = trained
    assert told[-1] == ("updates", 4, 4)
    assert done.env == "tabular:FrozenLake-v1" and done.layouts[0]["batch"] == 64
    assert [path.name for path in done.stages] == ["stage-1", "stage-2", "stage-3"]
    assert "final return" in str(done) and "<table>" in done._repr_html_()
    assert list(done.to_frame()["update"]) == [1, 2, 3, 4]
    assert done.plot().data


def test_the_command_takes_the_run_for_its_own(trained, capsys) -> None:
    done, _ = trained
    sizes = " ".join(f"--{name} {size}" for name, size in SMALL.items())
    from nbyt.cli.main import run

    assert run(f"train FrozenLake-v1 {sizes} --out {done.folder} --json".split()) == 0
    assert "nothing to do" in capsys.readouterr().err


def test_a_stage_is_probed_and_a_measurement_is_shown(trained) -> None:
    done, _ = trained
    found = nbyt.probe(done.env, done.stages[-1], batch=64, steps=[4, 16], chains=8)
    assert len(found.layouts) == len(found.to_frame()) == 2
    assert found.plot().data and "alignment" in found._repr_html_()


def test_an_advice_is_a_table_and_a_picture(tmp_path) -> None:
    found = nbyt.advise("FrozenLake-v1", batch=64, trainings=0, out=tmp_path)
    assert len(found.to_frame()) == len(found.layouts)
    assert found.plot().data


def heard(monkeypatch, shown, *, terminal: bool) -> str:
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with watching(shown) as told:
        told("quarter trainings", 1, 2)
    return stream.getvalue()


def test_a_terminal_and_a_notebook_show_progress_and_nothing_else_does(monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert "quarter trainings" in heard(monkeypatch, True, terminal=True)
    assert heard(monkeypatch, False, terminal=True) == ""
    assert heard(monkeypatch, True, terminal=False) == ""
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert heard(monkeypatch, True, terminal=False) == "quarter trainings ...\n"
    assert heard(monkeypatch, False, terminal=False) == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # as ipykernel does
    assert heard(monkeypatch, True, terminal=False) == "quarter trainings ...\n"


@pytest.mark.parametrize(("public", "work"), [(nbyt.advise, advised), (nbyt.probe, probed)])
def test_what_the_work_takes_the_public_function_takes(public, work) -> None:
    given, taken = (inspect.signature(one).parameters for one in (public, work))
    assert set(given) == set(taken)
    defaults = [{name: one.default for name, one in own.items()} for own in (given, taken)]
    assert {**defaults[0], "progress": 0} == {**defaults[1], "progress": 0}
