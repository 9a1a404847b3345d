"""Decode many small JPEG images of one kind at once, with NumPy alone.

CIFAR-10 as we have it is 60,000 baseline JPEG files of 32 x 32 pixels that share one header: one
quantisation, one set of Huffman tables, chroma halved in both directions. So all images can be
decoded in lock step, one symbol of every image at a time: about a thousand steps for any number of
images. The machine with the accelerator then needs no image library, and 18 MB travel instead of
150.

``python -m benchmarks.truth.cifar_jpeg FILE.npz`` compares 200 images with Pillow, if it is there.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ZIGZAG = np.array(
    sorted(
        range(64),
        key=lambda k: (k // 8 + k % 8, k // 8 if (k // 8 + k % 8) % 2 else k % 8),
    )
)
"""Where the coefficients of a block stand, in the order of the file."""

CHUNK = 4096

COMPONENT = np.array([0, 0, 0, 0, 1, 2])
"""Of the six blocks of a unit of 16 x 16 pixels: four of luminance, one of each chroma."""


def cifar(file: Path, *, test: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the images (n x 3 x 32 x 32 bytes) and labels of the training or the test part."""
    with np.load(file) as packed:
        stream, offset, label, is_test = (packed[k] for k in ("jpeg", "offset", "label", "is_test"))
    chosen = np.flatnonzero(is_test.astype(bool) == test)
    return decode(stream, offset[chosen], offset[chosen + 1]), label[chosen].astype(np.int64)


