"""`dreambench`: measure an engine on generated directories with known answers."""

from argparse import SUPPRESS
from collections.abc import Mapping
from pathlib import Path

from dreams import conf
from dreams.dev.dreambench import folders, generator, given_words, scoring, shapes, whole_run
from dreams.dev.dreambench.builder import World
from dreams.dev.dreambench.folders import BASELINES
from dreams.dev.dreambench.scoring import Score
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
            "--wordings",
            choices=sorted(generator.WORDINGS),
            default="own",
            help="how facts are worded: our own wordings, wordings found in public files, or as people type (default own)",
        )
        parser.add_argument(
            "--misses", action="store_true", help="list what the engine missed or did wrong, on stderr"
        )
        parser.add_argument(
            "--from",
            type=Path,
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
            if options["given"]:
                return self._halves(world, measured, options)
            name = options["engine"]
            scores = {name: measured.score("certain"), f"{name}, answered": measured.score("answered")}
            return self._shown(world, scores, options)
        except ValueError as error:
            raise base.BadUsage(str(error)) from error
        except (whole_run.RunFailed, shapes.NoShapes, OSError) as error:
            raise base.Refused(str(error)) from error

    def _world(self, options: base.Options) -> World:
        if not options["given"]:
            return generator.make(options["seed"], options["facts"], options["wordings"])
        world = given_words.make(options["given"].resolve(), options["seed"], options["facts"])
        if options["inside"]:
            return world  # the parent process reports what was left out
        for line in world.refused[:MOST_REFUSED]:
            self.say(f"left out: {line}")
        if len(world.refused) > MOST_REFUSED:
            self.say(f"left out: {len(world.refused) - MOST_REFUSED:,} lines more")
        return world

    def _shown(self, world: World, scores: dict[str, Score], options: base.Options) -> base.Result:
        if options["misses"]:
            self._list_misses(next(reversed(scores.values())))
        scores |= {each: folders.baseline(world, run) for each, run in BASELINES.items()}
        return self._result(world, {each: one.as_json() for each, one in scores.items()}, scores)

    def _halves(self, world: World, measured: whole_run.Measured, options: base.Options) -> base.Result:
        """The work half with its cases, the report half only as figures, so that nobody tunes to its cases."""
        scores = {
            f"{half}: {when}": measured.score(when, half)
            for half in shapes.HALVES
            for when in ("certain", "answered")
        }
        if options["misses"]:
            self._list_misses(scores["work: answered"])
        scores |= {each: folders.baseline(world, run) for each, run in BASELINES.items()}
        systems = {name: one.as_json(cases=name.startswith(shapes.HALVES[0])) for name, one in scores.items()}
        return self._result(world, systems, scores)

    def _list_misses(self, score: Score) -> None:
        for missed in score.misses:
            self.say(f"{missed.verdict:5} {missed.case.name}: {missed.why} | {missed.case.about}")
        for invented in [*score.invented_dates, *score.invented_words]:
            self.say(f"invented: {invented}")
        for blocking in score.cost.blocking:
            self.say(f"blocking: {blocking}")
        for change in score.cost.again or ():
            self.say(f"again: {change}")
        for question in score.asked_for_nothing:
            self.say(f"asked for nothing: {question}")

    def _result(self, world: World, systems: base.Result, scores: Mapping[str, Score]) -> base.Result:
        return {
            "seed": world.seed,
            "facts": world.facts,
            "wordings": world.given or world.wordings,
            "cases": len(world.cases),
            "systems": systems,
            "table": list(scoring.lines(world, scores)),
        }

    def words(self, result: base.Result) -> base.Words:
        return list(result["table"])
