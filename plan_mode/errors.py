"""One tree of errors. Data stands in attributes; the text is made of the data.

Every text says what happened, why, and what to do about it. A command prints ``str(error)`` as it is.
"""

from __future__ import annotations


class PlanModeError(Exception):
    """Anything this plugin raises on purpose."""


class Refusal(PlanModeError):
    """A command that can't be carried out. Nothing was changed.

    ``rule`` is a stable identifier, ``reason`` says what happened and why, ``hint`` what to do.
    """

    def __init__(self, rule: str, reason: str, hint: str = "") -> None:
        self.rule, self.reason, self.hint = rule, reason, hint
        super().__init__(f"{reason} {hint}".strip())


class StateError(PlanModeError):
    """The state folder can't be used as asked. ``path`` is what was touched, ``cause`` the system's own words."""

    def __init__(self, path: str, cause: str) -> None:
        self.path, self.cause = path, cause
        super().__init__(f"plan-mode can't use its state at {path}: {cause}.")


class LockTimeout(StateError):
    """Another process held the state lock for longer than we wait."""

