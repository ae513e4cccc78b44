"""The post as a study: its experiments and its claims, in the order of the page."""

from nbyt.studies.post.claims import critics as critic_claims
from nbyt.studies.post.claims import layouts as layout_claims
from nbyt.studies.post.claims import variance as variance_claims
from nbyt.studies.post.experiments import controls, critics, layouts, sources
from nbyt.studies.study import Study

_EXPERIMENTS = (layouts, controls, critics, sources)
_CLAIMS = (layout_claims, variance_claims, critic_claims)

POST = Study(
    name="post",
    title="Parallel environments and rollout steps: what holds",
    lead=(
        "A post on the trade-off between parallel environments N and rollout steps T in PPO says "
        "how a batch's layout, its correlations, its length and its mini-batches act on the "
        "gradient. Each of its statements, in our words, beside a measurement of it."
    ),
    experiments=tuple(one for module in _EXPERIMENTS for one in module.EXPERIMENTS),
    claims=tuple(one for module in _CLAIMS for one in module.CLAIMS),
)
