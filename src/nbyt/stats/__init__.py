"""Statistics: NumPy and SciPy only. No number without its error."""

from nbyt.stats.estimate import Estimate as Estimate
from nbyt.stats.estimate import mean as mean
from nbyt.stats.lags import LagProducts as LagProducts
from nbyt.stats.lags import LagProfile as LagProfile
from nbyt.stats.lags import PhaseProducts as PhaseProducts
from nbyt.stats.lags import lag_profile as lag_profile
from nbyt.stats.lags import phase_variance as phase_variance
from nbyt.stats.pool import PoolEstimates as PoolEstimates
from nbyt.stats.products import Products as Products
from nbyt.stats.ranking import Candidate as Candidate
from nbyt.stats.ranking import Comparison as Comparison
from nbyt.stats.ranking import Ranking as Ranking
from nbyt.stats.ranking import compare as compare
from nbyt.stats.ranking import rank as rank
from nbyt.stats.summary import GradientEstimates as GradientEstimates
from nbyt.stats.summary import describe as describe
from nbyt.stats.variance import BiasParts as BiasParts
from nbyt.stats.variance import bias_parts as bias_parts
