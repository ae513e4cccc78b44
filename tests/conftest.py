"""Before any test: shape annotations are checked as the code runs, and JAX is set up once."""

from jaxtyping import install_import_hook

# The hook stays for the whole session; it must be in place before these packages are imported.
install_import_hook(
    ["nbyt.objective", "nbyt.collect", "nbyt.minibatch", "nbyt.policy", "nbyt.stats"],
    "beartype.beartype",
)

from nbyt.train import hardware  # noqa: E402

hardware.prepare(cache=False)
