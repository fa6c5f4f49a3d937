"""Array types, read-only copies, and the limit on BLAS threads around numeric work."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@cache
def _threadpools() -> "ThreadpoolController":
    import scipy.linalg  # noqa: F401  (loads SciPy's own BLAS, so that the controller sees it)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread: on our small matrices two threads are many times slower than one."""
    with _threadpools().limit(limits=1, user_api="blas"):
        yield


def read_only(values: npt.ArrayLike, dtype: Any = np.float64) -> Any:
    """Copy ``values`` into an array that nobody can write to, as the records keep them."""
    array = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array
