"""The folder of an agent, for the tests of what is read from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world.agent_folder import Root


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root(tmp_path)


@pytest.fixture
def app(root: Root) -> Path:
    """A repository with a project of the agent."""
    return root.repository("app")
