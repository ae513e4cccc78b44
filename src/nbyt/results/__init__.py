"""Results as types: what every JSON file of nbyt holds, and the one place that decodes it.

A file's hash proves that it is whole, not that nbyt wrote it. So each record that is read back is
decoded into a frozen type here, and one that does not fit is refused with the path of the key.
Code that is given a record need not check it again. No JAX.

    values       numbers, texts and estimates that records are made of; decode and plain
    training     stages, checkpoints, results and the marker of a run
    measurement  one stage's measurement and its diagnostics
    advice       advice.json, and what an advice keeps on its way
    sweep        sweep.json, its cells, failures and times
    study        study.json and its figures
    probes       a probed training: probes.json and its records
    commands     what is printed with --json and not stored, and the types that each command prints
    questions    the same for questions about libraries' settings
    schema       the JSON Schemas of all that is printed, shipped in the folder `schemas`
"""

from nbyt.results.advice import Advice, Costs, Untrained
from nbyt.results.measurement import Look, Measurement
from nbyt.results.probes import ProbedTraining, ProbeLog, ProbeRecord
from nbyt.results.study import Study
from nbyt.results.sweep import CellCurve, Failure, Sweep
from nbyt.results.training import CheckpointFacts, Marker, Result, StageFacts, TrainedStage
from nbyt.results.values import Data, decode, plain

__all__ = [
    "Advice",
    "CellCurve",
    "CheckpointFacts",
    "Costs",
    "Data",
    "Failure",
    "Look",
    "Marker",
    "Measurement",
    "ProbeLog",
    "ProbeRecord",
    "ProbedTraining",
    "Result",
    "StageFacts",
    "Study",
    "Sweep",
    "TrainedStage",
    "Untrained",
    "decode",
    "plain",
]
