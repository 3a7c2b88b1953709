"""Which model a mode works with: the one that a person gave it, else the one that its definition names.

What a person gives is one small file for each mode, beside the state of the sessions and for all of them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from .disk import write_whole
from .errors import StateError
from .modes.model import Mode, ModelChoice

MOST_CHARACTERS: Final = 256
_WORD: Final = re.compile(rf"[^\s\x00-\x1f\x7f]{{1,{MOST_CHARACTERS}}}\Z")


def is_name(text: object) -> bool:
    """Whether a text can be the name of a model or of a provider."""
    return isinstance(text, str) and _WORD.match(text) is not None


@dataclass(frozen=True, slots=True)
class Own:
    """A session's own model: as it was when its mode was first seen at work, and as it is now, in the turn seen last.

    ``strayed``: models that the host went over to within a turn, so that no person chose them. ``refused``: the provider
    doesn't have the mode's model. ``suggested``: the person was told of it.
    """

    activation: str
    slug: str
    model: ModelChoice
    current: ModelChoice
    turn: str
    strayed: frozenset[ModelChoice] = frozenset()
    refused: bool = False
    suggested: bool = False

    @property
    def is_chosen(self) -> bool:
        """Whether a person has chosen the current model while the mode was on."""
        return self.current != self.model and self.current not in self.strayed

    def then(self, current: ModelChoice, turn: str) -> Own:
        """The same after another request: a change within a turn is the host's doing."""
        strays = turn == self.turn and current not in (self.model, self.current)
        return replace(self, current=current, turn=turn, strayed=self.strayed | {current} if strays else self.strayed)


class Models:
    """Thread-safe, and between processes: each change is one rename."""

    def __init__(self, data_dir: Callable[[], str]) -> None:
        self._data_dir = data_dir

    def of(self, mode: Mode) -> ModelChoice | None:
        """The model of a mode; None where nobody named one. Never raises: a file that can't be read names none."""
        return self.chosen(mode.slug) or mode.model

    def chosen(self, slug: str) -> ModelChoice | None:
        """The model that a person gave to a mode."""
        try:
            with open(self._path(slug), encoding="utf-8") as file:
                said = json.loads(file.read(16 * MOST_CHARACTERS))
            model, provider = said["model"], said["provider"]
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        return ModelChoice(model, provider) if is_name(model) and (provider == "" or is_name(provider)) else None

    def choose(self, slug: str, choice: ModelChoice | None) -> None:
        """Give a mode a model; None takes back what a person gave it. Raises StateError."""
        path = self._path(slug)
        if choice is not None:
            write_whole(path, json.dumps({"model": choice.model, "provider": choice.provider}))
            return
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as exc:
            raise StateError(path, exc.strerror or str(exc)) from exc

    def _path(self, slug: str) -> str:
        return os.path.join(self._data_dir(), "models", f"{slug}.json")
