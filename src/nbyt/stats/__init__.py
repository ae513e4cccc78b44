"""Statistics: NumPy and SciPy only. No number without its error."""

from nbyt.stats.estimate import Estimate as Estimate
from nbyt.stats.estimate import mean as mean
