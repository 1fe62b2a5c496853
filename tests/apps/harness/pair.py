# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A server program and a client program that talk: start the server, wait
until it listens, run the client, judge how both ended."""

import re

from .gids import gid_index
from .ports import free_port, wait_listening
from .report import Failed

START_SECONDS = 60
TROUBLE = re.compile(
    r'.*(completion with error|failed status|Failed to|Couldn\'t|unable to|'
    r'invalid data|problems with warm up|segmentation fault).*', re.I)


class Pair:
    """The two processes of a run that has ended."""

    def __init__(self, server, client):
        self.server = server
        self.client = client

    def details(self):
        return self.client.tail() + self.server.tail()

    def fail(self, reason):
        raise Failed(reason, self.details())

    def check(self):
        """Both ended with 0 and neither printed a trouble that perftest
        does not put into its exit code."""
        for role, process in (('client', self.client),
                              ('server', self.server)):
            code = process.popen.returncode
            if code:
                self.fail(f'{role} ended with {code}')
            match = TROUBLE.search(process.output() + process.errors())
            if match:
                self.fail(f'{role} said "{match[0].strip()}"')


def run_pair(ends, program, options, flags, timeout):
    """flags(host, port) gives the options that name device, GID and port."""
    server_host, client_host = ends
    server = client = None
    port = free_port()
    try:
        server = server_host.start_rdma(
            [program, *flags(server_host, port), *options])
        if not wait_listening(server, port, START_SECONDS):
            raise Failed('server does not listen', server.tail())
        client = client_host.start_rdma(
            [program, *flags(client_host, port), *options, server_host.ipv4])
        if client.wait(timeout) is None:
            raise Failed(f'client still runs after {timeout} s',
                         client.tail() + server.tail())
        if server.wait(START_SECONDS if client.wait(0) == 0 else 1) is None:
            raise Failed('server still runs after its client ended',
                         client.tail() + server.tail())
        return Pair(server, client)
    finally:
        for process in (client, server):
            if process:
                process.close()


def run_perftest(ends, family, program, options, timeout=600):
    """Runs a perftest program; checks both ends; returns the Pair."""
    def flags(host, port):
        return ['-F', '-d', host.device, '-x', str(gid_index(host, family)),
                '-p', str(port)]
    pair = run_pair(ends, program, options, flags, timeout)
    pair.check()
    return pair


def run_pingpong(ends, family, options, timeout=600, forgive=None,
                 program='ibv_rc_pingpong'):
    """Runs a pingpong of libibverbs; checks both ends, unless forgive(pair); returns
    the Pair."""
    def flags(host, port):
        return ['-d', host.device, '-g', str(gid_index(host, family)),
                '-p', str(port)]
    pair = run_pair(ends, program, options, flags, timeout)
    if not (forgive and forgive(pair)):
        pair.check()
    return pair


def result_rows(text):
    """perftest's table: a list of rows, each a list of numbers, of which the
    first is the message size and the second the number of iterations."""
    rows = []
    for line in text.splitlines():
        words = line.split()
        if len(words) < 4:
            continue
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            continue
        if numbers[0].is_integer() and numbers[1].is_integer():
            rows.append(numbers)
    return rows
