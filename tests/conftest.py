"""Before any test: annotations are checked as code runs, JAX is set up once, chance is fixed."""

import os

# Tests compile many programs and run each for a moment: compiling in a hurry halves their time.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
)

from hypothesis import settings
from jaxtyping import install_import_hook

# The hook stays for the whole session; it must be in place before these packages are imported.
install_import_hook(
    ["nbyt.objective", "nbyt.collect", "nbyt.minibatch", "nbyt.policy", "nbyt.stats"],
    "beartype.beartype",
)

from nbyt.train import hardware  # noqa: E402

hardware.prepare(cache=False)

# The same examples every time, and no clock: a red build can be replayed tomorrow.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")
