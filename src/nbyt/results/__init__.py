"""Results as types: what every JSON file of nbyt holds, and the one door that decodes it.

A file's hash proves that it is whole, not that nbyt wrote it. So each record that is read back is
decoded into a frozen type here, and what does not fit is refused with the path of the key. Code
behind this door need not ask again. No JAX.

    decoding     decode and plain: dictionaries to types and back
    values       the numbers, texts and estimates that records are made of
    training     stages, checkpoints, results and the marker of a run
    measurement  one stage's measurement, and the closer look at it
    advice       advice.json, and what an advice keeps on its way
    sweep        sweep.json, its cells, failures and times
    figures      the figures of a study
    study        study.json
    probes       a probed training: probes.json and its records
"""

from nbyt.results.decoding import decode, plain

__all__ = ["decode", "plain"]
