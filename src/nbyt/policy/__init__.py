"""Actor-critics: networks, action distributions, observation moments, and frozen stages."""

from nbyt.policy.actor_critic import ActorCritic as ActorCritic
from nbyt.policy.actor_critic import Params as Params
from nbyt.policy.actor_critic import Stage as Stage
from nbyt.policy.actor_critic import table as table
from nbyt.policy.q_policy import QPolicy as QPolicy
