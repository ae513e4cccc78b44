"""The exact oracle: moments of PPO's gradients on environments that are tables.

All of it is arithmetic on the tables in double precision; nothing is sampled.
"""

from nbyt.exact.controls import Control as Control
from nbyt.exact.controls import frozenlake as frozenlake
from nbyt.exact.controls import garnet as garnet
from nbyt.exact.controls import sticky as sticky
from nbyt.exact.controls import taxi as taxi
from nbyt.exact.correlation import Lags as Lags
from nbyt.exact.correlation import LongRun as LongRun
from nbyt.exact.correlation import Phase as Phase
from nbyt.exact.correlation import lags as lags
from nbyt.exact.correlation import long_run as long_run
from nbyt.exact.correlation import phase as phase
from nbyt.exact.origins import Sources as Sources
from nbyt.exact.origins import sources as sources
from nbyt.exact.rollout_moments import Bias as Bias
from nbyt.exact.rollout_moments import GradientMoments as GradientMoments
from nbyt.exact.rollout_moments import Moments as Moments
from nbyt.exact.rollout_moments import moments as moments
from nbyt.exact.scores import Features as Features
from nbyt.exact.trajectory import Trajectories as Trajectories
from nbyt.exact.trajectory import possible_trajectories as possible_trajectories
from nbyt.exact.trajectory import trajectory_log_probability as trajectory_log_probability
from nbyt.exact.trajectory import trajectory_probability as trajectory_probability
from nbyt.exact.trajectory import visits as visits
