"""The programs `pbm`, and `spiro` and the other games, each of which is `pbm` with the name of the game in front."""

import gc
import os
import sys


def main_of_game() -> None:
    """Run `pbm` for the game that the program is named after."""
    main(os.path.basename(sys.argv[0]).partition(".")[0])


def main(*game: str) -> None:
    """Run `pbm` with the arguments of the process, perhaps for a *game*, and end the process."""
    for name in "stdin", "stdout", "stderr":
        if getattr(sys, name) is None:  # the parent process has closed it; a mail server may
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r+"))
    gc.disable()  # saves `show` a tenth of its CPU; the operator's commands, which may run on, switch it on again
    status = run(list(game) + sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:  # what could not be printed is not tried again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    gc.freeze()  # to look for garbage at the end would take a sixth of the CPU of `show`
    sys.exit(status)


def run(args: list[str]) -> int:
    """Run the shell, and return the exit status. Whatever happens, the user gets a sentence and no traceback."""
    try:
        from pbm import environment

        try:
            environment.load()
        except environment.SettingsError as error:
            from pbm.terminal import fail

            status = 1
            if "deliver" in args:  # a mail that is piped to us waits until the settings are corrected
                status = os.EX_TEMPFAIL
            return fail(str(error), status, as_json="--json" in args)
        if os.environ.get("PBM_SERVER"):
            from pbm import remote

            return remote.main(args)
        from pbm import shell

        return shell.main(args)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our answer has seen enough
        pass
    except Exception as error:
        if "PBM_DEBUG" in os.environ:
            raise
        sentence = f"pbm has a fault here ({type(error).__name__}: {error}); PBM_DEBUG=1 shows where."
        if isinstance(error, OSError):
            from pbm.disk import reason

            what = error.filename or "The system refused something"
            sentence = f"{what}: {reason(error)}."
        sys.stderr.write(f"{sentence}\n")
    return 1


if __name__ == "__main__":
    main()
