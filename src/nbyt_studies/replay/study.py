"""The note as a study: its experiments and its claims, in the order of the page."""

from nbyt_studies.replay import claims, experiments
from nbyt_studies.study import Study

REPLAY = Study(
    name="replay",
    title="Mini-batches and experience replay: what holds",
    lead=(
        "A note on mini-batches in deep reinforcement learning says what drawing them at random "
        "from a replay buffer does to correlation, variance, speed, stability and generalisation. "
        "Five findings, then each of its statements, in our words, beside a measurement of it "
        "with DQN; and the ways in which PPO libraries cut their batches, measured alike."
    ),
    experiments=experiments.ALL,
    claims=claims.ALL,
    findings=claims.FINDINGS,
    cpu_minutes=(9, 25),
    worker_gb=2,
)
