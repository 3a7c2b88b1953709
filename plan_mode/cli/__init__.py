"""``hermes plan-mode ...`` and ``python -m plan_mode ...``: what the operator can do on the machine itself.

Whoever has a terminal here owns the files; nothing asks who they are.
"""

from .parser import HELP, Cli, main

__all__ = ["HELP", "Cli", "main"]
