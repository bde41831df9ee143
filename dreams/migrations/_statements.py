"""What migrations say to a database in its own SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def run(editor: BaseDatabaseSchemaEditor, statements: Mapping[str, Sequence[str]]) -> None:
    """Run those for the editor's database; `statements` is by vendor ("sqlite"), another one has none."""
    for sql in statements.get(editor.connection.vendor, ()):
        editor.execute(sql, None)
