"""The generator of src/base/random.h, which states the formulas, in numpy: the same bits."""

import numpy as np

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_NORMAL_SCALE = np.float32(float.fromhex("0x1.bb67aep-16"))


def _mix(x):
    z = x + _GAMMA
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def stream_of(name):
    """The stream of a tensor's name: its 64-bit FNV-1a hash."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value


def bits(seed, stream, count, first=0):
    """uint64 array of `count` values from index `first`; `stream` is a number or a name."""
    if isinstance(stream, str):
        stream = stream_of(stream)
    one = lambda x: np.array([x], dtype=np.uint64)  # arrays wrap around silently, scalars warn
    key = _mix(_mix(one(seed)) ^ one(stream))
    return _mix(key + np.arange(first, first + count, dtype=np.uint64) * _GAMMA)


def uniform(seed, stream, shape, first=0):
    """float32 in [-1, 1), in row-major order."""
    top = (bits(seed, stream, int(np.prod(shape)), first) >> np.uint64(40)).astype(np.int32)
    return ((top - 2**23).astype(np.float32) * np.float32(2.0**-23)).reshape(shape)


def normal(seed, stream, shape, first=0):
    """float32, about normal, mean 0, variance 1, in row-major order."""
    word = bits(seed, stream, int(np.prod(shape)), first)
    total = sum((word >> np.uint64(shift)) & np.uint64(0xFFFF) for shift in (0, 16, 32, 48))
    return ((total.astype(np.int32) - 131070).astype(np.float32) * _NORMAL_SCALE).reshape(shape)


def below(seed, stream, n, shape, first=0):
    """int64 in [0, n), n below 2^32, in row-major order."""
    word = bits(seed, stream, int(np.prod(shape)), first) >> np.uint64(32)
    return ((word * np.uint64(n)) >> np.uint64(32)).astype(np.int64).reshape(shape)


if __name__ == "__main__":  # prints the values that src/base/random_test.cc expects
    print([hex(v) for v in bits(1, 2, 3)], hex(stream_of("layer.0.weight")))
    print([float(v).hex() for v in uniform(7, "layer.0.weight", 4)])
    print([float(v).hex() for v in normal(7, "layer.0.weight", 4, first=2**33)])
    print(below(7, "ids", 50000, 4).tolist())
