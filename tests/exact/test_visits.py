"""The long-run law of the state, by counting it another way."""

import numpy as np
import pytest
from problems import going_on, probabilities, random_problem

from nbyt import exact


@pytest.mark.parametrize("time_limit", [None, 3])
def test_it_is_what_walking_on_and_on_leads_to(time_limit) -> None:
    env, stage = random_problem(2, 4, 2, time_limit=time_limit, ends=0.3)
    policy, limit = probabilities(stage), time_limit or 1
    law = np.zeros((limit, 4))
    law[0], going = env.start, going_on(env)
    total = np.zeros(4)
    for step in range(4000):
        stays = np.einsum("ks,sa,sat->kt", law, policy, going)
        law = np.zeros_like(law)
        if time_limit:
            law[1:] = stays[:-1]
        else:
            law[0] = stays[0]
        law[0] += (1 - law.sum()) * env.start
        total += law.sum(axis=0) if step >= 1000 else 0
    np.testing.assert_allclose(exact.visits(env, stage), total / 3000, atol=1e-3)
    assert exact.visits(env, stage).sum() == pytest.approx(1, abs=1e-12)
