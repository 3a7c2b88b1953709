"""The door of the directory plugin: hands ``register`` on, and nothing else."""

from .plan_mode import register

__all__ = ["register"]
