"""The course that a plan asks for."""

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.policy.actor_critic import Params
from nbyt.train.adaptive_course import AdaptiveCourse
from nbyt.train.adaptive_plan import AdaptivePlan
from nbyt.train.course import Course
from nbyt.train.dqn_course import DQNCourse
from nbyt.train.dqn_plan import DQNPlan
from nbyt.train.plan import Plan
from nbyt.train.ppo_course import PPOCourse

AnyPlan = Plan | AdaptivePlan | DQNPlan


def course_of(plan: AnyPlan, env: DeviceEnv | HostEnv, weights: Params | None = None) -> Course:
    """Learning as planned, before its first update; weights: those to begin with."""
    if isinstance(plan, DQNPlan):
        return DQNCourse(plan, env, weights)
    if isinstance(plan, AdaptivePlan):
        return AdaptiveCourse(plan, env, weights)
    return PPOCourse(plan, env, weights)
