"""Root conftest: `pytester` may only be enabled here. The suites and the tests share it."""

pytest_plugins = ["pytester"]
