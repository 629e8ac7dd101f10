"""The comparison with public results, of a schedule that is not the one asked for."""

import sys

from pipewright.validation import product, schedules
from pipewright.validation.__main__ import main

ask = product.schedule_stages


def ask_for_gpipe(name, *arguments, **options):
    return ask("gpipe", *arguments, **options)


schedules.schedule_stages = ask_for_gpipe
sys.exit(main())
