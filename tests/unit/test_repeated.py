"""What the code says already is found in memories, and found anew when the code changed."""

from __future__ import annotations

from pathlib import Path

from dreams.services.memories import derivable

MEMORY = b"---\nname: a\ntype: project\n---\n\n- `npm run ship` runs `vite build --mode live`\n- Deploys need a second pair of eyes\n"


def _repo(folder: Path, script: str) -> str:
    (folder / "package.json").write_text(f'{{"scripts": {{"ship": "{script}"}}}}\n')
    return str(folder)


def test_a_line_that_says_what_a_script_says_names_its_place(tmp_path: Path) -> None:
    repo = _repo(tmp_path, "vite build --mode live")
    (found,) = derivable.by_code({"project_shop.md": MEMORY}, repo)
    assert (found.path, found.line_no) == ("project_shop.md", 6)
    assert found.place.startswith("package.json, line 1")


def test_another_script_a_preference_and_no_repository_repeat_nothing(tmp_path: Path) -> None:
    repo = _repo(tmp_path, "vite build --mode test")
    assert derivable.by_code({"project_shop.md": MEMORY}, repo) == []
    _repo(tmp_path, "vite build --mode live")
    assert len(derivable.by_code({"project_shop.md": MEMORY}, repo)) == 1
    liked = MEMORY.replace(b"type: project", b"type: feedback")
    assert derivable.by_code({"feedback_shop.md": liked}, repo) == []
    assert derivable.by_code({"project_shop.md": MEMORY}, "") == []
    assert derivable.by_code({"project_shop.md": MEMORY}, str(tmp_path / "gone")) == []
