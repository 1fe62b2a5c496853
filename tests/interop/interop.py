#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""RDMA programs between rnicd and Linux's own rxe, each end as server and as client.

Boots the rig (rig/rig) with one guest, starts rnicd in the rig's namespace on the
bridge, and runs every case of CASES in both directions; those of SMALL_MTU_CASES once more
after the network's MTU was made 1500, which both ends must follow. With --peer guest a
second guest stands in for rnicd: the same cases between two real rxe devices, which tells
a fault of the rig from one of ours. All but rcdata, which looks at every byte, are stock programs.

Prints 'ok NAME' or 'not ok NAME: REASON' a case and ends with 'N passed, N failed'; exits
0, 1, or 77 where this machine cannot run the rig. What the programs of a failed case
printed, and its packets (NAME.pcap), are kept in the folder --keep.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from cases import CASES, CM_CASES, LOSS_CASES, SMALL_MTU, SMALL_MTU_CASES, CmCase, check_quiet
from ends import CASE_SECONDS, Cannot, Failure, Guest, Host, Job, Rig, last_line, remove_stale

# Counters of rxe that tell of trouble on the way.
FAULT_COUNTERS = (
    'duplicate_request',
    'out_of_seq_request',
    'rcvd_rnr_err',
    'send_rnr_err',
    'rcvd_seq_err',
    'retry_exceeded_err',
    'retry_rnr_exceeded_err',
    'completer_retry_err',
    'send_err',
)


# name: the case that is run with packets lost each way, by rnicd's rules or in the guest's network
LOST = {name + '_loss': name for name in LOSS_CASES}
GUEST_LOST = {name + '_guest_loss': name for name in LOSS_CASES}
# name: the case that is run with each packet of the guest marked on its way
MARKED = {name + '_marked': name for name in ('ib_write_bw', 'ib_read_bw')}

OUTPUTS = ('.server', '.client')
PERFTEST_TRIES = 20
TOO_EARLY = ('RDMA_CM_EVENT_REJECTED; error: 8', 'RDMA_CM_EVENT_UNREACHABLE; error: 1')


class TooEarly(Failure):
    """A client of perftest -R that the server did not listen for yet."""


def too_early(case, output):
    return case.program.startswith('ib_') and any(event in output for event in TOO_EARLY)


