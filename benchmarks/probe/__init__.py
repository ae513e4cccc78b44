"""The probe's speed: against brute force, against peers' per-sample gradients, and its memory."""
