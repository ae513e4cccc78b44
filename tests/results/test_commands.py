"""What commands print that is not stored, by its types: a dry run is not taken for a result."""

import json

import msgspec
import pytest
from tests.golden.cases import COMMANDS
from tests.golden.pinned import read

from nbyt.results.commands import PRINTED

SHAPES = {name: read(f"shape-{name}") for name in COMMANDS}


def filled(shape: object) -> object:
    """Fill the shape of an object with values."""
    if isinstance(shape, dict):
        return {key: filled(one) for key, one in shape.items()}
    if isinstance(shape, list):
        return [filled(one) for one in shape]
    return {"number": 1, "text": "x", "bool": True}.get(str(shape)) if shape else None


@pytest.mark.parametrize(
    ("case", "place"),
    [
        ("advise-dry-run", 1),
        ("audit", 0),
        ("check-env", 0),
        ("doctor-dir", 1),
        ("report", 0),
        ("reproduce-dry-run", 1),
        ("sweep-dry-run", 1),
        ("time", 0),
        ("train", 0),
        ("train-dry-run", 1),
    ],
)
def test_a_printed_object_is_of_one_type_and_of_no_other(case: str, place: int) -> None:
    data = json.loads(json.dumps(filled(SHAPES[case]["data"])))
    forms = PRINTED[COMMANDS[case].split()[0]]
    msgspec.convert(data, forms[place])
    for other in forms[:place] + forms[place + 1 :]:
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(data, other)
