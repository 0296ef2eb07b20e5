"""The command `poolsmith`: a verb's exit code, whatever happens.

Little is imported here: `--version` loads no parser, and an interrupt while a verb's modules load is caught too.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys

from poolsmith import TOOL

TYPE_CHECKING = False  # `typing` itself takes longer to load than `--version` takes to print
if TYPE_CHECKING:
    from typing import NoReturn

    from poolsmith.interface.cli.exits import Exit

_RARELY = 500_000
"""New objects between two searches for cycles: what is loaded and read has hardly any, and a search takes its time."""
_SOON = 0.01
"""Seconds after which an interrupt comes once more: late enough not to hit the same destructor."""
_HOOK = ["check", "--hook"]
_OF_PROJECT = ("generate", "check", "run")
"""What may be asked of a whole project without a parser of flags."""
_SELDOM = ("hashlib", "inspect", "ipaddress")
"""What is imported more often than used: by our own code, `dataclasses` and `urllib`."""

_OWN = ("poolsmith", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100, PTH120
"""The package, and its folder."""


def main() -> NoReturn:
    """Run, and turn whatever happens into an exit code. No traceback reaches a user."""
    sys.unraisablehook = _interrupt_again
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        _open_what_is_closed()
    gc.set_threshold(_RARELY)
    if sys.argv[1:] != ["--version"]:
        from poolsmith.core.own_modules import find_own_modules

        find_own_modules(*_OWN)
    _leave(_run(sys.argv[1:]))


def _leave(code: int) -> NoReturn:
    """End without taking every object apart, which would be a tenth of a short run: all is written and closed by then.

    What is still in a buffer and can't be written is a failure, told once; nothing of it is left to the interpreter,
    which would end with a code of its own. Profilers and coverage get to write theirs.
    """
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BrokenPipeError:
        code = code or 1
        _silence_output()
    except OSError as error:
        code = code or _beyond(error)
        _silence_output()
    except ValueError:
        sys.exit(code)
    if sys.gettrace() is None and sys.getprofile() is None:
        os._exit(code)
    sys.exit(code)


def _interrupt_again(unraisable: sys.UnraisableHookArgs) -> None:
    """An interrupt that hits a destructor would be shown as a traceback and forgotten; it comes once more instead."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
    elif not sys.is_finalizing():
        import _thread
        import threading

        again = threading.Timer(_SOON, _thread.interrupt_main)
        again.daemon = True
        again.start()


def _run(arguments: list[str]) -> int:
    try:
        if arguments == ["--version"]:
            sys.stdout.write(f"{TOOL}\n")
            sys.stdout.flush()
            return 0
        if arguments[:2] == _HOOK:
            from poolsmith.interface.cli.quiet_hook import has_nothing_to_judge

            if has_nothing_to_judge(arguments):
                return 0
        return _call(arguments)
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        _silence_output()
        return 1
    except (OSError, RecursionError, MemoryError) as error:
        return _beyond(error)
    except Exception as error:  # noqa: BLE001 - the last resort: a bug is told, not shown
        lacking = _package_of(error)
        return _not_whole(lacking) if lacking else _bug(error)


def _call(arguments: list[str]) -> int:
    from poolsmith.core.late import load_late
    from poolsmith.core.own_modules import use_kept_code

    kind = _kind_of_run(arguments)
    if kind is not None:
        use_kept_code(kind)
    for name in _SELDOM:
        load_late(name)
    from poolsmith.core.diagnostics.diagnostic import NoInputError, PoolsmithError, UsageError
    from poolsmith.interface.cli.exits import Exit

    try:
        if arguments[:2] == _HOOK:
            return _judge_hook(arguments)
        return _plain(arguments) if arguments and arguments[0] in _OF_PROJECT else _parsed(arguments)
    except UsageError as error:
        return _say(str(error), Exit.USAGE)
    except NoInputError as error:
        return _say(str(error), Exit.NO_INPUT)
    except PoolsmithError as error:
        return _say(str(error), Exit.FINDINGS)


