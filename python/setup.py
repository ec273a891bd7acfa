"""pyproject.toml has what setuptools can be told there. The binding and the version need code."""
import runpy

from setuptools import setup

native = runpy.run_path("native.py")
setup(version=native["version"](), cffi_modules=["native.py:builder"], options={"bdist_wheel": {"py_limited_api": "cp39"}})
