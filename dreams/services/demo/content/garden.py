"""A mobile app with one long note, a note that the index does not list, and a shared folder of the team."""

import datetime as dt

from dreams.services.demo.writing import Agent, DemoProject, Note, Talk, You, days

INDEX = """# Pocket Garden

## How to work
- [Simulator](feedback_simulator.md) — always the small phone first
- [Strings](feedback_strings.md) — every text goes through `t()`

## The project
- [Release train](project_releases.md) — a release every two weeks
- [Offline mode](project_offline.md) — what must work without a network, and in which order the queue is sent once there is one again; photos come last because they are large, watering comes first because people look at it at once
- [Offline mode](project_offline.md) — what must work without a network
"""

SIMULATOR = """---
name: simulator
description: Look at the small phone first
metadata:
  node_type: memory
  type: feedback
---

Look at every screen on the small phone first: most of our users have one.
"""

STRINGS = """---
name: strings
description: Texts are translated
metadata:
  node_type: memory
  type: feedback
---

Every text on a screen goes through `t()`; German is a third longer than English.
"""

RELEASES = """---
name: release train
description: When releases are cut
metadata:
  node_type: memory
  type: project
  modified: {modified}
---

A release is cut every two weeks.
Last Friday the review by the store took four days, so leave a week before a holiday.
"""

OFFLINE = """# Offline mode

What must work without a network: the list, watering, notes.
See [[release train]] for when it ships.
"""

ICONS = """---
name: icons
description: Where the plant icons come from
type: reference
---

The plant icons are drawn by Sofia; the sources are in the design drive under `garden/icons`.
"""

TEAM = """# Team

- [Accessibility](accessibility.md) — what every screen is checked for
"""

ACCESSIBILITY = """Every screen is checked with the screen reader and at 200 % text size.
"""


def project(now: dt.datetime) -> DemoProject:
    cut = (now - days(17)).replace(microsecond=0)
    return DemoProject(
        "pocket-garden",
        notes=(
            Note("MEMORY.md", INDEX, days(6)),
            Note("feedback_simulator.md", SIMULATOR, days(50)),
            Note("feedback_strings.md", STRINGS, days(44)),
            Note("project_releases.md", RELEASES.format(modified=cut.isoformat()), days(17)),
            Note("project_offline.md", OFFLINE, days(20)),
            Note("reference_icons.md", ICONS, days(6)),
            Note("team/MEMORY.md", TEAM, days(60)),
            Note("team/accessibility.md", ACCESSIBILITY, days(60)),
        ),
        talks=_talks(),
        files={
            "README.md": "# Pocket Garden\n\nReminds you to water your plants.\n",
            "src/queue.ts": "export const order = ['watering', 'notes', 'photos'];\n",
        },
    )


def _talks() -> tuple[Talk, ...]:
    return (
        Talk(
            "Dark mode for the plant page",
            days(19),
            (
                You("add dark mode to the plant page"),
                Agent(
                    "I will take the colours from the theme.",
                    "Edit",
                    {"file_path": "src/screens/Plant.tsx", "old_string": "#fff"},
                    "The file src/screens/Plant.tsx has been updated.",
                ),
                You("looks right"),
                Agent("Good. The tests pass too."),
            ),
        ),
        Talk(
            "Crash when a photo is removed",
            days(13),
            (
                You("the app crashes when I remove the only photo of a plant"),
                Agent(
                    "",
                    "Read",
                    {"file_path": "src/photos.ts"},
                    "export const cover = (plant) => plant.photos[0].uri;",
                ),
                Agent("`cover` reads the first photo of an empty list. It now falls back to the icon."),
            ),
            branch="fix/cover",
        ),
        Talk(
            "Notification texts",
            days(8),
            (
                You("write the texts for the watering reminder"),
                Agent("“Your plants are thirsty! Water them now!”"),
                You("no, never use exclamation marks in notifications, people found them pushy"),
                Agent("“Three plants would like some water today.”"),
                You("yes, like that"),
            ),
        ),
        Talk(
            "Upload queue",
            days(5),
            (
                You("the queue sends photos before watering, users see their plant as dry for minutes"),
                Agent(
                    "I will sort it by kind.",
                    "Edit",
                    {"file_path": "src/queue.ts", "old_string": "['photos'"},
                    "The file src/queue.ts has been updated.",
                ),
                Agent("", "Bash", {"command": "npm test -- queue"}, "Tests: 14 passed"),
            ),
        ),
        Talk(
            "Beta group",
            days(3),
            (
                You("remember that the beta group is 40 people on Android only, there is no iOS beta"),
                Agent("Noted."),
            ),
        ),
        Talk(
            "Bundle size",
            days(0.6),
            (
                You("why did the bundle grow by 2 MB?"),
                Agent(
                    "",
                    "Bash",
                    {"command": "npx source-map-explorer dist/main.js --json | head -3"},
                    '{"moment": 2100344, "react": 139204}',
                ),
                Agent("The date library brings all its languages along. Two are needed."),
                You("please remember: we do not add a dependency without checking its size first"),
            ),
        ),
    )
