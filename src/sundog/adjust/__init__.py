"""Post-processing of synthetic rows: public values only, so it costs nothing beyond what was measured.

The package is also the function `sundog.adjust(...)` (see sundog.adjusting): calling the module calls it.
"""

import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from sundog.adjusting import adjust

        return adjust(*arguments, **options)


sys.modules[__name__].__class__ = _CallableModule
