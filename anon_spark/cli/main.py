"""anon-spark run | check | audit CONF: every outcome has its exit code, every user's mistake its one line."""

from __future__ import annotations

import logging
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType

import click

from anon_spark.cli import commands
from anon_spark.domain.errors import AnonError
from anon_spark.io.tables import SPARK_ERRORS, as_ours

INTERRUPTED = 130
INTERNAL = 1


def guarded(action: Callable[[], None], debug: bool) -> int:
    """Run one command; returns its exit code. Errors go to standard error, a line each, without a row or a trace."""
    try:
        action()
        return 0
    except AnonError as error:
        click.echo("\n".join(f"error: {line}" for line in str(error).splitlines()), err=True)
        return error.exit_code
    except SPARK_ERRORS as error:
        ours = as_ours(error, "anon-spark", "Spark")
        click.echo(f"error: {ours}", err=True)
        return ours.exit_code
    except KeyboardInterrupt:
        click.echo("interrupted: nothing was published", err=True)
        return INTERRUPTED
    except Exception as error:
        # the text of an unforeseen error may hold values of the data: its kind and place are enough to report it
        place = traceback.extract_tb(error.__traceback__)[-1]
        click.echo(
            f"internal error: {type(error).__name__} in {place.name} ({place.filename}:{place.lineno}); please report it",
            err=True,
        )
        if debug:
            traceback.print_exc()
        return INTERNAL


def _terminated(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _logging(verbose: bool) -> None:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    logging.getLogger("anon_spark").setLevel(logging.INFO if verbose else logging.WARNING)
    logging.getLogger("py4j").setLevel(logging.CRITICAL)


CONF = click.argument("conf", type=click.Path())
SETS = click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Override a key, as in privacy.0.k=25.")
SHOW = click.option("--show-values", is_flag=True, help="Name up to 5 values that are outside a hierarchy.")
VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Tell each step as it ends.")
DEBUG = click.option("--debug", is_flag=True, help="Print the trace of an internal error; it may show values of the data.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="anon-spark")
def cli() -> None:
    """Anonymize tables about people where they live, on Spark."""


@cli.command()
@CONF
@SETS
@SHOW
@VERBOSE
@DEBUG
def run(conf: str, sets: tuple[str, ...], show_values: bool, verbose: bool, debug: bool) -> None:
    """Run the job of CONF: decide, write, audit, and publish only what the audit confirms."""
    _logging(verbose)
    sys.exit(guarded(lambda: commands.run(conf, sets, show_values), debug))


@cli.command()
@CONF
@SETS
@SHOW
@VERBOSE
@DEBUG
def check(conf: str, sets: tuple[str, ...], show_values: bool, verbose: bool, debug: bool) -> None:
    """Bind CONF to its input, print the plan and warn of risky columns; writes nothing."""
    _logging(verbose)
    sys.exit(guarded(lambda: commands.check(conf, sets, show_values), debug))


@cli.command()
@CONF
@SETS
@VERBOSE
@DEBUG
def audit(conf: str, sets: tuple[str, ...], verbose: bool, debug: bool) -> None:
    """Audit what is published at the output of CONF, from the published table alone."""
    _logging(verbose)
    sys.exit(guarded(lambda: commands.audit(conf, sets), debug))


def main(arguments: list[str] | None = None) -> None:
    """Entry point; a termination signal ends a run as Ctrl-C does, with everything of it removed."""
    signal.signal(signal.SIGTERM, _terminated)
    cli.main(args=arguments, prog_name="anon-spark")
