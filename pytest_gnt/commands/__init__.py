"""The sub-commands of ``gnt``: one module each, with ``add_parser(subparsers)`` and ``run(arguments) -> int``."""
