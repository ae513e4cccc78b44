"""What the other commands print with --json, and which types each command prints.

Advice, sweeps, studies and measurements are printed as they are stored; what is not stored, such as
a dry run, has its type here.
"""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from nbyt.results.advice import Advice, TimedLayout
from nbyt.results.measurement import ControlRow, MeasuredStage
from nbyt.results.questions import (
    AllDialects,
    CheckedConfig,
    CodedMessage,
    Compared,
    DescribedDialect,
    Explained,
    PartlyExplained,
    Translated,
)
from nbyt.results.study import Study
from nbyt.results.sweep import CellCounts, Sweep
from nbyt.results.training import TrainedLayout
from nbyt.results.values import (
    Count,
    Estimate,
    Layout,
    Names,
    NotNegative,
    Real,
    Record,
    Share,
    Size,
    Text,
    Texts,
)


class AdvisePlan(Record, frozen=True, kw_only=True):
    """`nbyt advise --dry-run`."""

    batch: Size
    layouts: Count
    arms: Text
    seeds: Count
    race_steps: Count
    pool_steps: Count
    timing_steps: Count
    seconds: Count


class SweepPlan(Record, frozen=True, kw_only=True):
    """`nbyt sweep --dry-run`."""

    layouts: Texts
    cells: Count
    updates_of_each: Count
    environment_steps: Count
    seconds: Count


class ProbePlan(Record, frozen=True, kw_only=True):
    """`nbyt probe --dry-run`: samples of the pool, and bytes of its parts and at most."""

    samples: Count
    process_bytes: Count
    pool_bytes: Count
    vector_bytes: Count
    program_bytes: Count
    bytes: Count
    devices: Count


class StudyPlan(Record, frozen=True, kw_only=True):
    """`nbyt reproduce --dry-run`."""

    study: Text
    experiments: Texts
    claims: Texts
    workers: Size
    minutes: Count
    memory_gb: Count


class PPOTrainPlan(Record, frozen=True, kw_only=True):
    """`nbyt train --dry-run`."""

    layout: Layout
    updates: Count
    gradient_steps: Count
    environment_steps: Count
    batch_bytes: Count
    stages_after_updates: tuple[Count, ...]


class DQNTrainPlan(Record, frozen=True, kw_only=True):
    """`nbyt train --algo dqn --dry-run`."""

    layout: TrainedLayout
    updates: Count
    gradient_steps: Count
    environment_steps: Count
    buffer_bytes: Count
    stages_after_updates: tuple[Count, ...]


class Trained(Record, frozen=True, kw_only=True):
    """`nbyt train`; steps_per_second: null if the run was complete already."""

    algo: Text
    env: Text
    final_return: Estimate
    episodes: Count
    steps_per_second: NotNegative | None
    layout: TrainedLayout
    updates: Count
    stages: Texts
    out: Text
    metrics: Text


class Timed(Record, frozen=True, kw_only=True):
    """`nbyt time`."""

    env: Text
    batch: Size
    layouts: tuple[TimedLayout, ...]
    out: Text


class Report(Record, frozen=True, kw_only=True):
    """`nbyt report`: the page, and what it is about."""

    report: Text
    env: Text | UnsetType | None = UNSET
    batch: Size | UnsetType = UNSET
    cells: CellCounts | UnsetType = UNSET
    probes: Count | UnsetType = UNSET
    study: Text | UnsetType = UNSET
    claims: Count | UnsetType = UNSET


class ControlFacts(Record, frozen=True, kw_only=True):
    """A control: what it shows, and its numbers beside their exact values."""

    name: Text
    sentence: Text
    rows: tuple[ControlRow, ...]


class Probed(MeasuredStage, frozen=True, kw_only=True):
    """`nbyt probe`; control: with --control, in place of a stage."""

    control: ControlFacts | UnsetType = UNSET


class Penalty(Record, frozen=True, kw_only=True):
    """What a sampler adds to the variance: by the formula, where there is one, and measured."""

    formula: Estimate | None
    measured: Estimate


class AuditRollouts(Record, frozen=True, kw_only=True):
    """The batches that a sampler is measured on; env: once they are collected."""

    env: Text | UnsetType = UNSET
    envs: Size
    steps: Size
    batches: Count
    samples: Count


class Audited(Record, frozen=True, kw_only=True):
    """`nbyt audit`; penalties and rollouts: unless --skip-rollout.

    unused: samples of an epoch that no mini-batch holds, the mean over updates.
    """

    sampler: Text
    ok: bool
    faults: tuple[CodedMessage, ...]
    coverage: Share
    variance_penalty: Estimate
    minibatch_sizes: tuple[Count, ...]
    unused: NotNegative
    remarks: Texts
    updates: Count
    penalties: dict[Text, Penalty] | UnsetType = UNSET
    rollouts: AuditRollouts | UnsetType = UNSET


class Fault(Record, frozen=True, kw_only=True):
    """A fault of an env, and how to fix it."""

    code: Text
    message: Text
    fix: Text


class CheckedEnv(Record, frozen=True, kw_only=True):
    """`nbyt check-env`; steps_per_second: by the number of envs."""

    env: Text
    kind: Text
    observation: Text
    action: Text
    autoreset: Text
    time_limit: Count | None
    copyable: bool
    steps_per_second: dict[Annotated[str, Meta(pattern="^[0-9]{1,9}$")], NotNegative]
    faults: tuple[Fault, ...]


class ControlResult(Record, frozen=True, kw_only=True):
    """The doctor's control: a return measured and calculated."""

    env: Text
    measured: Estimate
    exact: Real
    standard_errors_apart: Real
    agrees: bool


class Diagnosis(Record, frozen=True, kw_only=True):
    """`nbyt doctor`; constraints_refreshed: the date of the newest versions that were tested."""

    versions: Names
    constraints_refreshed: Text
    devices: Texts
    control: ControlResult


class CheckedFolder(Record, frozen=True, kw_only=True):
    """`nbyt doctor --dir`: the files that are bad."""

    folder: Text
    bad: Texts


class WrittenFile(Record, frozen=True, kw_only=True):
    """`nbyt calculator`."""

    path: Text
    bytes: Count


# The data of each command, in any of these forms.
PRINTED: dict[str, tuple[type[Record], ...]] = {
    "advise": (Advice, AdvisePlan),
    "audit": (Audited, AuditRollouts),
    "calculator": (WrittenFile,),
    "check-config": (CheckedConfig,),
    "check-env": (CheckedEnv,),
    "compare": (Compared,),
    "dialects": (AllDialects, DescribedDialect),
    "doctor": (Diagnosis, CheckedFolder),
    "explain": (Explained, PartlyExplained),
    "probe": (Probed, ProbePlan),
    "report": (Report,),
    "reproduce": (Study, StudyPlan),
    "sweep": (Sweep, SweepPlan),
    "time": (Timed,),
    "train": (Trained, PPOTrainPlan, DQNTrainPlan),
    "translate": (Translated,),
}
