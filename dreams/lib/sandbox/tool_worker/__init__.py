"""What a model sees with: Bash, Read, Grep and Glob over mounts, answered by a process of its own that can do nothing
else. PURE: no Django.

`Eyes` is the engine's side of one worker, `Several` of as many as are needed; `worker` is the process, `tools` are the
tools, `fence` is what the system adds.
"""

from .eyes import Eyes, EyesFailed, Mounts
from .fence import State
from .several import Several

__all__ = ["Eyes", "EyesFailed", "Mounts", "Several", "State"]
