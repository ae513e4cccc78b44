"""What questions about libraries print is what their types say, for every library."""

import msgspec
import pytest

from nbyt.dialects import describing
from nbyt.dialects.dialect import every
from nbyt.dialects.explaining import explained
from nbyt.dialects.missing import MissingSettingsError
from nbyt.dialects.translating import translated
from nbyt.results.questions import DescribedDialect, Explained, PartlyExplained, Translated


@pytest.mark.parametrize("dialect", every(), ids=lambda one: one.id)
def test_every_answer_fits_its_type_with_all_of_its_keys(dialect) -> None:
    told = describing.described(dialect)
    assert set(msgspec.to_builtins(msgspec.convert(told, DescribedDialect))) == set(told)
    try:
        found = explained(dialect, [])
    except MissingSettingsError as error:
        partial = error.partial()
        assert set(msgspec.to_builtins(msgspec.convert(partial, PartlyExplained))) == set(partial)
        return
    answer = found.as_dict()
    assert set(msgspec.to_builtins(msgspec.convert(answer, Explained))) == set(answer)
    if not found.reading.refusals:
        answer = translated(found, dialect).as_dict()
        assert set(msgspec.to_builtins(msgspec.convert(answer, Translated))) == set(answer)
