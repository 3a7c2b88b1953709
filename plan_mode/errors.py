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



class YamlError(PlanModeError):
    """A text that can't be read as YAML. ``line`` and ``column`` count from 1, and are 0 where no place is to blame.

    ``reason`` says what is wrong there, ``hint`` what to do.
    """

    def __init__(self, line: int, column: int, reason: str, hint: str = "") -> None:
        self.line, self.column, self.reason, self.hint = line, column, reason, hint
        where = f"line {line}, column {column}: " if line else ""
        super().__init__(f"{where}{reason}. {hint}".strip())


class YamlMissing(YamlError):
    """Neither PyYAML nor what may stand in for it is installed, so no YAML can be read. ``command`` installs it."""

    def __init__(self, command: str) -> None:
        self.command = command
        super().__init__(0, 0, "mode files can't be read, because PyYAML isn't installed",
                         f"Install it into Hermes' environment: {command}")


class FileRestrictionError(PlanModeError):
    """A file that the mode's edit rule doesn't let ``tool`` write. ``pattern`` and ``description`` are the rule's."""

    def __init__(self, mode: str, tool: str, pattern: str, description: str, path: str) -> None:
        self.mode, self.tool, self.pattern, self.description, self.path = mode, tool, pattern, description, path
        about = f" ({description})" if description else ""
        super().__init__(f"FileRestrictionError: in {mode} mode {tool} may only write files whose path in the project matches "
                         f"{pattern}{about}; {path!r} doesn't")


class PatternError(PlanModeError):
    """A ``fileRegex`` that can't be used. ``position`` is the offset of the character that is at fault, from 0.

    ``reason`` says what is wrong there, ``hint`` what to write instead.
    """

    def __init__(self, pattern: str, position: int, reason: str, hint: str) -> None:
        self.pattern, self.position, self.reason, self.hint = pattern, position, reason, hint
        shown = repr(pattern) if len(pattern) <= 512 else f"{pattern[:60]!r}..."
        super().__init__(f"The pattern {shown} can't be used: at position {position}, {reason}. {hint}".strip())
