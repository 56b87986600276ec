"""Functions of the user that an option names as ``module:function``."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from gnn2logic.exceptions import ParameterError, TeacherError

__all__ = ["UserFunction"]


class UserFunction:
    """A function of the user, imported where it is called.

    Parameters
    ----------
    text : str
        ``package.module:function``. The module is installed, or in the folder of the process.
    must_be : str
        What the function is expected to be, for errors.
    """

    def __init__(self, text: str, must_be: str) -> None:
        self.module, _, self.function = text.rpartition(":")
        self._must_be = must_be

    def find(self) -> Callable[..., Any]:
        """Return the function."""
        with _this_folder(), self._telling():
            function = getattr(importlib.import_module(self.module), self.function, None)
            if not callable(function):
                raise ParameterError(
                    f"--teacher names {self.module}:{self.function}, but {self.function} is no "
                    "function."
                )
            return function  # type: ignore[no-any-return]

    def call(self, *arguments: Any, **named: Any) -> Any:
        """Return what the function returns; where it fails, say which line of it did."""
        function = self.find()
        with _this_folder(), self._telling():
            return function(*arguments, **named)

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except ModuleNotFoundError as error:
            if error.name is None or not f"{self.module}.".startswith(f"{error.name}."):
                raise self._failure(error) from error
            raise ParameterError(
                f"--teacher names the module {self.module!r}, but there is none. It must be "
                "installed, or be in the folder where the command is called."
            ) from error
        except ParameterError:
            raise
        except Exception as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> TeacherError:
        """Return an error that names the line of the user's code that failed."""
        frame = traceback.extract_tb(error.__traceback__)[-1]
        at = "" if frame.filename == __file__ else f" ({frame.filename}, line {frame.lineno})"
        return TeacherError(
            f"--teacher {self.module}:{self.function} must be {self._must_be}. It failed with "
            f"{type(error).__name__}: {error}{at}"
        )


@contextlib.contextmanager
def _this_folder() -> Iterator[None]:
    """Search the folder of the process for modules, which is not done by itself."""
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(here)
