"""Drive real Hermes processes, offline: a scripted model, disposable homes, one driver a surface.

One method of Lab starts each surface: `cli`, `tui`, `desktop`, `gateway`, `api`, `acp`, `webhook`; each driver's
module begins with its use. `ask` and `run_hermes` run what ends by itself.
"""

from .acp import Acp, AcpSession
from .api import Api, Conversation, Run
from .approvals import Approval
from .chat_wire import Call
from .cli import Cli
from .gateway import Chat, Gateway
from .home import Home
from .hosts import HOSTS, Host, MissingHost, find_host
from .lab import Lab
from .oneshot import ask, run_hermes
from .plugins import LABCHAT, PLAN_MODE, PROBE
from .probe import facts
from .results import Denial, denial_of, error_of
from .rpc import RpcError
from .scripted_model import Gate, Request, ScriptedModel, Step, ToolResult
from .tab import Tab
from .terminal import Terminal
from .tui import Tui
from .waiting import TimedOut
from .webhook import Webhook

__all__ = [
    "HOSTS",
    "LABCHAT",
    "PLAN_MODE",
    "PROBE",
    "Acp",
    "AcpSession",
    "Api",
    "Approval",
    "Call",
    "Chat",
    "Cli",
    "Conversation",
    "Denial",
    "Gate",
    "Gateway",
    "Home",
    "Host",
    "Lab",
    "MissingHost",
    "Request",
    "RpcError",
    "Run",
    "ScriptedModel",
    "Step",
    "Tab",
    "Terminal",
    "TimedOut",
    "ToolResult",
    "Tui",
    "Webhook",
    "ask",
    "denial_of",
    "error_of",
    "facts",
    "find_host",
    "run_hermes",
]
