"""Throughput: nbyt against its peers, interleaved in one run, as ratios with intervals."""
