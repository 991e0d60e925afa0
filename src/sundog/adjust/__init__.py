"""Adjusters: what may be done to synthetic rows after they are drawn. Public zone: synthetic rows and released values only.

The package is also the function `sundog.adjust(...)` (see sundog.adjusting): calling the module calls it.
"""

import sys
from types import ModuleType
from typing import Any

from sundog.adjust.constraints import enforce, violations
from sundog.adjust.match import Matching, NotMet

__all__ = ["Matching", "NotMet", "enforce", "violations"]


class _CallableModule(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from sundog.adjusting import adjust

        return adjust(*arguments, **options)


sys.modules[__name__].__class__ = _CallableModule
