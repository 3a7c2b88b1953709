"""Where does this happen? The facts that the host binds around a call, a turn or a command, and whose session they name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from .host import lineage, profile, session
from .memory import Memory
from .state.identity import API, NO_COMMANDS, NoSession, Place, Surface, no_session, place_of, user_key
from .state.kin import MOST_ANCESTORS
from .state.process import current_process
from .state.store import Folder

_SIDE_AGENTS: Final = ("bg_", "btw_", "preview_")
"""How the host begins the ids of agents that work beside a conversation."""


@dataclass(frozen=True, slots=True)
class Here:
    """Where a command was typed, a turn that may bring one, or the agent asks. ``manager``: the host's, of this profile.

    ``asking``: the agent asks, by a tool; then it doesn't matter that a surface hands no commands on.
    """

    facts: Surface
    place: Place
    manager: object
    asking: bool = False

    @property
    def session(self) -> str:
        """What questions of this session are kept by, while this process lasts: a compression gives it another conversation."""
        return self.place.carrier or self.place.session_key or self.place.conversation

    @property
    def takes_commands(self) -> bool:
        """Whether a person could type a command here."""
        return replace(self, asking=False).refusal is None

    @property
    def refusal(self) -> NoSession | None:
        """Why nothing may be changed from here; None: it may. Asks the host for the profile, which a mere turn needn't."""
        found = no_session(self.facts._replace(own_profile=profile.own_profile(self.manager)))
        return None if self.asking and found is not None and found.rule == NO_COMMANDS else found

    def owner(self, folder: Folder) -> str:
        """Who types, hashed; "" where the surface knows of no users."""
        user = user_key(self.facts.platform, self.facts.user)
        return folder.hashed(user) if user else ""


class Whereabouts:
    """Asks the host each time; thread-safe. ``manager`` is the host's, of this profile."""

    def __init__(self, manager: Any, memory: Memory) -> None:
        self._manager, self._memory = manager, memory

    def surface(self) -> Surface:
        """The facts that decide whose call or turn this is."""
        bound = session.bound()
        tab, key = bound.tab_id, bound.session_key
        cli = session.interactive_cli(self._manager)
        alone = not (cli or key or tab)  # the rest is asked only where nothing better tells
        return Surface(
            process=current_process(),
            session_key=key,
            tab_id=tab,
            tabs_key=session.key_of_tab(tab) if tab else "",
            platform=bound.platform,
            source=bound.source,
            profile=bound.profile,
            user=bound.user,
            cron=bool(bound.cron),
            engaged=alone and session.was_engaged(),
            isolated=session.is_isolated(),
            gateway_runner=alone and session.runs_gateway(),
            gateway_environment=alone and session.serves_other_sessions(),
            slash_worker=session.is_slash_worker(),
            interactive_cli=cli,
        )

    def place(self, conversation: object) -> Place:
        """Where a call or a turn of that conversation happens."""
        facts = self.surface()
        place = place_of(facts, conversation if isinstance(conversation, str) else "")
        if place.surface == API and place.conversation:
            self._memory.keep(self._memory.talks, (facts.session_key, place.conversation))
        return place

    def here(self, command: str, arguments: str) -> Here:
        """Where a person has typed that command. What a chat sent in this task is taken by its handler, once."""
        facts, sent = self.surface(), session.take_message(command, arguments)
        if sent is not None and not facts.session_key and not facts.interactive_cli:
            facts = facts._replace(session_key=sent.session_key, platform=sent.platform, user=sent.user)
        if facts.session_key and not (facts.tab_id or facts.platform or facts.interactive_cli):
            facts = facts._replace(tab_id=session.tab_of(facts.session_key))  # the host binds it in turns only
        return self.here_of(facts, self._conversation_of(facts))

    def _conversation_of(self, facts: Surface) -> str:
        """The conversation that the person is looking at. A tab's session is called by it, a chat's isn't."""
        if facts.session_key and not facts.interactive_cli:
            return "" if facts.platform else facts.session_key
        return session.current_conversation(self._manager)

    def here_of(self, facts: Surface, conversation: str) -> Here:
        """The same for a turn that brings a command."""
        return Here(facts, place_of(facts, conversation), self._manager)

    def here_asking(self, conversation: object) -> Here:
        """Where a call of one of our own tools runs."""
        facts = self.surface()
        return Here(facts, place_of(facts, conversation if isinstance(conversation, str) else ""), self._manager, asking=True)

    def is_own(self, here: Here) -> bool:
        """Whether it is a person's own conversation that runs there, and not one of an agent beside it.

        Sub-agents are known by ``memory.children``, unless a person has opened what was theirs.
        """
        facts, place = here.facts, here.place
        if place.surface == API:  # where clients choose the names
            return bool(place.conversation)
        if not place.conversation or place.conversation.startswith(_SIDE_AGENTS):
            return False
        if place.process is None:
            return facts.tabs_key in ("", facts.session_key)
        return self._is_continued_by(session.current_conversation(self._manager), place.conversation)

    def _is_continued_by(self, current: str, conversation: str) -> bool:
        """Whether a CLI that is in ``current`` ("" unknown) is in that one: it learns of a compression after the turn only."""
        for _ in range(MOST_ANCESTORS):
            if current in ("", conversation):
                return True
            kind, conversation, *_ = lineage.parentage(conversation)
            if kind != "compression":
                break
        return False
