"""A Ray worker with other versions trains nothing."""

import json

from nbyt.sweeps import ray_task


def test_other_versions_are_reported_instead_of_trained() -> None:
    request = {"versions": {"nbyt": "0", "jax": "0"}, "setup": {}, "task": {}, "limit": None}
    assert json.loads(ray_task.run_task(json.dumps(request))) == {"differs": ray_task.versions()}
