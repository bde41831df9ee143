"""The real settings, with an engine that sleeps: for servers that tests start as separate processes."""

from memoryweb.settings import *  # noqa: F403
from memoryweb.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.world.processes.sleepy.SleepyConfig"]
