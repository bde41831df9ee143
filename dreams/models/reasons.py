"""Columns for a reason that a person typed, or a sentence that quotes it: stored without secrets, whoever saves it."""

from typing import TYPE_CHECKING, Any, TypeAlias

from django.db import models

from dreams.lib.files.text import storable
from dreams.lib.secrets.redact import cut, redact

MOST = 10_000  # characters of one without a limit of its own; a form may send megabytes

if TYPE_CHECKING:
    _Field: TypeAlias = models.Field[str, str]
    _Text: TypeAlias = models.TextField[str, str]
    _Chars: TypeAlias = models.CharField[str, str]
else:
    _Field, _Text, _Chars = models.Field, models.TextField, models.CharField


def bare(typed: str, most: int = MOST) -> str:
    """`typed` as it is stored, for what shows it before it was read back."""
    return cut(redact(storable(typed)), most) if typed else typed


class TypedReason(_Field):
    """Masks secrets on the way into the database, also in `update` and `bulk_create`, and in the row that is saved. What is
    longer than the column is cut after that: half a secret is not recognised any more."""

    def get_prep_value(self, value: Any) -> Any:
        given = super().get_prep_value(value)
        return bare(given, self.max_length or MOST) if isinstance(given, str) else given

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        stored = self.get_prep_value(super().pre_save(model_instance, add))
        setattr(model_instance, self.attname, stored)
        return stored

    def deconstruct(self) -> Any:
        """As the plain field: the table is the same."""
        name, _, args, kwargs = super().deconstruct()
        return name, f"django.db.models.{self.get_internal_type()}", args, kwargs


class ReasonText(TypedReason, _Text):
    pass


class ReasonChars(TypedReason, _Chars):
    pass
