"""`dreambench`: measure an engine on generated directories with known answers."""

from argparse import SUPPRESS
from pathlib import Path

from dreams import conf
from dreams.dev.dreambench import folders, scoring, shapes, whole_run, world as made
from dreams.dev.dreambench.builder import World
from dreams.dev.dreambench.folders import BASELINES
from dreams.dev.dreambench.scoring import Score
from dreams.lib.files import flush
from dreams.management import base
from dreams.services import database

MOST_REFUSED = 20  # lines of a folder that are named one by one


class Command(base.Command):
    help = "Measure an engine on generated directories with known truth, compared with two baselines."
    needs_database = False  # the user's database is never opened

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument("--engine", choices=conf.engines(), default="rules")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--facts", type=int, default=60, help="about how many facts (default 60)")
        parser.add_argument(
            "--misses", action="store_true", help="list what the engine missed or did wrong, on stderr"
        )
        parser.add_argument(
            "--from",
            type=base.some_path,
            metavar="DIR",
            dest="given",
            help="use the statement shapes in this folder instead (format: docs/dreambench.md)",
        )
        parser.add_argument("--inside", type=Path, help=SUPPRESS)

    def run(self, options: base.Options) -> base.Result | None:
        try:
            world = self._world(options)
            if options["inside"]:
                database.ensure()
                return whole_run.inside(world, options["inside"], options["engine"], self.say)
            measured = whole_run.measure(world, options["engine"], self.say)
            return self._shown(world, measured, options)
        except ValueError as error:
            raise base.BadUsage(str(error)) from error
        except (whole_run.RunFailed, shapes.NoShapes, OSError) as error:
            raise base.Refused(flush.in_words(error)) from error

    def _world(self, options: base.Options) -> World:
        folder = options["given"] and options["given"].resolve()
        world = made.make(options["seed"], options["facts"], folder)
        if options["inside"]:
            return world  # the parent process reports what was left out
        for line in world.refused[:MOST_REFUSED]:
            self.say(f"left out: {line}")
        if len(world.refused) > MOST_REFUSED:
            self.say(f"left out: {len(world.refused) - MOST_REFUSED:,} lines more")
        return world

    def _shown(self, world: World, measured: whole_run.Measured, options: base.Options) -> base.Result:
        """Of given shapes, the work half with its cases, the rest only as figures, so that nobody tunes to its cases."""
        if options["given"]:
            scores = {
                f"{half}: {when}": measured.score(when, half)
                for half in shapes.HALVES
                for when in ("certain", "answered")
            }
        else:
            name = options["engine"]
            scores = {name: measured.score("certain"), f"{name}, answered": measured.score("answered")}
        if options["misses"]:
            self._list_misses(*[*scores.values()][:2])  # of halves, the work half
        scores |= {name: folders.baseline(world, run) for name, run in BASELINES.items()}
        with_cases = "work" if options["given"] else ""
        return {
            "seed": world.seed,
            "facts": world.facts,
            "wordings": world.given or "own",
            "cases": len(world.cases),
            "systems": {name: one.as_json(cases=name.startswith(with_cases)) for name, one in scores.items()},
            "table": list(scoring.lines(world, scores)),
        }

    def _list_misses(self, certain: Score, score: Score) -> None:
        """First what was done wrong before any answer, then the misses with answers."""
        wrong = (each for each in certain.misses if each.verdict == "wrong" and each not in score.misses)
        for missed in (*wrong, *score.misses):
            self.say(f"{missed.verdict:5} {missed.case.name}: {missed.why} | {missed.case.about}")
        listed = {"invented": [*score.invented_dates, *score.invented_words], "blocking": score.cost.blocking}
        listed |= {"again": score.cost.again or [], "asked for nothing": score.asked_for_nothing}
        for kind, lines in listed.items():
            for line in lines:
                self.say(f"{kind}: {line}")

    def words(self, result: base.Result) -> base.Words:
        return list(result["table"])
