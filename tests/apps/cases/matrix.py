# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Every perftest program with every option it takes, as perftest.matrix says,
over an IPv4 and an IPv6 GID."""

import os
import subprocess

from harness.pair import result_rows, run_perftest
from harness.report import Failed

FILE = os.path.join(os.path.dirname(__file__), '..', 'perftest.matrix')
SIZES_OF_ALL = {f'ib_{what}': [2 ** i for i in range(1, 24)]
                for what in ('send_bw', 'write_bw', 'read_bw',
                             'send_lat', 'write_lat', 'read_lat')}
UD_MTU = 4096           # of the devices of all settings: a message is a packet


class Matrix:
    def __init__(self, path=FILE):
        self.options = {}       # name: arguments
        self.iterations = None
        self.cells = {}         # (program, option name): taken or refused
        columns = []
        with open(path, encoding='ascii') as f:
            for line in f:
                words = line.split('#')[0].split()
                if not words:
                    continue
                if words[0] == 'option':
                    self.options[words[1]] = words[2:]
                elif words[0] == 'iterations':
                    self.iterations = words[1]
                elif words[0] == 'program':
                    columns = words[1:]
                else:
                    self._add_row(words[0], columns, words[1:])

    def _add_row(self, program, columns, marks):
        assert len(columns) == len(marks), program
        for option, mark in zip(columns, marks):
            assert mark in 'y-', (program, mark)
            self.cells[program, option] = mark == 'y'

    def arguments(self, program, option):
        words = self.options[option]
        if ':' in program:
            words = ['-c', program.split(':')[1], *words]
        return words if '-n' in words else [*words, '-n', self.iterations]

    def taken(self):
        return [cell for cell, taken in self.cells.items() if taken]

    def refused(self):
        return [cell for cell, taken in self.cells.items() if not taken]


def check_refused(matrix, program, option):
    """The program's own parser refuses the option, before any device."""
    argv = [program.split(':')[0], '-d', 'none',
            *matrix.arguments(program, option)]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=300, check=False)
    if done.returncode == 0 or 'device' in done.stdout:
        raise Failed('is not refused', done.stdout.splitlines())


def check_taken(matrix, ends, family, program, option):
    options = matrix.arguments(program, option)
    program, _, transport = program.partition(':')
    if program.endswith('_lat'):
        # Cycles, because for microseconds perftest measures the processor's
        # frequency for 0.2 s before each result.
        options = ['-C', *options]
    pair = run_perftest(ends, family, program, options)
    rows = result_rows(pair.client.output())
    sizes = [int(row[0]) for row in rows]
    expected = sizes[:1]
    if option == 'all':
        expected = SIZES_OF_ALL[program]
    if option == 'all' and transport == 'UD':
        expected = [size for size in expected if size <= UD_MTU]
    if not rows or sizes != expected:
        pair.fail(f'results for sizes {sizes}, not {expected or "any"}')


def run_refused(report, matrix=None):
    matrix = matrix or Matrix()
    for program, option in matrix.refused():
        report.case(f'refused.{program}.{option}', check_refused,
                    matrix, program, option)


def run(report, setting):
    matrix = Matrix()
    for family in setting.families(report):
        for program, option in matrix.taken():
            report.case(f'{setting.name}.{family}.{program}.{option}',
                        check_taken, matrix, setting.ends(family), family,
                        program, option)
    one = (setting.hosts[0], setting.hosts[0])
    for program in sorted({cell[0] for cell in matrix.cells}):
        report.case(f'{setting.name}.one_daemon.{program}', check_taken,
                    matrix, one, 'ipv4', program, 'plain')
