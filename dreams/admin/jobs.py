"""The schedule's jobs, and their runs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from dreams.admin.base import Listed, ModelForm, ReadOnly, actor
from dreams.models import JobRun, ScheduledJob
from dreams.services import jobs


def _wanted(row: ScheduledJob) -> jobs.Wanted:
    return jobs.Wanted(row.kind, row.cron, row.after, row.project, row.once, row.until)


class JobForm(ModelForm):
    class Meta:
        model = ScheduledJob
        fields = ("kind", "project", "cron", "after", "once", "until")

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                jobs.checked(jobs.Wanted(**found), timezone.now(), jobs.Clock.load())
            except jobs.BadJob as error:
                raise forms.ValidationError(str(error)) from error
        return found


@admin.register(ScheduledJob)
class ScheduledJobAdmin(Listed):
    """Added and removed, not changed: another time is another job."""

    form = JobForm
    list_display = ("__str__", "cron", "after", "next_at", "until", "failures", "ended_at", "made_by")
    list_filter = ("kind",)
    list_select_related = ("project", "after__project")
    raw_id_fields = ("project",)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def view_on_site(self, obj: ScheduledJob) -> str:
        return reverse("schedules")

    def save_model(self, request: HttpRequest, obj: ScheduledJob, form: ModelForm, change: bool) -> None:
        obj.pk = jobs.add(_wanted(obj), actor=actor(request)).pk

    def delete_model(self, request: HttpRequest, obj: ScheduledJob) -> None:
        jobs.remove(obj, actor=actor(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ScheduledJob]) -> None:
        for row in queryset:
            if ScheduledJob.objects.filter(pk=row.pk).exists():  # else it followed one that went before
                self.delete_model(request, row)


@admin.register(JobRun)
class JobRunAdmin(ReadOnly):
    list_display = ("label", "made_at", "status", "ended_at", "asked_by", "text")
    list_filter = ("status", "kind")
    raw_id_fields = ("job",)
    date_hierarchy = "made_at"
