"""Where a result comes from: version, commit, packages, machine, threads."""

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

import mfbo

PACKAGES = ("numpy", "scipy", "threadpoolctl", "joblib", "distributed", "torch", "botorch", "gpytorch")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


@dataclass(frozen=True)
class Threads:
    """What decides how many threads there are: variables of the environment, linear algebra libraries, our limit."""

    variables: Mapping[str, str]
    libraries: tuple[str, ...]
    limit: int


@dataclass(frozen=True)
class Origin:
    """The program, the packages and the machine behind a result. commit: None outside a checkout."""

    mfbo: str
    commit: str | None
    python: str
    packages: Mapping[str, str]
    platform: str
    cpu: str
    cpus: int | None
    host: str
    threads: Threads


@cache
def this_origin() -> Origin:
    """Return what can be said of this process; looked up once."""
    return Origin(
        mfbo=mfbo.__version__,
        commit=_commit(),
        python=platform.python_version(),
        packages={name: found for name in PACKAGES if (found := _version(name)) is not None},
        platform=platform.platform(),
        cpu=_cpu(),
        cpus=os.cpu_count(),
        host=platform.node(),
        threads=Threads(
            variables={name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
            libraries=tuple(_library(info) for info in threadpool_info()),
            limit=1,
        ),
    )


def origin_of(plain: Mapping[str, Any]) -> Origin:
    """Return the origin that a file holds."""
    threads = plain["threads"]
    held = Threads(dict(threads["variables"]), tuple(threads["libraries"]), threads["limit"])
    return Origin(**{**plain, "threads": held})


def _library(info: dict[str, Any]) -> str:
    return " ".join(str(info[key]) for key in ("internal_api", "version", "architecture") if info.get(key))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Return the commit mfbo is run from, "+changes" added if files of the package differ; None outside a checkout."""
    folder = Path(mfbo.__file__).parent
    if _git(folder, "ls-files", "--error-unmatch", "__init__.py") is None:  # a repository around an installed copy
        return None
    commit = _git(folder, "rev-parse", "HEAD")
    return f"{commit}+changes" if commit and _git(folder, "status", "--porcelain", ".") else commit


def _git(folder: Path, *arguments: str) -> str | None:
    git = shutil.which("git")
    if git is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603  (fixed words)
            [git, "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
