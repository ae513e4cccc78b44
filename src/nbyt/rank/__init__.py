"""From measurements and costs to an answer: which layout, how sure, and why. No JAX."""

from nbyt.rank.answer import Answer, Place, answer
from nbyt.rank.evidence import Evidence, StageEvidence, evidence_of

__all__ = ["Answer", "Evidence", "Place", "StageEvidence", "answer", "evidence_of"]
