"""Files that survive: runs, stages, checkpoints, results and metrics on disk.

Everything nbyt writes goes through this package, and every file it reads back is checked for its
kind, size, format and SHA-256 first. A write is whole or did not happen; nothing here needs JAX,
and nothing read here is ever executed.

    run       the folder of a run: opened, resumed or refused; read, written and verified
    files     the table of files that folders hold, and the type of each
    formats   JSON that carries its own hash, and rows of numbers as CSV
    tensors   arrays with facts: a pair that is rewritten, or a folder that is written once
    atomic    bytes in and out: temporary file, fsync, rename; regular files of bounded size
    paths     the one door for writes: folders held open, no link below them followed
    manifest  what a run ran on, without secrets
    text      names made safe for file systems and terminals
"""
