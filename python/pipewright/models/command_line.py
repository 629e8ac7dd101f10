# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the commands that write language models have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

from ..onnxfile import Graph

Config = TypeVar("Config")


def write_from_command_line(
    parser: argparse.ArgumentParser,
    make_config: Callable[..., Config],
    make_model: Callable[[Config], Graph],
) -> None:
    """Writes the model of the configuration that the options of `parser` name.

    A configuration that refuses them is a wrong command line.
    """
    parser.add_argument("--no-weights", action="store_true",
                        help="make the parameters inputs of the graph, for "
                        "--params-from-inputs")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    options = vars(parser.parse_args())
    output = options.pop("output")
    try:
        config = make_config(**options)
    except ValueError as error:
        parser.error(str(error))
    make_model(config).save(output)
