# SPDX-License-Identifier: Apache-2.0
"""A proxy that cannot be told from what it stands for, where it is copied, pickled or shown.

``wrapt``'s own refuses to be copied and pickled, and shows itself: an application that does any of it with an object of
its library would notice us.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import wrapt

if TYPE_CHECKING:
    _ObjectProxy = wrapt.ObjectProxy[Any]
else:  # before wrapt 2 it takes no type argument
    _ObjectProxy = wrapt.ObjectProxy


class Proxy(_ObjectProxy):
    """``isinstance`` and every attribute are those of the object within; a copy is a copy of that object."""

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __copy__(self) -> Any:
        return copy.copy(self.__wrapped__)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(self.__wrapped__, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__wrapped__.__reduce_ex__(protocol)
