# SPDX-License-Identifier: Apache-2.0
"""A proxy, where it is copied, pickled or shown: nothing tells it from the object within."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from otel_a2a.clients._proxy import Proxy


@pytest.mark.parametrize("twin_of", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_twin_is_one_of_the_object_within(twin_of: Callable[[Any], Any]) -> None:
    """Copying and pickling give what they give of the object itself, with nothing of ours around it."""
    twin = twin_of(Proxy(io.BytesIO(b"{}")))
    assert type(twin) is io.BytesIO
    assert twin.read() == b"{}"


@pytest.mark.parametrize("twin_of", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_has_no_twin_says_so_itself(twin_of: Callable[[Any], Any]) -> None:
    """Where the object cannot be copied, the application gets the error that it would get without us."""

    async def messages() -> AsyncIterator[bytes]:
        yield b"{}"

    within = messages()
    with pytest.raises(TypeError) as expected:
        twin_of(within)
    with pytest.raises(TypeError) as found:
        twin_of(Proxy(within))
    assert str(found.value) == str(expected.value)


def test_it_is_shown_as_the_object_within() -> None:
    """``repr`` and ``isinstance`` say what they say of the object itself."""
    within = io.BytesIO(b"{}")
    assert repr(Proxy(within)) == repr(within)
    assert isinstance(Proxy(within), io.BytesIO)
