# SPDX-License-Identifier: Apache-2.0
"""Content codings, decoded chunk by chunk."""

from __future__ import annotations

import gzip
import sys
import zlib
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_a2a.wire import encodings
from otel_a2a.wire.encodings import CannotDecode, Decoder, decoder
from tests.wire.streams import PLACES, cut_at, deflated, gzipped, members

MOST = 1_000_000


def made(coding: str) -> Decoder:
    found = decoder(coding)
    assert found is not None
    return found


def decoded(coding: str, chunks: list[bytes]) -> bytes:
    step = made(coding)
    return b"".join(step.feed(chunk, MOST) for chunk in chunks)


@pytest.mark.parametrize("coding", [None, "", "identity", " Identity , identity"])
def test_nothing_to_decode(coding: str | None) -> None:
    """There is no decoder where none is needed."""
    assert decoder(coding) is None


@given(st.binary(max_size=300), PLACES)
def test_any_chunking_decodes(body: bytes, places: list[int]) -> None:
    """gzip, deflate in both its forms, and two codings at once."""
    both = gzip.compress(zlib.compress(body))
    for coding, encoded in (
        ("gzip", gzip.compress(body)),
        ("X-GZip", gzip.compress(body)),
        ("deflate", zlib.compress(body)),
        ("deflate", b"".join(deflated([body], raw=True))),
        ("deflate, gzip", both),
    ):
        assert decoded(coding, cut_at(encoded, places)) == body


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=5))
def test_flushed_chunks_decode_as_they_come(chunks: list[bytes]) -> None:
    """A stream is not held back."""
    step = made("gzip")
    assert [step.feed(chunk, MOST) for chunk in gzipped(chunks)][: len(chunks)] == chunks


def test_gzip_may_have_several_members_and_garbage_behind_them() -> None:
    """In one chunk or many; the garbage is neither decoded nor kept."""
    encoded = members([b"one ", b"two ", b"three"])
    assert decoded("gzip", [encoded]) == b"one two three"
    assert decoded("gzip", [encoded[i : i + 1] for i in range(len(encoded))]) == b"one two three"
    assert decoded("gzip", [encoded, b"garbage", b"garbage"]) == b"one two three"


def test_a_copy_goes_its_own_way() -> None:
    """Which is how a compressed chunk can be cut."""
    first, second = gzipped([b"one ", b"two"])[:2]
    for coding, chunks in (("gzip", (first, second)), ("deflate", deflated([b"one ", b"two"])[:2])):
        step = made(coding)
        step.feed(chunks[0], MOST)
        copy = step.copy()
        assert copy is not None
        assert step.feed(chunks[1], MOST) == copy.feed(chunks[1], MOST) == b"two"
    fresh = made("deflate").copy()
    assert fresh is not None and fresh.feed(zlib.compress(b"x"), MOST) == b"x"


@pytest.mark.parametrize("coding", ["compress", "gzip, gzip, gzip", "snappy"])
def test_unknown_codings_cannot_be_decoded(coding: str) -> None:
    """Nor can more of them than anybody means seriously."""
    with pytest.raises(CannotDecode):
        decoder(coding)


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_broken_bytes_cannot_be_decoded(coding: str) -> None:
    """The only exception is our own."""
    with pytest.raises(CannotDecode):
        made(coding).feed(b"\x07" * 50, MOST)


def test_a_bomb_is_not_blown_up() -> None:
    """A kilobyte that decodes to a megabyte is given up on."""
    with pytest.raises(CannotDecode):
        made("gzip").feed(gzip.compress(b"\0" * 1_000_000), 10_000)


class Library:
    """A decompressor as the optional libraries have it."""

    def process(self, chunk: bytes) -> bytes:
        if chunk == b"broken":
            raise RuntimeError("broken")
        return chunk[::-1]

    decompress = process

    def decompressobj(self) -> Library:
        return self


@pytest.mark.parametrize(
    ("coding", "module", "members_of_module"),
    [
        ("br", "brotli", {"Decompressor": Library}),
        ("br", "brotlicffi", {"Decompressor": lambda: SimpleNamespace(decompress=Library().decompress)}),
        ("zstd", "zstandard", {"ZstdDecompressor": Library}),
        ("zstd", "compression.zstd", {"ZstdDecompressor": Library}),
    ],
)
def test_optional_libraries_are_used_where_they_are_installed(
    monkeypatch: pytest.MonkeyPatch, coding: str, module: str, members_of_module: dict[str, Any]
) -> None:
    """Each by its own interface; they cannot be copied, and their exceptions stay here."""
    for name in ("brotli", "brotlicffi", "zstandard", "compression", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    encodings._library.cache_clear()
    with pytest.raises(CannotDecode):
        decoder(coding)
    encodings._library.cache_clear()
    if "." in module:
        monkeypatch.setitem(sys.modules, module.partition(".")[0], ModuleType(module.partition(".")[0]))
    monkeypatch.setitem(sys.modules, module, SimpleNamespace(**members_of_module))
    step = made(coding)
    assert step.feed(b"abc", MOST) == b"cba"
    assert step.copy() is None
    for chunk, most in ((b"broken", MOST), (b"abc", 2)):
        with pytest.raises(CannotDecode):
            step.feed(chunk, most)
    chain = made(f"{coding}, gzip")
    assert chain.feed(gzip.compress(b"abc"), MOST) == b"cba" and chain.copy() is None
    encodings._library.cache_clear()