class Run:
    """Runs cases between two ends and keeps the count."""

    def __init__(self, rig, folder, keep):
        self.rig = rig
        self.folder = folder
        self.keep = keep
        self.port = 19000
        self.gids = {}
        self.passed = self.failed = 0

    def gid_index(self, end, ipv6):
        """The index of the end's link-local GID, or of that which maps its IPv4 address."""
        if (end, ipv6) not in self.gids:
            gid = r'fe80:[0-9a-f:]+' if ipv6 else '::ffff:' + re.escape(end.address)
            job = Job(end.rdma('ibv_devinfo', '-v', '-d', 'rxe0'), os.path.join(self.folder, 'devinfo'), end.env)
            status = job.wait(time.monotonic() + CASE_SECONDS)
            job.end()
            found = re.search(r'GID\[\s*(\d+)\]:\s*%s,' % gid, job.output())
            if status or not found:
                raise Failure('%s: no GID %s (ibv_devinfo: exit %s): %s' %
                              (end.kind, gid, status, last_line(job.output())))
            self.gids[end, ipv6] = int(found.group(1))
        return self.gids[end, ipv6]

    def command(self, case, end, peer=None):
        if isinstance(case, CmCase):
            args = case.client if peer else case.server
            at = 'address6' if case.ipv6 else 'address'
            return end.rdma(case.program, *args.format(to=getattr(peer or end, at), own=getattr(end, at)).split())
        gid = '-g' if case.program.startswith('ibv_') or case.program == 'rcdata' else '-x'
        argv = [case.program, '-d', 'rxe0', gid, self.gid_index(end, case.ipv6), '-p', self.port, *case.args]
        if case.program == 'rcdata' and end.kind == 'rxe':
            argv.append('-k')
        return end.rdma(*argv, *([peer.address] if peer else []))

    def listens(self, case, end):
        """Does the server's socket, its ID of rdma_cm, or its interface to the group?"""
        told = None
        if isinstance(case, CmCase) and case.group:
            look, told = end.plain('cat', '/proc/net/dev_mcast'), end.group_mac(case.group)
        elif isinstance(case, CmCase):
            look, told = end.cm_ids(), 'LISTEN'
        else:
            look = end.plain('ss', '-ltnH', 'sport', '=', ':%d' % self.port)
        found = subprocess.run(look, env=end.env, stdin=subprocess.DEVNULL, capture_output=True,
                               text=True, timeout=CASE_SECONDS, check=False).stdout
        return told in found if told else found.strip()

    def wait_listening(self, case, server, end, deadline):
        """Return when the server listens, raise when it ended instead."""
        while True:
            if self.listens(case, end):
                return
            if server.proc.poll() is not None:
                raise Failure('the server ended before it listened, exit %d: %s' %
                              (server.proc.returncode, last_line(server.output())))
            if time.monotonic() > deadline:
                raise Failure('the server did not listen')
            time.sleep(0.05)

    def capture(self, path):
        """Capture on the guest's tap: rnicd looks for captures on its own interface only."""
        log = path + '.log'
        job = Job(self.rig.host('tcpdump', '-i', 'tap1', '-s', '0', '-U', '--immediate-mode', '-B', '16384',
                                '-Z', 'root', '-w', path, 'udp port 4791'), log, self.rig.env)
        while 'listening on' not in job.output():
            if job.proc.poll() is not None:
                raise Failure('tcpdump: ' + last_line(job.output()))
            time.sleep(0.02)
        return job

    def exchange(self, case, server_end, client_end, prefix):
        """Run server and client to their ends, raise what was wrong at either."""
        deadline = time.monotonic() + CASE_SECONDS
        server = Job(self.command(case, server_end), prefix + '.server', server_end.env)
        self.wait_listening(case, server, server_end, deadline)
        client = Job(self.command(case, client_end, server_end), prefix + '.client', client_end.env)
        wrong = []
        stays = isinstance(case, CmCase) and case.stays
        server_check = check_quiet if isinstance(case, CmCase) else case.server_check
        for job, end, role, check in ((client, client_end, 'client', case.client_check),
                                      (server, server_end, 'server', server_check)):
            if job is server and stays:
                break
            status = job.wait(deadline)
            bad = check(case, job.output())
            if status is None:
                wrong.append('%s %s timed out' % (end.kind, role))
            elif status:
                wrong.append('%s %s exit %d (%s)' % (end.kind, role, status, last_line(job.output())))
            elif bad:
                wrong.append('%s %s: %s' % (end.kind, role, bad))
            # Once the client failed the server has nothing more to wait for.
            if status != 0:
                deadline = min(deadline, time.monotonic() + 3)
        if wrong:
            raise (TooEarly if too_early(case, client.output()) else Failure)(', '.join(wrong))

    def measured_exchange(self, case, server_end, client_end, prefix):
        """The exchange with its packets captured; returns what it added to the guest's counters."""
        guest = client_end if server_end.kind == 'rnic' else server_end
        capture = self.capture(prefix + '.pcap')
        try:
            before = guest.statistics()
            self.exchange(case, server_end, client_end, prefix)
            after = guest.statistics()
        finally:
            capture.end(signal.SIGINT)
        grown = {name: value - before.get(name, 0) for name, value in after.items()}
        # Nothing comes back to who sends without being acknowledged.
        if grown.get('sent_pkts', 0) <= 0 and grown.get('rcvd_pkts', 0) <= 0:
            raise Failure("the guest's counters did not grow")
        return grown

    def repeated_exchange(self, case, server_end, client_end, prefix):
        """perftest -R connects twice, and its client does not wait until the server listens again."""
        for _ in range(PERFTEST_TRIES - 1):
            try:
                return self.measured_exchange(case, server_end, client_end, prefix)
            except TooEarly:
                Job.end_all(keep=[end.daemon for end in (server_end, client_end)])
                self.port += 1
                # What that try printed is not to be held against the next.
                for suffix in OUTPUTS:
                    os.unlink(prefix + suffix)
        return self.measured_exchange(case, server_end, client_end, prefix)

    def case(self, name, case, server_end, client_end):
        """Run one case, print its line."""
        prefix = os.path.join(self.folder, name)
        self.port += 1
        started = time.monotonic()
        try:
            grown = self.repeated_exchange(case, server_end, client_end, prefix)
        except Failure as failure:
            self.failed += 1
            print('not ok %s: %s%s' % (name, failure, self.revive(server_end, client_end)), flush=True)
            self.save(name, prefix)
        else:
            self.passed += 1
            odd = ''.join(', rxe %s %d' % item for item in grown.items() if item[0] in FAULT_COUNTERS and item[1])
            print('ok %s # %.1f s%s' % (name, time.monotonic() - started, odd), flush=True)
        finally:
            Job.end_all(keep=[end.daemon for end in (server_end, client_end)])

    def both_ways(self, name, case, peer, rxe):
        self.case('%s_%s_serves' % (name, 'rnic' if peer.kind == 'rnic' else 'peer'), case, peer, rxe)
        self.case('%s_rxe_serves' % name, case, rxe, peer)

    def with_loss(self, names, peer, rxe):
        if names:
            peer.restart(['both drop p=0.02 seed=77'])
        for name in names:
            self.both_ways(name, CASES[LOST[name]], peer, rxe)

    def with_guest_loss(self, names, peer, rxe):
        """The guest's network loses packets, and has to say so."""
        if not names:
            return
        peer.restart([])
        rxe.lose()
        for name in names:
            self.both_ways(name, CASES[GUEST_LOST[name]], peer, rxe)
        lost = rxe.lost()
        well = len(lost) == 2 and all(lost)
        self.passed += well
        self.failed += not well
        print('%s guest_loss # lost on the way in, out: %s' % ('ok' if well else 'not ok', lost), flush=True)

    def with_marks(self, names, peer, rxe):
        """The guest's packets come marked; rnicd has to answer that with CNPs, and rxe to live with them."""
        if not names:
            return
        peer.restart([])
        rxe.mark()
        for name in names:
            self.both_ways(name, CASES[MARKED[name]], peer, rxe)
        rxe.unmark()
        seen = peer.counters()
        marks, cnps = seen['np_ecn_marked_roce_packets'], seen['np_cnp_sent']
        well = 0 < cnps <= marks
        self.passed += well
        self.failed += not well
        print('%s marks # %d came, %d CNPs answered them' % ('ok' if well else 'not ok', marks, cnps), flush=True)

    @staticmethod
    def revive(*ends):
        """Start again what died, so that the next case is judged by itself; tells what died."""
        return ''.join(end.revive() for end in ends)

    def save(self, name, prefix):
        os.makedirs(self.keep, exist_ok=True)
        for suffix in (*OUTPUTS, '.pcap'):
            if os.path.exists(prefix + suffix):
                shutil.copy(prefix + suffix, os.path.join(self.keep, name + suffix))


