"""The model that a mode names, in the requests of its sessions. The session's own model stays what it is.

A request can name another model only to the same provider. What the person chooses with ``/model`` while the mode is on
comes before the mode's; so does what the host falls back to.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ..controller import Desk
from ..errors import StateError
from ..models import Own
from ..modes.model import ModelChoice
from ..standing import Standing
from ..text import one_line
from .quiet import quiet

log: Final = logging.getLogger(__name__)

_UNKNOWN_MODEL: Final = frozenset({"model_not_found", "model_entitlement"})
"""How the host calls the failure of a model that this account can't use."""

_NOT_FOUND: Final = 404
_SUBAGENT: Final = "subagent"


class ModeModel:
    """The callbacks of ``llm_request`` and ``api_request_error``."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @quiet
    def llm_request(self, request: Any = None, session_id: Any = "", platform: Any = "", model: Any = "", provider: Any = "",
                    turn_id: Any = "", **_: Any) -> dict[str, Any] | None:
        """The request for the mode's model, or None where nothing is to be changed. Never raises."""
        standing = self._standing(session_id, platform)
        if standing is None or not isinstance(request, Mapping) or not request.get("model"):
            return None
        own = self._seen(session_id, standing, ModelChoice(str(model or ""), str(provider or "")), str(turn_id or ""))
        choice = self._choice(standing)
        if choice is None or own.refused:
            return None
        if not _is_asked_for(choice, own):
            self._suggest(session_id, standing, own, choice)
            return None
        return {"request": {**request, "model": choice.model}}

    @quiet
    def api_request_error(self, session_id: Any = "", platform: Any = "", status_code: Any = None,
                          reason: Any = "", **_: Any) -> None:
        """A model that the provider doesn't have is used no more, and the person is told. Never raises."""
        if reason not in _UNKNOWN_MODEL and status_code != _NOT_FOUND:
            return
        standing = self._standing(session_id, platform)
        own = self._desk.memory.models.get(session_id)
        choice = self._choice(standing) if standing is not None else None
        if standing is None or own is None or choice is None or own.refused or not _is_asked_for(choice, own):
            return
        self._desk.memory.keep(self._desk.memory.models, session_id, replace(own, refused=True))
        self._tell(session_id, f"The provider has no model {one_line(choice.model, 80)}, which {_name(standing)} mode "
                               "names. The session's own model is used from now on; /mode model names another.")

    def _standing(self, session_id: object, platform: object) -> Standing | None:
        """The standing of a session whose mode may name a model: a sub-agent's model is the delegation's."""
        if not isinstance(session_id, str) or not session_id or platform == _SUBAGENT:
            return None
        standing = self._desk.judge.standing(self._desk.where.place(session_id))
        return standing if standing.mode is not None and standing.fallback is None else None

    def _choice(self, standing: Standing) -> ModelChoice | None:
        """The model that is to be used while this mode is on."""
        if standing.mode is None or self._desk.settings().mode_models != "apply":
            return None
        return self._desk.models.of(standing.mode)

    def _seen(self, conversation: str, standing: Standing, current: ModelChoice, turn: str) -> Own:
        """What is known of the session's own model, now that a request for ``current`` is to be sent."""
        memory = self._desk.memory
        activation = standing.record.activation if standing.record is not None else ""
        before = memory.models.get(conversation)
        if before is None or before.activation != activation:
            own = Own(activation, standing.mode.slug if standing.mode is not None else "", current, current, turn)
        else:
            own = before.then(current, turn)
            if own.is_chosen and before.current != current:
                self._remember(standing, current)
        if own != before:
            memory.keep(memory.models, conversation, own)
        return own

    def _remember(self, standing: Standing, choice: ModelChoice) -> None:
        """Let the mode keep the model that a person has chosen in it, where the operator wants that."""
        if standing.mode is None or not choice.model or not self._desk.settings().remember_models:
            return
        try:
            self._desk.models.choose(standing.mode.slug, choice)
        except StateError as exc:
            log.warning("plan-mode: %s", exc)

    def _suggest(self, conversation: str, standing: Standing, own: Own, choice: ModelChoice) -> None:
        """Tell the person, once for each time the mode was turned on, what only they can do."""
        if own.suggested or own.current != own.model or choice.provider in ("", own.current.provider):
            return
        self._desk.memory.keep(self._desk.memory.models, conversation, replace(own, suggested=True))
        here = one_line(own.current.provider, 80) or "another provider"
        self._tell(conversation, f"{_name(standing)} mode names the model {one_line(choice.model, 80)} of "
                                 f"{one_line(choice.provider, 80)}, and this session is on {here}; type /model to change that.")

    def _tell(self, conversation: str, text: str) -> None:
        """Let the person read it below the next answer."""
        unsaid = self._desk.memory.unsaid
        self._desk.memory.keep(unsaid, conversation, "\n".join(filter(None, (unsaid.get(conversation), f"[plan-mode] {text}"))))


def _is_asked_for(choice: ModelChoice, own: Own) -> bool:
    """Whether requests go out for the mode's model instead of the session's own."""
    return own.current == own.model and choice.provider in ("", own.current.provider) and choice.model != own.current.model


def _name(standing: Standing) -> str:
    return standing.mode.title if standing.mode is not None else ""
