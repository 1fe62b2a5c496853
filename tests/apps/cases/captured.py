# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A capture shows single RoCEv2 datagrams that others can read; traffic that
nobody captures goes in runs (UDP GSO and GRO)."""

import os
import shutil
import struct
import subprocess

from harness.capture import Capture, check_capture, datagram, frames
from harness.pair import run_perftest
from harness.report import Failed, Skipped

MALFORMED = 'udp.port == 4791 && (_ws.malformed || !infiniband)'
SCAPY_LIMIT = 400       # scapy takes its time
INTERFACE = {'loopback': 'lo', 'netns': 'veth0'}
RUNS = (
    # program, options, packets of 4096 bytes at least
    ('ib_write_bw', ['-s', '65536', '-n', '100'], 1600),
    ('ib_send_bw', ['-s', '65536', '-n', '100'], 1600),
    ('ib_read_bw', ['-s', '65536', '-n', '100'], 1600),
    ('ib_atomic_lat', ['-n', '100'], 200),
    # In smaller payloads tshark finds protocols that are not there.
    ('ib_write_lat', ['-s', '300', '-n', '100'], 200),
)


def counter(stat, *names):
    """The sum of the counters so named anywhere in rnicctl's JSON."""
    total = 0
    if isinstance(stat, dict):
        for name, value in stat.items():
            if name in names and isinstance(value, int):
                total += value
            else:
                total += counter(value, *names)
    elif isinstance(stat, list):
        total = sum(counter(item, *names) for item in stat)
    return total


def check_runs_used(setting):
    """Bulk traffic that nobody captures goes in runs, both ways."""
    run_perftest(setting.ends('ipv4'), 'ipv4', 'ib_write_bw', ['-n', '200'])
    server, client = (daemon.stat() for daemon in setting.daemons)
    if not counter(client, 'tx_runs'):
        raise Failed('the client\'s daemon sent no run', [str(client)])
    if not counter(server, 'rx_merged'):
        raise Failed('the server\'s daemon received no run', [str(server)])


def check_captured(setting, family, program, options, at_least):
    path = capture_run(setting, family, program, options)
    check_capture(path, at_least)
    check_tshark(path)


def capture_run(setting, family, program, options):
    if os.geteuid():
        raise Skipped('only root captures')
    if not shutil.which('tcpdump'):
        raise Skipped('no tcpdump')
    ends = setting.ends(family)
    # At the end that sends bulk data: a daemon sees captures of its own
    # namespace only.
    where = ends[0] if program == 'ib_read_bw' else ends[1]
    with Capture(setting, where, INTERFACE[setting.name],
                 f'{program}-{family}') as capture:
        run_perftest(ends, family, program, options)
    if capture.dropped():
        raise Failed(f'the kernel dropped {capture.dropped()} of the capture')
    return capture.path


def check_tshark(path):
    if not shutil.which('tshark'):
        raise Skipped('no tshark')
    done = subprocess.run(
        ['tshark', '-r', path, '-Y', MALFORMED,
         '-T', 'fields', '-e', 'frame.number', '-e', '_ws.col.Info'],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, timeout=300, check=False)
    if done.returncode:
        raise Failed(f'tshark ended with {done.returncode}')
    if done.stdout:
        raise Failed('tshark finds packets malformed',
                     done.stdout.splitlines()[:5])


def check_scapy(setting, family):
    """scapy's own ICRC agrees."""
    try:
        import scapy.contrib.roce as roce   # pylint: disable=C0415
        from scapy.layers.l2 import Ether   # pylint: disable=C0415
    except ImportError as missing:
        raise Skipped('no scapy') from missing
    path = capture_run(setting, family, 'ib_write_bw',
                       ['-s', '8192', '-n', '20'])
    compare_with_scapy(path, roce, Ether)


def compare_with_scapy(path, roce, ethernet):
    for number, frame in enumerate(frames(path), 1):
        if number > SCAPY_LIMIT:
            break
        if datagram(frame) is None:
            continue
        packet = ethernet(frame)
        if roce.BTH not in packet:
            raise Failed(f'scapy sees no BTH in datagram {number}')
        bth = packet[roce.BTH]
        if bth.compute_icrc(b'') != struct.pack('!I', bth.icrc):
            raise Failed(f'scapy computes another ICRC for {number}')


def run(report, setting):
    where = f'{setting.name}.capture'
    report.case(f'{where}.bulk_uses_runs', check_runs_used, setting)
    for family in setting.families(report):
        for program, options, at_least in RUNS:
            report.case(f'{where}.{family}.{program}', check_captured,
                        setting, family, program, options, at_least)
    # scapy 2.5 knows the ICRC over IPv4 only.
    report.case(f'{where}.ipv4.scapy', check_scapy, setting, 'ipv4')
