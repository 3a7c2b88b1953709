"""Drive real Hermes processes, offline: a scripted model, disposable homes, one driver a surface."""

from .cli import Cli
from .home import Home
from .hosts import HOSTS, Host, MissingHost, find_host
from .lab import Lab
from .oneshot import ask, run_hermes
from .plugins import PLAN_MODE
from .results import Denial, denial_of, error_of
from .scripted_model import Request, ScriptedModel, Step, ToolResult
from .terminal import Terminal, TimedOut

__all__ = [
    "HOSTS",
    "PLAN_MODE",
    "Cli",
    "Denial",
    "Home",
    "Host",
    "Lab",
    "MissingHost",
    "Request",
    "ScriptedModel",
    "Step",
    "Terminal",
    "TimedOut",
    "ToolResult",
    "ask",
    "denial_of",
    "error_of",
    "find_host",
    "run_hermes",
]
