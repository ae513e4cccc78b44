"""What a training keeps: stages, checkpoints, its result, and the marker of its folder."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from nbyt.results.values import (
    LONGEST,
    Count,
    Estimate,
    Names,
    NotNegative,
    OfLayout,
    Positive,
    Real,
    Record,
    Seed,
    Share,
    Size,
    Text,
    Total,
    Tree,
)

Sizes = Annotated[tuple[Size, ...], Meta(min_length=1, max_length=LONGEST)]
Bounds = Annotated[tuple[Text, ...], Meta(min_length=1, max_length=LONGEST)]


class Settings(Record, frozen=True, kw_only=True):
    """Settings of PPO or of DQN; a policy made by hand has few of them, or none."""

    gamma: Share | UnsetType = UNSET
    lam: Share | UnsetType = field(name="lambda", default=UNSET)
    learning_rate: Positive | UnsetType = UNSET
    anneal: bool | UnsetType = UNSET
    clip: Positive | UnsetType = UNSET
    value_clip: Positive | UnsetType | None = UNSET
    entropy_coefficient: NotNegative | UnsetType = UNSET
    value_coefficient: NotNegative | UnsetType = UNSET
    max_grad_norm: Positive | UnsetType = UNSET
    clip_jointly: bool | UnsetType = UNSET
    normalise_advantages: Literal["minibatch", "batch", "off"] | UnsetType = UNSET
    normalise_observations: bool | UnsetType = UNSET
    normalise_rewards: bool | UnsetType = UNSET
    target_kl: Positive | UnsetType | None = UNSET
    network: Text | UnsetType = UNSET
    activation: Text | UnsetType = UNSET
    shared: bool | UnsetType = UNSET
    stagger: bool | UnsetType = UNSET
    on_nonfinite: Literal["stop", "drop"] | UnsetType = UNSET
    optimizer: Text | UnsetType = UNSET
    double: bool | UnsetType = UNSET
    huber: Positive | UnsetType = UNSET
    target_every: Size | UnsetType = UNSET
    target_mix: Share | UnsetType = UNSET
    sampling: Text | UnsetType = UNSET
    epsilon_start: Share | UnsetType = UNSET
    epsilon_end: Share | UnsetType = UNSET
    exploration: Share | UnsetType = UNSET
    initial: Text | UnsetType = UNSET


class TrainedLayout(OfLayout, frozen=True, kw_only=True):
    """The sizes that a stage was trained with: those of PPO, or of DQN."""

    batch: Size | UnsetType = UNSET
    minibatch: Size | UnsetType = UNSET
    minibatches: Size | UnsetType = UNSET
    epochs: Size | UnsetType = UNSET
    buffer: Size | UnsetType = UNSET
    warm_up: Count | UnsetType = UNSET
    gradient_steps: Count | UnsetType = UNSET


class Head(Record, frozen=True, kw_only=True):
    """The distribution of actions; bounds are text, because JSON has no infinity."""

    family: Literal["Categorical", "MultiCategorical", "Gaussian"]
    actions: Size | UnsetType = UNSET
    sizes: Sizes | UnsetType = UNSET
    shape: Sizes | UnsetType = UNSET
    low: Bounds | UnsetType = UNSET
    high: Bounds | UnsetType = UNSET


class Network(Record, frozen=True, kw_only=True):
    """The form of a network."""

    kind: Literal["mlp", "cnn", "table"]
    widths: Annotated[tuple[Size, ...], Meta(max_length=LONGEST)]
    activation: Literal["tanh", "relu", "swish"]


class Policy(Record, frozen=True, kw_only=True):
    """The form of a policy, without its weights."""

    kind: Literal["vector", "image", "index"]
    shape: Sizes
    head: Head
    network: Network
    shared: bool
    channels_first: bool


class StageFacts(Record, frozen=True, kw_only=True):
    """stage.json: a frozen policy and where it comes from; one made by hand has only a form."""

    policy: Policy
    algo: Literal["ppo", "dqn"] | UnsetType = UNSET
    env: Text | UnsetType = UNSET
    updates: Count | UnsetType = UNSET
    steps: Count | UnsetType = UNSET
    layout: TrainedLayout | UnsetType = UNSET
    seed: Seed | UnsetType = UNSET
    settings: Settings | UnsetType = UNSET
    mean_return: Real | UnsetType | None = UNSET
    reward_scale: Annotated[float, Meta(ge=1e-12, le=1e30)] | UnsetType | None = UNSET


class TrainedStage(StageFacts, frozen=True, kw_only=True):
    """stage.json of a training of nbyt's own, which knows all of it."""

    env: Text
    updates: Total
    steps: Total
    layout: TrainedLayout
    settings: Settings
    mean_return: Real | None


class CheckpointFacts(Record, frozen=True, kw_only=True):
    """checkpoint.json: how far the training is, and how many rows its metrics have."""

    updates: Count
    rows: Count


class FinalReturn(Estimate, frozen=True, kw_only=True):
    """The mean return of the trained policy over so many episodes."""

    replicates: Count


class Result(Record, frozen=True, kw_only=True):
    """result.json: what came of a training."""

    env: Text
    final_return: FinalReturn
    unfinished: Count
    spoiled: Count
    longest: Size
    layout: TrainedLayout
    updates: Total


class Manifest(Record, frozen=True, kw_only=True):
    """What a run ran on; a folder that is opened by hand may not say."""

    command: Text | UnsetType = UNSET
    settings: Tree | UnsetType = UNSET
    seed: Seed | UnsetType = UNSET
    device: Text | UnsetType = UNSET
    versions: Names | UnsetType = UNSET
    platform: Text | UnsetType = UNSET
    environment: Names | UnsetType = UNSET
    started: Text | UnsetType = UNSET


class Marker(Record, frozen=True, kw_only=True):
    """nbyt-run.json: the settings that decide a run's numbers, and what it ran on."""

    identity: Tree
    manifest: Manifest
