"""What worker processes report arrives unchanged."""

import json

from nbyt import errors
from nbyt.errors import MissingExtraError as Missing
from nbyt.sweeps.cells import first_failure
from nbyt.sweeps.worker_main import as_plain


def test_every_error_arrives_as_it_was_sent() -> None:
    known = (one for one in vars(errors).values() if isinstance(one, type))
    kinds = [one for one in known if issubclass(one, errors.NbytError)]
    sent = [kind("what", where="there", fix="that") for kind in kinds if kind is not Missing]
    assert len(sent) > 8
    for error in (*sent, Missing("envpool", "envpool")):
        carried = json.loads(json.dumps({"answers": [as_plain(error)]}))
        arrived = first_failure("env", carried)
        assert type(arrived) is type(error) and arrived.as_dict() == error.as_dict()
