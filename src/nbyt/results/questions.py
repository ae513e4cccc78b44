"""What `explain`, `translate`, `compare`, `dialects` and `check-config` print with --json."""

from typing import Literal

from msgspec import UNSET, UnsetType, field

from nbyt.results.values import Count, Leaf, NotNegative, Record, Size, Text, Texts

# Settings under the names of a library.
Settings = dict[Text, Leaf | list[Leaf]]


class ExplainedLayout(Record, frozen=True, kw_only=True):
    """The sizes of an update in any library.

    fragment: steps over which advantages are computed. minibatches: of an epoch; a mean where a
    library cuts all epochs of an update at once.
    """

    envs: Size
    steps: Size
    fragment: Size
    batch: Size
    minibatch: Count
    minibatches: NotNegative
    epochs: Size


class ExplainedSchedule(Record, frozen=True, kw_only=True):
    """Updates and gradient steps; null where no total is given.

    minibatch_runs: size and count of equal mini-batches, in their order. minibatch_sizes: each of
    them, null where there are too many to list.
    """

    updates: Count | None
    gradient_steps_per_update: Count
    gradient_steps: Count | None
    minibatch_sizes: tuple[Count, ...] | None
    minibatch_runs: tuple[tuple[Count, Count], ...]
    sizes_of: Literal["update", "epoch"]
    samples_per_gradient_step: NotNegative | None
    uses_per_sample: NotNegative
    left_out_per_epoch: Count


class RuleText(Record, frozen=True, kw_only=True):
    """A rule of a library: its code, and what it does."""

    code: Text
    text: Text


class RuleTexts(Record, frozen=True, kw_only=True):
    """The rules of a library."""

    collect: RuleText
    ragged: RuleText
    mixing: RuleText
    normalise: RuleText
    time_limits: RuleText
    updates: RuleText
    total: RuleText


class FoundTrap(Record, frozen=True, kw_only=True):
    """A trap, what to change, and the nearest values without it."""

    code: Text
    message: Text
    fix: Text
    nearest: tuple[Settings, ...]


class Explained(Record, frozen=True, kw_only=True):
    """`nbyt explain`: a library's settings in full."""

    dialect: Text
    library: Text
    version: Text
    layout: ExplainedLayout
    schedule: ExplainedSchedule
    rules: RuleTexts
    traps: tuple[FoundTrap, ...]
    filled_defaults: Settings
    given: Settings
    ignored: Texts
    notes: Texts


class MissingSetting(Record, frozen=True, kw_only=True):
    """A setting that was not given, and where it is set."""

    key: Text
    meaning: Text
    where: Text


class PartlyExplained(Record, frozen=True, kw_only=True):
    """`nbyt explain` with status `partial`: what some settings say although others are missing."""

    dialect: Text
    library: Text
    known: dict[Text, Count]
    says: Texts
    missing: tuple[MissingSetting, ...]


class FoundDifference(Record, frozen=True, kw_only=True):
    """One difference after a translation; loss: the layout itself is not the same."""

    code: Text
    message: Text
    loss: bool
    kind: Literal["lost", "left", "differs", "set"]


class Translated(Record, frozen=True, kw_only=True):
    """`nbyt translate`: settings in another library's words."""

    source: Text = field(name="from")
    to: Text
    settings: Settings
    learning: Settings
    paste: Text
    differences: tuple[FoundDifference, ...]
    exact: bool
    not_same: Texts
    layout: ExplainedLayout
    source_layout: ExplainedLayout
    traps: tuple[FoundTrap, ...]
    filled_defaults: Settings


class ChangedNumber(Record, frozen=True, kw_only=True):
    """A number of both sides; factor: the second over the first."""

    name: Text
    before: NotNegative
    after: NotNegative
    factor: NotNegative


class CodedMessage(Record, frozen=True, kw_only=True):
    """A sentence and its code."""

    code: Text
    message: Text


class Compared(Record, frozen=True, kw_only=True):
    """`nbyt compare`: two settings, and what changed between them."""

    before: Explained
    after: Explained
    changes: tuple[ChangedNumber, ...]
    findings: tuple[CodedMessage, ...]
    equal_batch: tuple[Settings, ...]


class ReplayWords(Record, frozen=True, kw_only=True):
    """The words of a library's replay agent."""

    algorithm: Text
    minibatch: Text
    capacity: Text
    start: Text
    frequency: Texts
    replacement: Text
    note: Text
    defaults: Settings


class DescribedDialect(Record, frozen=True, kw_only=True):
    """`nbyt dialects ID`: a library's words, defaults and rules."""

    id: Text
    library: Text
    algorithm: Text
    version: Text
    read_on: Text
    live: Text
    source: Texts
    words: dict[Text, Texts]
    learning: dict[Text, Text]
    derived: dict[Text, Text]
    aliases: dict[Text, Text]
    defaults: Settings
    presets: dict[Text, Settings]
    rules: RuleTexts
    replay: ReplayWords | None
    notes: Texts


class AllDialects(Record, frozen=True, kw_only=True):
    """`nbyt dialects`: every library."""

    dialects: tuple[DescribedDialect, ...]


class CheckedEntry(Record, frozen=True, kw_only=True):
    """An entry of a configuration file; layout: null where it could not be read."""

    file: Text
    entry: Text
    traps: tuple[FoundTrap, ...]
    error: Text
    layout: Text | None
    missing: Texts | UnsetType = UNSET


class CheckedConfig(Record, frozen=True, kw_only=True):
    """`nbyt check-config`: every entry of every file."""

    checked: tuple[CheckedEntry, ...]
    files: Count
