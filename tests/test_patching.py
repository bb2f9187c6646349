# SPDX-License-Identifier: Apache-2.0
"""Wrappers of ours and of others on one method, put on and taken off in every order."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest
import wrapt

from otel_a2a import patching


def count_into(log: list[str]) -> Callable[[patching.Patch], patching.Method]:
    def build(patch: patching.Patch) -> patching.Method:
        original = patch.original

        def send(self: Any, value: int) -> Any:
            if patch.active:
                log.append("ours")
            return original(self, value)

        return send

    return build


def pass_through(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
    return wrapped(*args, **kwargs)


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def client() -> type[Any]:
    class Client:
        def send(self, value: int) -> int:
            return value + 1

    return Client


def wrap(client: type[Any], log: list[str]) -> Callable[[], None]:
    """Wrap ``send`` as other packages do; calling what is returned unwraps it again."""
    original = client.send

    @functools.wraps(original)
    def theirs(self: Any, value: int) -> Any:
        log.append("theirs")
        return original(self, value)

    client.send = theirs

    def unwrap() -> None:
        client.send = original

    return unwrap


def test_patched_and_restored(client: type[Any], log: list[str]) -> None:
    """The wrapper is called while installed; afterwards the class is as it was, to the object."""
    before = client.__dict__["send"]
    patch = patching.install(client, "send", count_into(log))
    assert client().send(1) == 2
    assert log == ["ours"]
    patch.remove()
    assert client.__dict__["send"] is before
    assert client().send(1) == 2
    assert log == ["ours"]


def test_installing_twice_wraps_once(client: type[Any], log: list[str]) -> None:
    """A second install finds the first one's wrapper."""
    first = patching.install(client, "send", count_into(log))
    assert patching.install(client, "send", count_into(log)) is first
    client().send(1)
    assert log == ["ours"]


def test_uninstalling_twice_is_harmless(client: type[Any], log: list[str]) -> None:
    """The second uninstall finds nothing to do, even where somebody has patched in between."""
    patch = patching.install(client, "send", count_into(log))
    patch.remove()
    wrap(client, log)
    theirs = client.__dict__["send"]
    patch.remove()
    assert client.__dict__["send"] is theirs


def test_wrapper_beneath_another_stays_and_lets_everything_through(client: type[Any], log: list[str]) -> None:
    """Taking ours off never takes theirs off; ours is called no more, and comes back to life on the next install."""
    patch = patching.install(client, "send", count_into(log))
    wrap(client, log)
    theirs = client.__dict__["send"]
    patch.remove()
    assert client.__dict__["send"] is theirs
    assert client().send(1) == 2
    assert log == ["theirs"]

    log.clear()
    assert patching.install(client, "send", count_into(log)) is patch
    assert client.__dict__["send"] is theirs
    assert client().send(1) == 2
    assert log == ["theirs", "ours"]


def test_theirs_taken_off_above_ours(client: type[Any], log: list[str]) -> None:
    """They restore what they found, which is ours; ours can then be taken off as well."""
    before = client.__dict__["send"]
    patch = patching.install(client, "send", count_into(log))
    unwrap = wrap(client, log)
    unwrap()
    assert client().send(1) == 2
    assert log == ["ours"]
    patch.remove()
    assert client.__dict__["send"] is before


def test_ours_on_top_of_theirs(client: type[Any], log: list[str]) -> None:
    """Ours is outermost, calls theirs, and leaves theirs behind."""
    wrap(client, log)
    theirs = client.__dict__["send"]
    patch = patching.install(client, "send", count_into(log))
    client().send(1)
    assert log == ["ours", "theirs"]
    patch.remove()
    assert client.__dict__["send"] is theirs


def test_marks_of_theirs_are_not_ours(client: type[Any], log: list[str]) -> None:
    """Some look for a mark of their own before they unwrap, and must not find it on our wrapper."""
    wrap(client, log)
    client.send.marked = True
    patching.install(client, "send", count_into(log))
    assert not hasattr(client.send, "marked")


def test_ours_removed_by_others_is_put_on_again(client: type[Any], log: list[str]) -> None:
    """Where somebody has restored the bare method over ours, the next install wraps it anew."""
    bare = client.__dict__["send"]
    patch = patching.install(client, "send", count_into(log))
    client.send = bare
    patch.remove()
    assert client.__dict__["send"] is bare
    again = patching.install(client, "send", count_into(log))
    assert again is not patch
    client().send(1)
    assert log == ["ours"]