def decode(stream: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Decode the images that lie at stream[begin:end]; they must share their header."""
    head, tables, quantum = _header(stream[begin[0] : end[0]])
    headers = stream[begin[:, None] + np.arange(head)]
    if not (headers == headers[0]).all():
        raise ValueError("the images do not share one header")
    bits, start = _entropy(stream, begin + head, end - 2)
    # A few thousand images at a time: their counters then stay in the processor's cache.
    parts = [start[at : at + CHUNK] for at in range(0, len(start), CHUNK)]
    return np.concatenate(
        [_colours(*_planes(_coefficients(bits, part, tables), quantum)) for part in parts]
    )


def _header(first: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the length of the header, the Huffman tables and the two tables of quantisation.

    A Huffman table is an array that maps the next 16 bits to 32 * symbol + length of its code.
    """
    data, at = first.tobytes(), 2
    tables, quantum = np.zeros((2, 2, 1 << 16), np.int32), np.zeros((2, 64))
    while True:
        marker, size = data[at + 1], int.from_bytes(data[at + 2 : at + 4])
        body = data[at + 4 : at + 2 + size]
        at += 2 + size
        if marker == 0xDB:
            quantum[body[0] & 15, ZIGZAG] = list(body[1:65])
        elif marker == 0xC4:
            code, symbols = 0, iter(body[17:])
            for length, count in enumerate(body[1:17], start=1):
                for symbol in (next(symbols) for _ in range(count)):
                    low = code << (16 - length)
                    entry = 32 * symbol + length
                    tables[body[0] >> 4, body[0] & 15, low : low + (1 << (16 - length))] = entry
                    code += 1
                code <<= 1
        elif marker == 0xC0:
            if body[:6] != bytes([8, 0, 32, 0, 32, 3]) or body[7] != 0x22:
                raise ValueError("only 32 x 32 images with halved chroma are understood")
        elif marker == 0xDA:
            return at, tables, quantum


def _entropy(
    stream: np.ndarray, begin: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of all images without the zeros that follow 255, and where each begins."""
    edges = np.zeros(len(stream) + 1, np.int8)
    np.add.at(edges, begin, 1)
    np.add.at(edges, end, -1)
    inside = np.cumsum(edges[:-1]).astype(bool)
    stuffed = np.concatenate([[False], (stream[:-1] == 255) & (stream[1:] == 0)]) & inside
    kept = inside & ~stuffed
    start = np.concatenate([[0], np.cumsum(kept)])[begin]
    return np.concatenate([stream[kept], np.zeros(8, np.uint8)]).astype(np.int64), start


def _coefficients(data: np.ndarray, start: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """Return images x 24 blocks x 64 coefficients, decoded one symbol of every image at a time."""
    images = len(start)
    out = np.zeros((images, 24, 64), np.int16)
    who, place = np.arange(images), start * 8
    block, k = np.zeros(images, np.int64), np.zeros(images, np.int64)
    last = np.zeros((images, 3), np.int64)  # the mean of a block is coded as a difference

    def peek(at: np.ndarray) -> np.ndarray:
        byte = at >> 3
        word = data[byte] << 16 | data[byte + 1] << 8 | data[byte + 2]
        return np.asarray(word >> (8 - (at & 7)) & 0xFFFF)

    while who.size:
        component = COMPONENT[block % 6]
        mean = k == 0
        entry = tables[np.where(mean, 0, 1), np.minimum(component, 1), peek(place)]
        symbol, place = entry >> 5, place + (entry & 31)
        run, size = np.where(mean, 0, symbol >> 4), symbol & 15

        # The value follows the code: size bits, of which a leading 0 means a negative number.
        value = peek(place) >> (16 - size)
        value = np.where(
            (size > 0) & (value < 1 << np.maximum(size - 1, 0)), value - (1 << size) + 1, value
        )
        place = place + size
        row = np.flatnonzero(mean)
        last[who[row], component[row]] += value[row]
        value[row] = last[who[row], component[row]]

        k = k + run
        written = np.flatnonzero(mean | (size > 0))
        out[who[written], block[written], ZIGZAG[k[written]]] = value[written]
        over = ~mean & (size == 0) & (run < 15)  # the rest of the block is zero
        k = np.where(over, 64, k + 1)
        block, k = np.where(k > 63, block + 1, block), np.where(k > 63, 0, k)

        going = block < 24
        if not going.all():
            who, place, block, k = who[going], place[going], block[going], k[going]
    return out


def _planes(
    coefficients: np.ndarray, quantum: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Undo quantisation and cosine transform, and put the blocks in their places."""
    frequency, place = np.arange(8)[:, None], np.arange(8)[None]
    wave = np.cos((2 * place + 1) * frequency * np.pi / 16) / 2
    wave[0] /= 2**0.5
    images = len(coefficients)
    blocks = coefficients.reshape(images, 4, 6, 8, 8).astype(np.float32)
    blocks *= quantum[np.minimum(COMPONENT, 1)].reshape(6, 8, 8).astype(np.float32)
    pixels = np.matmul(wave.T.astype(np.float32), np.matmul(blocks, wave.astype(np.float32))) + 128
    pixels = np.clip(np.rint(pixels), 0, 255)
    # Four units of 2 x 2, each with 2 x 2 blocks of luminance.
    units = pixels[:, :, :4].reshape(images, 2, 2, 2, 2, 8, 8)
    luminance = units.transpose(0, 1, 3, 5, 2, 4, 6).reshape(images, 32, 32)
    blue, red = (
        pixels[:, :, c].reshape(images, 2, 2, 8, 8).transpose(0, 1, 3, 2, 4).reshape(images, 16, 16)
        for c in (4, 5)
    )
    return luminance, blue, red


def _colours(luminance: np.ndarray, blue: np.ndarray, red: np.ndarray) -> np.ndarray:
    """Bring chroma to full size, three parts of a pixel to one of its neighbour, then to RGB."""

    def doubled(plane: np.ndarray, axis: int) -> np.ndarray:
        size = plane.shape[axis]
        before = np.take(plane, np.maximum(np.arange(size) - 1, 0), axis)
        after = np.take(plane, np.minimum(np.arange(size) + 1, size - 1), axis)
        pair = np.stack([0.75 * plane + 0.25 * before, 0.75 * plane + 0.25 * after], axis + 1)
        return pair.reshape(*plane.shape[:axis], 2 * size, *plane.shape[axis + 1 :])

    b, r = (doubled(doubled(plane, 1), 2) - 128 for plane in (blue, red))
    colours = np.stack(
        [luminance + 1.402 * r, luminance - 0.344136 * b - 0.714136 * r, luminance + 1.772 * b], 1
    )
    return np.clip(np.rint(colours), 0, 255).astype(np.uint8)


def check(file: Path, images: int = 200) -> None:
    """Print how far our pixels are from Pillow's."""
    from io import BytesIO

    from PIL import Image

    with np.load(file) as packed:
        stream, offset = packed["jpeg"], packed["offset"]
    chosen = np.linspace(0, len(offset) - 2, images).astype(int)
    ours = decode(stream, offset[chosen], offset[chosen + 1]).astype(int)
    raw = stream.tobytes()
    theirs = [Image.open(BytesIO(raw[offset[i] : offset[i + 1]])).convert("RGB") for i in chosen]
    gap = np.abs(ours - np.stack([np.asarray(each) for each in theirs]).transpose(0, 3, 1, 2))
    print(f"{images} images: mean difference {gap.mean():.3f} of 255, largest {gap.max()}")


if __name__ == "__main__" and len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
    check(Path(sys.argv[1]))
