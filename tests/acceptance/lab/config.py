"""The Hermes configuration of a test: one loopback model, no prompts, no network, no side traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: A loopback port nobody listens on: whatever is sent there fails at once.
DEAD_END = "http://127.0.0.1:9"


def quiet_config(model_url: str, plugins: Sequence[str], work: Path) -> dict[str, Any]:
    """Return config.yaml as data: ``plugins`` enabled, ``work`` as the session's folder."""
    return {
        "model": {
            "default": "scripted-model",
            "provider": "custom",
            "base_url": model_url,
            "api_key": "not-a-key",
            "api_mode": "chat_completions",
            "context_length": 131072,
        },
        "fallback_providers": [],
        "agent": {"max_turns": 20},
        "plugins": {
            "enabled": list(plugins),
            "auto_update_check_hours": 0,
            "load_timeout_seconds": 30,
        },
        "terminal": {"backend": "local", "cwd": str(work)},
        **_no_side_traffic(),
        **_no_network(),
        **_no_prompts(),
    }


def _no_side_traffic() -> dict[str, Any]:
    return {
        "auxiliary": {
            "title_generation": {"enabled": False, "model_upgrade_enabled": False},
            "background_review": {"enabled": False},
            "transient_retries": 0,
        },
        "memory": {"memory_enabled": False, "user_profile_enabled": False, "nudge_interval": 0},
        "skills": {"creation_nudge_interval": 0, "project_discovery": False},
        "curator": {"enabled": False},
        "compression": {"enabled": False},
        "checkpoints": {"enabled": False},
    }


def _no_network() -> dict[str, Any]:
    return {
        "updates": {"check": False},
        "model_catalog": {"enabled": False},
        "models_dev": {"url": f"{DEAD_END}/none"},
        # Without an offer_version the classic CLI of 0.22 stops at a full-screen question.
        "telemetry": {"shared_metrics": {"enabled": False, "send": False, "offer_version": 2}},
        "nous": {"guest": False, "keepalive_interval_seconds": 0},
        # 0.19 would fetch its command scanner on the first terminal call.
        "security": {
            "allow_lazy_installs": False,
            "allow_private_urls": True,
            "tirith_enabled": False,
        },
        "lsp": {"enabled": False},
        "stt": {"enabled": False},
        "tools": {"connectors": {"enabled": False}},
    }


def _no_prompts() -> dict[str, Any]:
    return {
        "onboarding": {"profile_build": "off", "run": False},
        "approvals": {"mode": "manual", "timeout": 6, "destructive_slash_confirm": False},
        "display": {"compact": True, "tips": False},
    }


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``changes`` on top; mappings are merged, everything else replaced."""
    out = dict(base)
    for key, value in changes.items():
        old = out.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        out[key] = merged(old, value) if both else value  # type: ignore[arg-type]
    return out