def test_wrapper_that_hides_what_it_wraps(client: type[Any], log: list[str]) -> None:
    """Above a wrapper without ``__wrapped__`` a new one of ours is put, and the forgotten one beneath stays silent."""
    patch = patching.install(client, "send", count_into(log))
    wrap(client, log)
    del client.send.__wrapped__
    patch.remove()
    again = patching.install(client, "send", count_into(log))
    client().send(1)
    assert log == ["ours", "theirs"]
    again.remove()
    log.clear()
    client().send(1)
    assert log == ["theirs"]


def test_stepping_aside_lets_theirs_come_beneath_ours(client: type[Any], log: list[str]) -> None:
    """Who wraps while ours is aside lies below it, and who unwraps finds its own wrapper on top."""
    before = client.__dict__["send"]
    patch = patching.install(client, "send", count_into(log))
    assert patching.installed(client, "send") is patch
    with patch.aside():
        unwrap = wrap(client, log)
    client().send(1)
    assert log == ["ours", "theirs"]

    log.clear()
    with patch.aside():
        unwrap()
    client().send(1)
    assert log == ["ours"]
    patch.remove()
    assert client.__dict__["send"] is before
    assert patching.installed(client, "send") is None


def test_stepping_aside_ends_with_what_goes_wrong_meanwhile(client: type[Any], log: list[str]) -> None:
    """Ours is back on the class whatever they raise."""
    patch = patching.install(client, "send", count_into(log))
    with pytest.raises(LookupError), patch.aside():
        raise LookupError
    client().send(1)
    assert log == ["ours"]


def test_stepping_aside_from_beneath_another_does_nothing(client: type[Any], log: list[str]) -> None:
    """A third party's wrapper above ours is not touched."""
    patch = patching.install(client, "send", count_into(log))
    wrap(client, log)
    theirs = client.__dict__["send"]
    with patch.aside():
        assert client.__dict__["send"] is theirs
    client().send(1)
    assert log == ["theirs", "ours"]


def test_wrapt_wrapper_beneath_is_called_as_a_method(client: type[Any], log: list[str]) -> None:
    """Wrappers made with wrapt are descriptors: they get the instance as they would without us, and are put back."""
    instances: list[object] = []

    def theirs(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        instances.append(instance)
        return wrapped(*args, **kwargs)

    client.send = wrapt.FunctionWrapper(client.send, theirs)
    wrapper = client.__dict__["send"]
    patch = patching.install(client, "send", count_into(log))
    one = client()
    assert one.send(1) == 2
    assert instances == [one]
    patch.remove()
    assert client.__dict__["send"] is wrapper


def test_wrapt_wrapper_above_is_seen_through(client: type[Any], log: list[str]) -> None:
    """Such a wrapper hands out our attributes as its own, and is not mistaken for ours."""
    patch = patching.install(client, "send", count_into(log))
    client.send = wrapt.FunctionWrapper(client.__dict__["send"], pass_through)
    wrapper = client.__dict__["send"]
    patch.remove()
    assert client.__dict__["send"] is wrapper
    assert patching.install(client, "send", count_into(log)) is patch
    client().send(1)
    assert log == ["ours"]


def test_inherited_method_is_patched_where_it_is_defined(client: type[Any], log: list[str]) -> None:
    """A subclass put in the library's place (as older HTTP instrumentations do) leads to the class with the method."""
    replacement = type("Replacement", (client,), {})
    patch = patching.install(replacement, "send", count_into(log))
    assert patch.owner is client
    assert "send" not in vars(replacement)
    client().send(1)
    replacement().send(1)
    assert log == ["ours", "ours"]


def test_missing_method(client: type[Any], log: list[str]) -> None:
    """What is not there cannot be patched, and the message says what."""
    with pytest.raises(patching.PatchPointMissing, match="Client has no transmit"):
        patching.install(client, "transmit", count_into(log))


def test_endless_chain_of_wrappers_ends(log: list[str]) -> None:
    """Objects that answer to every attribute, as mocks do, cannot hold us up."""

    class Endless:
        def __getattr__(self, name: str) -> Endless:
            if name in functools.WRAPPER_ASSIGNMENTS:
                raise AttributeError(name)
            return Endless()

        def __call__(self) -> None: ...

    class Client:
        def send(self) -> None: ...

    patch = patching.install(Client, "send", count_into(log))
    Client.send = Endless()  # type: ignore[method-assign, assignment]
    patch.remove()
    assert patching.install(Client, "send", lambda patch: lambda self: None) is not patch


def test_asynchronous_wrapper_stays_a_coroutine_function() -> None:
    """Frameworks ask, so the answer must not change."""

    class Client:
        async def send(self) -> int:
            return 1

    def build(patch: patching.Patch) -> patching.Method:
        async def send(self: Any) -> Any:
            return await patch.original(self)

        return send

    patching.install(Client, "send", build)
    assert inspect.iscoroutinefunction(Client.send)
