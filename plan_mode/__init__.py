"""plan-mode: a Hermes Agent plugin that lets an agent plan and nothing else, until a person approves."""

from .plugin import register

__all__ = ["register"]
__version__ = "0.1.0"
