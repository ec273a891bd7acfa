"""The binding that cffi makes of the C headers (native.py). It is not typed: the modules of the package are."""
from typing import Any

ffi: Any
lib: Any
