"""The agent's sandbox: a tree of mounts, a strict parser of command lines, and commands in pure Python.

No shell or program of the host runs, and nothing here can write. Pure: no Django.
"""

from dreams.lib.sandbox.ignore import Ignored
from dreams.lib.sandbox.mounts import Mount, Tree
from dreams.lib.sandbox.process import CommandLimits
from dreams.lib.sandbox.shell import CommandOutput, Shell
