"""Laws of packing: what went in comes out, in any framework, for one observation or many."""

import numpy as np
import torch
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete
from sb3_toys import Parts

from nbyt.integrations.sb3.policy import Packing

SPACE = Parts().observation_space


def many(*lead: int) -> dict[str, np.ndarray]:
    SPACE.seed(1)
    drawn = [SPACE.sample() for _ in range(int(np.prod(lead)))]
    rows = {name: np.stack([one[name] for one in drawn]) for name in SPACE}
    return {name: part.reshape((*lead, *SPACE[name].shape)) for name, part in rows.items()}


def test_unpacking_undoes_packing() -> None:
    packing = Packing(SPACE)
    for lead in ((), (3,), (2, 3)):
        parts = many(*lead)
        rows = packing.pack(parts)
        assert rows.shape == (*lead, *packing.space.shape) and rows.dtype == np.float32
        for back in (packing.unpack(rows), packing.unpack(torch.as_tensor(rows))):
            assert list(back) == list(SPACE.spaces)
            for name, part in parts.items():
                assert tuple(back[name].shape) == part.shape
                np.testing.assert_array_equal(np.asarray(back[name]), part.astype(np.float32))


def test_unpacking_works_under_vmap() -> None:
    packing = Packing(SPACE)
    rows = torch.as_tensor(packing.pack(many(4)))
    mapped = torch.func.vmap(packing.unpack)(rows)
    for name, part in packing.unpack(rows).items():
        assert torch.equal(mapped[name], part)


def test_gradients_go_through_unpacking() -> None:
    packing = Packing(SPACE)
    rows = torch.as_tensor(packing.pack(many(2))).requires_grad_()
    packing.unpack(rows)["arm"].sum().backward()
    assert rows.grad.sum() == 12


def test_other_spaces_are_left_alone() -> None:
    box, number = Box(-1, 1, (2, 2)), Discrete(3)
    for space in (box, number):
        assert Packing(space).space is space
    rows = np.arange(8).reshape(2, 2, 2)
    np.testing.assert_array_equal(Packing(box).pack(rows), rows)
    assert Packing(box).unpack(rows) is rows
    for space in (MultiBinary(3), MultiDiscrete([2, 4, 9])):
        boxed = Packing(space).space
        assert isinstance(boxed, Box) and boxed.contains(np.asarray(space.sample()))
    assert Packing(Dict({"only": box})).space.shape == (4,)
