"""Files that survive: runs, stages, checkpoints, results and metrics on disk.

Everything nbyt writes goes through this room, and every file it reads back is taken for hostile
until its kind, size, format and SHA-256 have been checked. A write is whole or did not happen;
nothing here needs JAX, and nothing read here is ever executed.

    paths     the one door for writes: folders held open, no link below them followed
    atomic    bytes in and out: temporary file, fsync, rename; regular files of bounded size
    seal      JSON records that carry their own hash, format and kind
    header    the checks on a safetensors file before it is parsed
    tensors   arrays with facts: a pair that is rewritten, or a folder that is written once
    metrics   rows of numbers as CSV, read back to the bit
    manifest  what a run ran on, without secrets
    folder    the run folder and what it holds
    run       opening a run: new, resumed or refused
    verify    every bad file of a run
    text      names made safe for file systems and terminals
"""
