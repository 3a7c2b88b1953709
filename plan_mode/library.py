"""The modes of one profile as sessions have them: what files say now, and what each session was pinned with."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, Literal

from . import pins
from .errors import Refusal
from .modes.builtin import BUILTIN, PLAN
from .modes.model import Mode, widens
from .modes.registry import Known, Listing, Offered, Registry
from .modes.rules import Rules
from .pins import Pinned
from .state.record import SessionRecord

MOST_REMEMBERED: Final = 256

Drift = Literal["same", "narrower", "changed", "gone"]
"""How a mode's file stands to what a session was pinned with; only what is provably narrower is taken without a person."""


class Library:
    """Thread-safe: what is remembered is immutable, and found again at the worst."""

    def __init__(self, data_dir: Callable[[], str], home: Callable[[], str], config_modes: Callable[[], Any]) -> None:
        self._data_dir = data_dir
        self._registry = Registry(home, lambda: os.path.join(data_dir(), "trusted-modes"), config_modes)
        self._pinned: dict[tuple[str, str], Pinned] = {}

    def listing(self, project: str) -> Listing:
        """Every mode that can be chosen in a project, and what is wrong with its files. Looks at the files."""
        return self._registry.listing(project)

    def rules(self, slug: str, project: str) -> Rules:
        """The rules of a mode; plan mode has none."""
        return self._registry.rules(slug, project) if slug != PLAN.slug else Rules()

    def offered(self, slug: str, project: str) -> Offered | None:
        """What a project says of a mode and nobody has vouched for; None where there is no such thing."""
        return self._registry.offered(slug, project)

    def vouch(self, offered: Offered) -> None:
        """Trust exactly that. Raises OSError."""
        self._registry.vouch(offered)

    def named(self, slug: str, project: str) -> Known:
        """The mode that a person names. Raises Refusal."""
        modes = self.listing(project).modes
        typed = slug.lower().replace("_", "-")  # chats have no dashes in what they complete
        alike = [known for each, known in modes.items() if each.lower() == typed]  # a and A may be two modes
        known = modes.get(slug) or (alike[0] if len(alike) == 1 else modes.get(typed))
        if known is None:
            said = f"{slug[:40]!r} isn't a mode." if slug else "Name a mode."
            raise Refusal("unknown-mode", said, f"Modes: {', '.join(modes)}.")
        return known

    def choose(self, slug: str, project: str) -> tuple[Known, str]:
        """The mode a person chooses, and the name it is pinned by, "" for a built-in. Raises Refusal, StateError."""
        known = self.named(slug, project)
        pinned = pins.pin_of(known, self.rules(known.mode.slug, project))
        if known.origin == "built-in" and not pinned.rules:
            return known, ""
        name = pins.keep(self._folder(), pinned)
        self._remember(name, pinned)
        return known, name

    def pin_now(self, slug: str, project: str) -> str:
        """What ``choose`` would pin that mode by now. Stores nothing. Raises Refusal."""
        known = self.named(slug, project)
        pinned = pins.pin_of(known, self.rules(known.mode.slug, project))
        return "" if known.origin == "built-in" and not pinned.rules else pins.name_of(pinned)

    def of(self, record: SessionRecord) -> Pinned | None:
        """The mode of a session as it was pinned; None where it isn't there any more. Reads a file once in a process."""
        if not record.pin:
            mode = BUILTIN.get(record.mode or "")
            return Pinned(mode, "built-in", "", True) if mode is not None else None
        known = self._pinned.get((self._folder(), record.pin))
        if known is None:
            known = pins.load(self._folder(), record.pin)
            if known is not None:
                self._remember(record.pin, known)
        return known if known is not None and known.mode.slug == record.mode else None

    def drift(self, record: SessionRecord) -> Drift:
        """How the files stand to what this session has."""
        has = self.of(record)
        if record.mode == "plan" or has is None:
            return "same" if has is not None else "gone"
        now = self._now(record)
        if now is None:
            return "gone"
        return _drift(has, now)

    def narrowed(self, record: SessionRecord) -> str:
        """The name by which what the files say now is pinned, if that is provably narrower; else "". Raises StateError."""
        has, now = self.of(record), self._now(record)
        if has is None or now is None or _drift(has, now) != "narrower":
            return ""
        return pins.keep(self._folder(), now)  # what was judged, whatever the files say by now

    def is_settled(self, record: SessionRecord) -> bool:
        """Whether the files ask nothing of this session that could be done without a person."""
        return not record.pin or (self.of(record) is not None and self.drift(record) != "narrower")

    def default(self, slug: str) -> Mode | None:
        """A mode by its slug, for sessions that nobody chose a mode for: of the home's and the built-in ones."""
        known = self.listing("").modes.get(slug)
        return known.mode if known is not None else None

    def restored(self, record: SessionRecord) -> bool:
        """Whether a definition that had gone is there again, and has been pinned again. Raises StateError."""
        now = self._now(record) if record.pin else None
        return now is not None and pins.name_of(now) == record.pin and bool(pins.keep(self._folder(), now))

    def _now(self, record: SessionRecord) -> Pinned | None:
        """What the files say of this session's mode; None where they say nothing of it any more."""
        project = "" if record.by_default else record.project  # as it was pinned: no person chose anything of a project
        known = self.listing(project).modes.get(record.mode or "")
        return pins.pin_of(known, self.rules(known.mode.slug, project)) if known is not None else None

    def _folder(self) -> str:
        return os.path.join(self._data_dir(), "pins")

    def _remember(self, name: str, pinned: Pinned) -> None:
        while len(self._pinned) >= MOST_REMEMBERED:
            self._pinned.pop(next(iter(self._pinned)), None)
        self._pinned[(self._folder(), name)] = pinned


def _drift(has: Pinned, now: Pinned) -> Drift:
    if (now.mode, now.rules) == (has.mode, has.rules):
        return "same"
    return "narrower" if now.rules == has.rules and not widens(has.mode, now.mode) else "changed"
