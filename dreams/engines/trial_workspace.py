"""A workspace for trials: the memories as a dream found them, changed in the process's memory and nowhere else. PURE."""

from __future__ import annotations

from dreams.lib.files import safefs, text
from dreams.lib.files.workspace import MAX_FILE_BYTES, Snapshot, Workspace, WorkspaceRefused


class TrialWorkspace:
    """Starts from the snapshot of a workspace, and leaves that alone. Refuses what the workspace would refuse."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._texts = {path: text.decode(file.data) for path, file in workspace.snapshot.files.items()}

    @property
    def snapshot(self) -> Snapshot:
        return self._workspace.snapshot

    def paths(self) -> list[str]:
        return sorted(self._texts)

    def editable(self) -> list[str]:
        return [path for path in self.paths() if not self.read_only_because(path)]

    def read_only_because(self, path: str) -> str:
        return self._workspace.read_only_because(path)

    def read(self, path: str) -> str | None:
        return self._texts.get(path)

    def write(self, path: str, content: str) -> None:
        """Raises WorkspaceRefused with the reason."""
        self._check(path)
        if len(text.encode(content)) > MAX_FILE_BYTES:
            raise WorkspaceRefused(f"{path} would be larger than {MAX_FILE_BYTES:,} bytes. Split it.")
        self._texts[path] = content

    def delete(self, path: str) -> None:
        """Raises WorkspaceRefused with the reason."""
        self._check(path)
        del self._texts[path]

    def _check(self, path: str) -> None:
        safefs.split(path)
        if reason := self.read_only_because(path):
            raise WorkspaceRefused(f"{path} {reason}. Leave it as it is.")
