"""Bash, Read, Grep and Glob over mounts, answered by a process of its own that can do nothing else. PURE: no Django.

`client` starts that process (`ToolWorker`) and as many as are needed (`ToolWorkers`); `worker` is the process, `tools`
are the tools, `fences` and `bubblewrap` are what the operating system adds.
"""

from .client import Mounts, ToolWorker, ToolWorkerFailed, ToolWorkers
from .fences import Fences, offered

__all__ = ["Fences", "Mounts", "ToolWorker", "ToolWorkerFailed", "ToolWorkers", "offered"]
