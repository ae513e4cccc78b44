"""The post as a study: its experiments and its claims, in the order of the page."""

from nbyt_studies.post import claims, experiments
from nbyt_studies.study import Study

POST = Study(
    name="post",
    title="Parallel environments and rollout steps: what holds",
    lead=(
        "A post on the trade-off between parallel environments N and rollout steps T in PPO says "
        "how a batch's layout, its correlations, its length and its mini-batches act on the "
        "gradient. Five findings, then each of its statements, section by section, in our words "
        "and beside a number that was measured for it."
    ),
    experiments=experiments.ALL,
    claims=claims.ALL,
    findings=claims.FINDINGS,
    cpu_minutes=(8, 25),
    worker_gb=2,
)
