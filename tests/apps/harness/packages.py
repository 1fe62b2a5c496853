# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Packages that a case needs and a machine may lack: its skip names them."""

import shutil

from .report import Skipped


def need(programs):
    """programs: {program or file: package that has it}"""
    missing = {package for program, package in programs.items()
               if not shutil.which(program)}
    if missing:
        raise Skipped(f"not installed: {', '.join(sorted(missing))}")
