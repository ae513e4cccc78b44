"""A post on parallel environments and rollout steps in PPO, measured claim by claim."""