def _kind_of_run(arguments: list[str]) -> str | None:
    """By which code is kept together; a `run` loads what a `check` does. None where few modules are needed, since
    nothing has changed as a rule."""
    if arguments[:2] == _HOOK:
        return " ".join(_HOOK)
    verb = "".join(arguments[:1])
    if verb == "generate" and "--check" in arguments:
        return None
    if verb == "check" and not all(word.startswith("-") for word in arguments[1:]):
        return "check PATHS"
    return {"run": "check"}.get(verb, verb) if verb in _OF_PROJECT else ""


def _judge_hook(arguments: list[str]) -> int:
    from poolsmith.interface.cli.quiet_hook import files_of

    files = files_of(arguments)
    if not files:
        return _parsed(arguments)
    from poolsmith.interface.cli.plain import judge_files

    return judge_files(arguments, files)


def _plain(arguments: list[str]) -> int:
    """Without a parser of flags, where there are none."""
    from poolsmith.interface.cli.plain import is_of_whole_project, judge_files, paths_of, work_on_project

    if is_of_whole_project(arguments):
        return work_on_project(arguments)
    paths = paths_of(arguments)
    return judge_files(arguments, paths) if paths else _parsed(arguments)


def _parsed(arguments: list[str]) -> int:
    """The verb that the arguments name, with its flags."""
    import click

    from poolsmith.interface.cli.exits import Exit
    from poolsmith.interface.cli.verbs import cli

    try:
        result = cli.main(arguments, prog_name="poolsmith", standalone_mode=False, obj=tuple(arguments))
    except click.exceptions.Abort:
        return _interrupted()
    except click.ClickException as error:
        from io import StringIO

        shown = StringIO()
        error.show(shown)
        return _write(shown.getvalue(), Exit.USAGE)
    return result if isinstance(result, int) else Exit.CLEAN


def _interrupted() -> int:
    from poolsmith.interface.cli.exits import Exit

    return _say("interrupted; what was not finished was not written", Exit.INTERRUPTED)


def _say(message: str, code: Exit) -> int:
    from poolsmith.core.diagnostics.masking import masked
    from poolsmith.core.diagnostics.message_text import printable

    return _write(f"poolsmith: {masked(printable(message))}\n", code)


def _write(text: str, code: Exit) -> int:
    """To standard error, without what could steer a terminal; if it is gone, the exit code still tells."""
    from poolsmith.core.diagnostics.message_text import harmless

    encoding = sys.stderr.encoding or "utf-8"
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(harmless(text).encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()
    return code


def _beyond(error: OSError | RecursionError | MemoryError) -> int:
    """What the machine can't do, or the input asks too much of: no bug, and a failure all the same."""
    from poolsmith.interface.cli.exits import Exit

    if isinstance(error, OSError):
        where = f": {os.fsdecode(error.filename)}" if isinstance(error.filename, (str, bytes)) else ""
        return _say(f"can't go on: {error.strerror or type(error).__name__}{where}", Exit.FINDINGS)
    what = "nested too deep" if isinstance(error, RecursionError) else "larger than the memory"
    return _say(f"can't go on: the input is {what}", Exit.FINDINGS)


def _package_of(error: Exception) -> str:
    """The package of others that could not be found; empty for any other error."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return "" if name in ("poolsmith", *sys.stdlib_module_names) else name


def _not_whole(package: str) -> int:
    """Even the parser of arguments may be what is missing."""
    sys.stderr.write(
        f"poolsmith: the package `{package}` is not installed for {sys.executable}; install what poolsmith needs: "
        "`pip install --require-hashes -r requirements-run.lock`\n"
    )
    return 70


def _open_what_is_closed() -> None:
    """Whoever closed an output does not want it; what is written there goes nowhere, and into no other file."""
    for number, stream in ((0, sys.stdin), (1, sys.stdout), (2, sys.stderr)):
        if stream is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for as long as we run
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for as long as we run


def _bug(error: Exception) -> int:
    """Where it happened, in one line, for a report; never the user's data."""
    from poolsmith.interface.cli.exits import Exit

    place = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f"{code.co_filename.rpartition('poolsmith/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    message = (
        f"internal error in {TOOL}: {type(error).__name__} at {place}; nothing was written. "
        "Please report this line together with the command"
    )
    return _say(message, Exit.INTERNAL)


def _silence_output() -> None:
    """The reader is gone; keep the interpreter from complaining about it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
