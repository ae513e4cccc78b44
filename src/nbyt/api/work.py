"""What trains and measures: nbyt.advise, nbyt.probe, nbyt.sweep, nbyt.train, nbyt.audit."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from nbyt.advice.result import Advice
from nbyt.advice.run import advise as advised
from nbyt.api.calling import public
from nbyt.api.training import Training
from nbyt.collect import Progress
from nbyt.envs.lookup import resolve
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.layout import Layout
from nbyt.measure.measurement import Measurement
from nbyt.measure.probe import MAX_SAMPLES
from nbyt.measure.probe import probe as probed
from nbyt.measure.request import CHAINS, Resources, Start
from nbyt.minibatch import Audit
from nbyt.minibatch import audit as audited
from nbyt.policy.actor_critic import Stage
from nbyt.progress import Shown, watching
from nbyt.store.manifest import manifest
from nbyt.store.run import open_run
from nbyt.store.text import slug
from nbyt.sweeps.cells import Runner
from nbyt.sweeps.run import Sweep, run_sweep
from nbyt.training import hardware, loop
from nbyt.training.plan import EPOCHS, MINIBATCH, PPOPlan, PPOSettings, stage_updates

Env = str | DeviceEnv | HostEnv | Callable[..., Any]
StageLike = Stage | Path | str
Vector = Literal["sync", "async"]


@public
def advise(
    env: Env,
    *,
    batch: int = 2048,
    objective: Literal["time", "samples"] = "time",
    trainings: float | None = None,
    costs: str | None = None,
    total: int | None = None,
    current: tuple[int, int] | None = None,
    effort: Literal["quick", "normal", "thorough"] = "normal",
    steps: Sequence[int] = (),
    lambdas: Sequence[float] | None = None,
    stages: int | None = None,
    stages_from: Sequence[StageLike] = (),
    runs: Sequence[Path | str] = (),
    minibatch: int | None = None,
    epochs: int = EPOCHS,
    settings: PPOSettings | None = None,
    max_envs: int | None = None,
    vector: Vector = "sync",
    memory: int = 2**30,
    seed: int = 0,
    out: Path | str | None = None,
    force: bool = False,
    runner: Runner | None = None,
    progress: Shown = True,
) -> Advice:
    with watching(progress) as told:
        return advised(
            env,
            batch=batch,
            objective=objective,
            trainings=trainings,
            costs=costs,
            total=total,
            current=current,
            effort=effort,
            steps=steps,
            lambdas=lambdas,
            stages=stages,
            stages_from=stages_from,
            runs=runs,
            minibatch=minibatch,
            epochs=epochs,
            settings=settings,
            max_envs=max_envs,
            vector=vector,
            memory=memory,
            seed=seed,
            out=out,
            force=force,
            runner=runner,
            progress=told,
        )


@public
def probe(
    env: Env,
    policy: StageLike,
    *,
    batch: int,
    steps: Sequence[int] | int | None = None,
    gamma: float | None = None,
    lam: Sequence[float] | float | None = None,
    chains: int = CHAINS,
    seed: int = 0,
    start: Start = "stationary",
    advantages: Literal["raw", "normalised"] | None = None,
    chain_steps: int | None = None,
    precision: float | None = None,
    max_samples: int = MAX_SAMPLES,
    phase: bool = True,
    sources: Sequence[int] | int = (),
    resources: Resources | None = None,
    progress: Shown = True,
) -> Measurement:
    with watching(progress) as told:
        return probed(
            env,
            policy,
            batch=batch,
            steps=steps,
            gamma=gamma,
            lam=lam,
            chains=chains,
            seed=seed,
            start=start,
            advantages=advantages,
            chain_steps=chain_steps,
            precision=precision,
            max_samples=max_samples,
            phase=phase,
            sources=sources,
            resources=resources,
            progress=told,
        )


# Said once, where the work is done.
advise.__doc__, probe.__doc__ = advised.__doc__, probed.__doc__


@public
def sweep(
    env: Env,
    *,
    batch: int,
    seeds: int = 16,
    total: int = 500_000,
    layouts: Sequence[tuple[int, int]] = (),
    minibatch: int | None = None,
    epochs: int = EPOCHS,
    settings: PPOSettings | None = None,
    max_envs: int | None = None,
    first_seed: int = 0,
    vector: Vector = "sync",
    advice: bool = True,
    retries: int = 0,
    retry_failed: bool = False,
    out: Path | str | None = None,
    force: bool = False,
    runner: Runner | None = None,
    progress: Shown = True,
) -> Sweep:
    """Train every layout of a batch with every seed, and compare what they reach.

    Parameters
    ----------
    env
        A name such as "CartPole-v1" or "gym:Ant-v5", or a function that makes an env.
    batch
        Samples of a batch, N x T, the same for all layouts.
    seeds, first_seed, total
        Trainings of each layout, the first of their seeds, and env steps of each training.
    layouts, max_envs
        Pairs (envs, steps), the powers of two by default, and the most envs of one.
    minibatch, epochs, settings
        How PPO learns.
    vector
        Host envs in this process ("sync"), or in a process each ("async").
    advice
        Also say what would have been advised, and compare it with the trainings.
    retries, retry_failed
        How often a training that failed is tried again, and True to try those that an earlier call
        gave up.
    out, force
        The folder of the sweep, which the same call resumes; True to clear another sweep from it.
    runner
        What trains. By default this process, or worker processes for a host env given by name.
    progress
        False for silence, or a function that is told what is under way.

    Returns
    -------
    Sweep
        The results in layouts, and the page in report; print it for the verdict.
    """
    with watching(progress) as told:
        return run_sweep(
            env,
            batch=batch,
            seeds=seeds,
            total=total,
            layouts=layouts,
            minibatch=minibatch,
            epochs=epochs,
            settings=settings,
            max_envs=max_envs,
            first_seed=first_seed,
            vector=vector,
            advice=advice,
            retries=retries,
            retry_failed=retry_failed,
            out=out,
            force=force,
            runner=runner,
            progress=told,
        )


@public
def train(
    env: Env,
    *,
    envs: int = 8,
    steps: int = 256,
    minibatch: int = MINIBATCH,
    epochs: int = EPOCHS,
    total: int = 500_000,
    settings: PPOSettings | None = None,
    stages: int | None = None,
    vector: Vector = "sync",
    seed: int = 0,
    out: Path | str | None = None,
    force: bool = False,
    progress: Shown = True,
) -> Training:
    """Train PPO with exactly the layout you name, and keep stages.

    Parameters
    ----------
    env
        A name such as "CartPole-v1" or "gym:Ant-v5", or a function that makes an env.
    envs, steps, minibatch, epochs
        The layout: N, T, samples of a gradient step, and passes over the batch.
    total
        Env steps of the whole training.
    settings
        How PPO learns.
    stages
        Keep so many frozen policies, evenly spaced, instead of early, middle and final.
    vector
        Host envs in this process ("sync"), or in a process each ("async").
    seed
        Seed of all randomness.
    out, force
        Folder of the run, which the same call resumes; True to clear another run from it.
    progress
        False for silence, or a function that is told what is under way.

    Returns
    -------
    Training
        The final return, the learning curve and the stages.

    Examples
    --------
    >>> import tempfile
    >>> import nbyt
    >>> with tempfile.TemporaryDirectory() as out:
    ...     trained = nbyt.train(
    ...         "FrozenLake-v1", envs=4, steps=8, minibatch=16, total=128, out=out
    ...     )
    >>> trained.layout["batch"]
    32
    """
    found, layout = resolve(env), Layout(envs, steps, minibatch, epochs)
    updates = layout.updates(total)
    kept = stage_updates(updates, count=stages)
    settings = settings or PPOSettings()
    plan = PPOPlan(found.id, layout, total, seed, settings, kept, vector)
    name = slug(f"{found.id.rpartition(':')[2]}-{envs}x{steps}-seed{seed}")
    made_by = manifest("train", plan.identity(), seed, hardware.describe())
    identity = {**plan.identity(), "from": ""}  # as `nbyt train` has it
    folder = open_run(Path(out or Path("runs") / name), identity, manifest=made_by, force=force)
    with watching(progress) as told:
        loop.train(plan, folder, (_Told(told, updates),), env=found)
    return Training.read(folder)


class _Told:
    """A listener of the training loop that passes on how far it is."""

    def __init__(self, progress: Progress, updates: int) -> None:
        self._progress, self._updates = progress, updates

    def on_update(self, row: dict[str, Any]) -> None:
        self._progress("updates", int(row["update"]), self._updates)


@public
def audit(
    sampler: Any,
    *,
    batch: int,
    minibatch: int,
    epochs: int,
    seed: int = 0,
    envs: int | None = None,
    steps: int | None = None,
    order: Literal["time-major", "env-major"] = "time-major",
) -> Audit:
    return audited(
        sampler,
        batch=batch,
        minibatch=minibatch,
        epochs=epochs,
        seed=seed,
        envs=envs,
        steps=steps,
        order=order,
    )


audit.__doc__ = (audited.__doc__ or "").partition("    Examples\n")[0]
