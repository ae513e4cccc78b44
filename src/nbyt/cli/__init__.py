"""Commands: data on stdout, talk on stderr."""
