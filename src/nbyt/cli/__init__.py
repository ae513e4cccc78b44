"""Commands: data on stdout, progress and remarks on stderr."""
