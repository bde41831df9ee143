"""The folder of an agent, a project with sessions in it, and a model to dream with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.core.cache import cache

from dreams.models import Project
from tests.world import directory
from tests.world.agent_folder import Root
from tests.world.model_server import DemoModel, ModelServer

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root(tmp_path)


@pytest.fixture
def app(root: Root) -> Path:
    """A repository with a project of the agent."""
    return root.repository("app")


@pytest.fixture
def project(tmp_path: Path, settings: SettingsWrapper) -> Project:
    """Two sessions with a wish each, beside a memory directory of two notes."""
    cache.clear()
    settings.ROOTS = (tmp_path,)
    return directory.discovered(tmp_path)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(DemoModel()) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server
