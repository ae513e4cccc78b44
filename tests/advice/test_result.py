"""What `nbyt.advise` returns: the record, and its forms for Python and notebooks."""

from tests.golden.pinned import FOLDERS

from nbyt.advice.result import Advice
from nbyt.results import plain
from nbyt.store.files import ADVICE


def test_an_advice_shows_its_record_in_every_form() -> None:
    record = ADVICE.read(FOLDERS / "advise" / ADVICE.name)
    advice = Advice(record)
    assert advice.as_dict() == advice.data == plain(record)
    assert (advice.time, advice.samples) == (record.advice.time, record.advice.samples)
    assert len(advice.to_frame()) == len(record.layouts)
    best = record.answer
    assert f"{record.objective}={best.envs}x{best.steps}" in repr(advice)
    assert str(best.steps) in str(advice) and "<script" not in advice._repr_html_()
