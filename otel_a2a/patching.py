# SPDX-License-Identifier: Apache-2.0
"""Wrapping one method of a foreign class, and taking the wrapper off again without harm to others.

A plain closure stands in for the method, because a request that is not A2A pays for it too. Other packages patch the
same methods: whoever unwraps blindly removes the wrapper of somebody else. So a wrapper of ours is taken off only where
it is outermost; else it stays and lets everything through, and is taken into service again by the next install.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

Method = Callable[..., Any]

MAX_LAYERS: Final = 50
"""How deep to look for a wrapper of ours: some objects have whatever attribute they are asked for, without end."""


class PatchPointMissing(Exception):
    """The library has no such method, so this version of it cannot be patched."""


@dataclass(slots=True, eq=False)
class Patch:
    """One wrapped method. A wrapper reads ``active`` before anything else, and calls ``original`` where it is false."""

    owner: type
    name: str
    original: Method
    """What the class's attribute lookup gave: a wrapper of somebody else's may be a descriptor."""
    replaced: Any
    """What lay in the class's ``__dict__``, to be put back."""
    wrapper: Method
    build: Callable[[Patch], Method]
    active: bool = False

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Off the class while somebody else, who knows nothing of us, wraps the method or takes a wrapper off it.

        Afterwards ours is outermost again. Where it is not outermost now, nothing is done.
        """
        if self.owner.__dict__.get(self.name) is not self.wrapper:
            yield
            return
        setattr(self.owner, self.name, self.replaced)
        try:
            yield
        finally:
            self.put_on()

    def put_on(self) -> None:
        """Wrap what the class has now."""
        self.replaced = self.owner.__dict__[self.name]
        self.original = getattr(self.owner, self.name)
        # Attributes of theirs are not copied: who finds its own mark on our wrapper takes ours for its own, and off.
        self.wrapper = functools.wraps(self.original, updated=())(self.build(self))
        setattr(self.owner, self.name, self.wrapper)

    def remove(self) -> None:
        """Take the wrapper out of service, and off the class where nobody else has wrapped it."""
        self.active = False
        if self.owner.__dict__.get(self.name) is self.wrapper:
            setattr(self.owner, self.name, self.replaced)
            _patches.pop((self.owner, self.name), None)


_patches: dict[tuple[type, str], Patch] = {}


def find(owner: type, name: str) -> type:
    """The class along ``owner``'s ancestry that defines ``name``.

    Raises:
        PatchPointMissing: none defines it.
    """
    for defining in owner.__mro__:
        if name in defining.__dict__:
            return defining
    raise PatchPointMissing(f"{owner.__module__}.{owner.__qualname__} has no {name}")


def installed(owner: type, name: str) -> Patch | None:
    """The patch of ``owner.name``, where there is one."""
    return _patches.get((owner, name))


def install(owner: type, name: str, build: Callable[[Patch], Method]) -> Patch:
    """Wrap ``owner.name`` with what ``build`` makes, or take the wrapper that is still in place into service again.

    Raises:
        PatchPointMissing: there is no such method.
    """
    owner = find(owner, name)
    replaced = owner.__dict__[name]
    patch = _patches.get((owner, name))
    if patch is None or not _is_beneath(patch.wrapper, replaced):
        original = getattr(owner, name)
        patch = _patches[owner, name] = Patch(owner, name, original, replaced, original, build)
        patch.put_on()
    patch.active = True
    return patch


def _is_beneath(wrapper: Method, outermost: object) -> bool:
    layer = outermost
    for _ in range(MAX_LAYERS):
        if layer is wrapper:
            return True
        layer = getattr(layer, "__wrapped__", None)
        if layer is None:
            break
    return False
