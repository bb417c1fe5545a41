"""anon-spark run | check | audit | risk | compare CONF: every outcome has its exit code, every user's mistake its one line."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

import click

from anon_spark.cli import commands, signals, streams
from anon_spark.domain.errors import AnonError, PlatformError
from anon_spark.io.spark_errors import SPARK_ERRORS, as_ours

INTERRUPTED = 130
INTERNAL = 1


def guarded(action: Callable[[], None], debug: bool) -> int:
    """Run one command; returns its exit code. Errors go to standard error, a line each, without a row or a trace."""
    try:
        with streams.ours_alone(debug), signals.heard():
            action()
        return 0
    except (Exception, KeyboardInterrupt) as error:
        # a library may turn an interruption into an error of its own
        if isinstance(error, KeyboardInterrupt) or signals.came():
            _say("interrupted: nothing was published")
            return INTERRUPTED
        return _outcome(error, debug)


def _outcome(error: Exception, debug: bool) -> int:
    if isinstance(error, AnonError):
        return _told(error)
    if isinstance(error, SPARK_ERRORS):
        return _told(as_ours(error, "anon-spark", "Spark"))
    if isinstance(error, ConnectionError):
        advice = "killed, or out of memory; running again may help"
        return _told(PlatformError(f"anon-spark: Spark does not answer any more ({error.strerror or type(error).__name__}): {advice}"))
    if isinstance(error, OSError):
        # its text may name paths alone, but on a full disk or a lost connection its kind says all
        return _told(PlatformError(f"anon-spark: the system failed ({error.strerror or type(error).__name__})"))
    # the text of an unforeseen error may hold values of the data: its kind and place are enough to report it
    place = traceback.extract_tb(error.__traceback__)[-1]
    _say(f"internal: {type(error).__name__} in {place.name} ({place.filename}:{place.lineno}); please report it")
    if debug:
        traceback.print_exception(error)
    return INTERNAL


def _told(error: AnonError) -> int:
    for line in str(error).splitlines():
        _say(line)
    return error.exit_code


def _say(line: str) -> None:
    streams.say(f"error: {line}")


if TYPE_CHECKING:
    Handler = logging.StreamHandler[TextIO]
else:  # Python 3.10 knows no kinds of it
    Handler = logging.StreamHandler


class _OursAlone(Handler):
    """Shows what the product itself logs: what others log may be the text of a failure, with values of the data in it."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.addFilter(logging.Filter("anon_spark"))
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))


def _logging(verbose: bool, debug: bool) -> None:
    """One handler of the root, so that no library finds none and adds its own."""
    logging.basicConfig(level=logging.WARNING, handlers=[logging.StreamHandler(sys.stderr) if debug else _OursAlone()])
    logging.getLogger("anon_spark").setLevel(logging.INFO if verbose else logging.WARNING)


CONF = click.argument("conf", type=click.Path())
SETS = click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Override a key, as in privacy.0.k=25.")
SWEEP = click.option(
    "--set", "sets", multiple=True, metavar="KEY=VALUE",
    help="Override a key; exactly one key takes several values with commas between them, as in privacy.0.k=2,5,10,25.",
)  # fmt: skip
SHOW = click.option("--show-values", is_flag=True, help="Name up to 5 values that are outside a hierarchy.")
POPULATION = click.option(
    "--population",
    type=click.IntRange(min=1),
    metavar="N",
    help="The table is a sample of N persons: estimate how many are unique among them.",
)
VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Tell each step as it ends.")
DEBUG = click.option(
    "--debug", is_flag=True, help="Print traces of internal errors and what Spark logs; both may show values of the data."
)


CODES = """Exit codes: 0 done; 1 our own fault; 2 the configuration is wrong; 3 the data does not fit it; 4 proven impossible; 5 the audit
refused the release; 6 none found; 7 Spark, Java or the machine failed; 8 another run holds the output; 130 interrupted. Nothing is
published but on 0."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=CODES)
@click.version_option(package_name="anon-spark")
def cli() -> None:
    """Anonymize tables about people where they live, on Spark. CONF is the configuration of a job, a YAML file."""


@cli.command(short_help="Anonymize the table, audit the release, publish it.")
@CONF
@SETS
@SHOW
@VERBOSE
@DEBUG
def run(conf: str, sets: tuple[str, ...], show_values: bool, verbose: bool, debug: bool) -> None:
    """Run the job of CONF: decide, write, audit, and publish only what the audit confirms."""
    _logging(verbose, debug)
    sys.exit(guarded(lambda: commands.run(conf, sets, show_values, debug), debug))


@cli.command(short_help="Show what a run would do, and warn; write nothing.")
@CONF
@SETS
@SHOW
@VERBOSE
@DEBUG
def check(conf: str, sets: tuple[str, ...], show_values: bool, verbose: bool, debug: bool) -> None:
    """Bind CONF to its input, print the plan and warn of risky columns; writes nothing. Ends with the exit code of a run, as far as it is
    known without a search: 0 says that nothing stands in a run's way so far."""
    _logging(verbose, debug)
    sys.exit(guarded(lambda: commands.check(conf, sets, show_values, debug), debug))


@cli.command(short_help="Audit a published release again.")
@CONF
@SETS
@VERBOSE
@DEBUG
def audit(conf: str, sets: tuple[str, ...], verbose: bool, debug: bool) -> None:
    """Audit what is published at the output of CONF, from the published table alone. Give it each --set that the run was given."""
    _logging(verbose, debug)
    sys.exit(guarded(lambda: commands.audit(conf, sets, debug), debug))


@cli.command(short_help="Tell how easily people in the raw table are found.")
@CONF
@SETS
@POPULATION
@VERBOSE
@DEBUG
def risk(conf: str, sets: tuple[str, ...], population: int | None, verbose: bool, debug: bool) -> None:
    """Count how many rows of the input of CONF are alone, or nearly, with their quasi-identifiers, and which columns make them so. CONF
    needs the input and the columns' roles; models and hierarchies may be absent. Writes risk.json where a report is asked for."""
    _logging(verbose, debug)
    sys.exit(guarded(lambda: commands.risk(conf, sets, population, debug), debug))


@cli.command(short_help="Try several values of one key; publish nothing.")
@CONF
@SWEEP
@SHOW
@VERBOSE
@DEBUG
def compare(conf: str, sets: tuple[str, ...], show_values: bool, verbose: bool, debug: bool) -> None:
    """Decide CONF once for each value of one key, such as --set privacy.0.k=2,5,10,25, and print what each costs and gives. Writes
    compare.html and compare.json where a report is asked for; nothing is audited or published."""
    _logging(verbose, debug)
    sys.exit(guarded(lambda: commands.compare(conf, sets, show_values, debug), debug))


def main(arguments: list[str] | None = None) -> None:
    """Entry point."""
    streams.spell_all()
    cli.main(args=arguments, prog_name="anon-spark")


if __name__ == "__main__":
    main()