def forget_failures(keep):
    """Remove from the folder what an earlier run put there, and nothing else."""
    for entry in os.listdir(keep) if os.path.isdir(keep) else ():
        if entry == 'rnicd.log' or re.fullmatch(r'\w+_serves\.(server|client|pcap)', entry):
            os.unlink(os.path.join(keep, entry))


ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_on_signals():
    for number in ENDING_SIGNALS:
        signal.signal(number, lambda signum, _frame: sys.exit(128 + signum))


def ignore_signals():
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='.', help='the build folder: tools/rnicd, tools/rnic-run, tests/interop/rcdata')
    parser.add_argument('--peer', choices=('rnic', 'guest'), default='rnic', help="the rxe guest's opposite")
    parser.add_argument('--keep', default='interop-failed', help='folder for what failed cases left')
    parser.add_argument('cases', nargs='*', metavar='CASE', help=', '.join([*CASES, *CM_CASES, *LOST, *GUEST_LOST, *MARKED]))
    args = parser.parse_args()
    for name in args.cases:
        if not any(name in known for known in (CASES, CM_CASES, LOST, GUEST_LOST, MARKED)):
            parser.error('no case ' + name)
    return args


def main():
    args = arguments()
    end_on_signals()
    forget_failures(args.keep)
    if os.geteuid() == 0:
        remove_stale()
    build = os.path.abspath(args.build)
    rig = Rig(1 if args.peer == 'rnic' else 2)
    folder = tempfile.mkdtemp(prefix=rig.name + '.')
    run = Run(rig, folder, args.keep)
    peer = None
    try:
        rig.up()
        rxe = Guest(rig, 1)
        peer = Host(rig, build, folder) if args.peer == 'rnic' else Guest(rig, 2)
        peer.start()
        for end in (rxe, peer):
            end.take(os.path.join(build, 'tests', 'interop', 'rcdata'))
        every = {**CASES, **CM_CASES}
        for name in [name for name in args.cases or every if name not in {**LOST, **GUEST_LOST, **MARKED}]:
            run.both_ways(name, every[name], peer, rxe)
        if args.peer == 'rnic' and not args.cases and int(os.environ.get('RNIC_RIG_MTU', 9000)) > SMALL_MTU:
            for end in (rxe, peer):
                end.set_mtu(SMALL_MTU)
            for name in SMALL_MTU_CASES:
                run.both_ways('%s_mtu_%d' % (name, SMALL_MTU), CASES[name], peer, rxe)
        if args.peer == 'rnic':
            run.with_loss([name for name in args.cases or LOST if name in LOST], peer, rxe)
            run.with_marks([name for name in args.cases or MARKED if name in MARKED], peer, rxe)
            run.with_guest_loss([name for name in args.cases or GUEST_LOST if name in GUEST_LOST], peer, rxe)
    except Cannot as reason:
        print('skip: %s' % reason, flush=True)
        return 77
    except Failure as failure:
        run.failed += 1
        print('not ok setup: %s' % failure)
    finally:
        ignore_signals()
        Job.end_all()
        rig.down()
        log = os.path.join(folder, 'rnicd.log')
        if run.failed and os.path.exists(log):
            os.makedirs(args.keep, exist_ok=True)
            shutil.copy(log, args.keep)
        shutil.rmtree(folder, ignore_errors=True)
    print('%d passed, %d failed' % (run.passed, run.failed))
    return 1 if run.failed or not run.passed else 0


if __name__ == '__main__':
    sys.exit(main())
