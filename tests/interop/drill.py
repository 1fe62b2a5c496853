#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The drill scripts against Linux's own rxe.

Boots the rig (rig/rig) with one guest and runs rnic-drill-agent there; rnic-drill plays the peer from
the rig's bridge. Of tests/drill all scripts are run that need a responder only: whose verbs set
up, post receives and look at completions. With --all those of the requester too.

A script with a line '# Differs: rxe: ...' must fail, as rxe does something else there; every
other must hold. 'ok rxe.NAME' or 'not ok rxe.NAME: WHY' a script, 'N passed, M failed' at the
end; exits 0, 1, or 77 where this machine cannot run the rig.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

from ends import CASE_SECONDS, RIG, Cannot, Failure, Guest, Job, Rig, last_line, remove_stale

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(os.path.dirname(HERE), 'drill')
PORT = 7800
AGENT_SECONDS = 3600
# In many scripts, so named once: rxe leaves MigReq 0, and raises no event when a peer's first request
# comes, or one is refused. rc_migreq_is_set, rc_first_request_establishes, nak_access_of_the_region and
# nak_first_within_message have the rules.
FREE = 'migreq,comm_est,qp_access_err,qp_req_err'
OTHER = '10.77.0.99'


class Script:
    def __init__(self, path):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding='utf-8') as f:
            lines = f.read().splitlines()
        self.virtual = any(re.match(r'# Needs:.*(virtual|rnicd)', line) for line in lines)
        self.differs = [line for line in lines if re.match(r'# Differs: *rxe:', line)]
        # What a requester sends is answered by the script, not by the device.
        self.groups = {group for line in lines for group in re.findall(r'\bgroup=(239\.[\d.]+)', line)}
        self.requester = any(re.match(r'(\+\S+ )?post (?!recv|bind_mw|local_inv)', line) for line in lines)


def scripts_of(words, everything):
    found = [Script(os.path.join(SCRIPTS, name)) for name in sorted(os.listdir(SCRIPTS)) if name.endswith('.drill')]
    return [s for s in found if not s.virtual and (everything or words or not s.requester) and
            (not words or any(word in s.name for word in words))]


def agent_start(guest, build, folder):
    """The agent in the guest, listening."""
    guest.take(os.path.join(build, 'tools', 'rnic-drill-agent'))
    job = Job([RIG, 'exec', '-t', AGENT_SECONDS, guest.number, 'rnic-drill-agent --device rxe0 --port %d' % PORT],
              os.path.join(folder, 'agent'), guest.env)
    deadline = time.monotonic() + CASE_SECONDS
    look = guest.plain('ss', '-ltnH', 'sport', '=', ':%d' % PORT)
    while True:
        found = subprocess.run(look, env=guest.env, stdin=subprocess.DEVNULL, capture_output=True,
                               timeout=CASE_SECONDS, check=False)
        if found.stdout.strip():
            return
        if job.proc.poll() is not None or time.monotonic() > deadline:
            raise Failure('the agent did not come up: ' + last_line(job.output()))
        time.sleep(0.1)


def groups_join(guest, scripts, folder):
    """rxe leaves it to rdma_cm to join the IP group; here a socket does."""
    groups = sorted(set().union(*(script.groups for script in scripts)))
    for number, group in enumerate(groups):
        Job([RIG, 'exec', '-t', AGENT_SECONDS, guest.number, 'socat -u UDP4-RECV:%d,ip-add-membership=%s:eth0 /dev/null' %
             (PORT + 1 + number, group)], os.path.join(folder, 'group'), guest.env)
    deadline = time.monotonic() + CASE_SECONDS
    while groups:
        told = subprocess.run(guest.plain('cat', '/proc/net/igmp'), env=guest.env, capture_output=True,
                              stdin=subprocess.DEVNULL, text=True, timeout=CASE_SECONDS, check=False).stdout
        if all('%02X%02X%02X%02X' % tuple(map(int, group.split('.')[::-1])) in told for group in groups):
            return
        if time.monotonic() > deadline:
            raise Failure('the guest does not join ' + ', '.join(groups))
        time.sleep(0.1)


def verdict(script, held, why):
    """None, or what is wrong; held None: it has not run."""
    if script.differs and held is not None:
        return 'holds, although it says that rxe differs' if held else None
    return None if held else why or 'failed'


def run(rig, guest, build, scripts):
    """Returns how many went as they should, and how many not."""
    command = rig.host(os.path.join(build, 'tools', 'rnic-drill'), '--peer', '%s:%d' % (guest.address, PORT),
                       '--other', OTHER, '--free', FREE, *(s.path for s in scripts))
    done = subprocess.run(command, env=rig.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors='replace', timeout=CASE_SECONDS + 10 * len(scripts), check=False)
    if done.stderr:
        print(done.stderr.strip(), file=sys.stderr)
    told = {}
    name = None
    for line in done.stdout.splitlines():
        found = re.match(r'(ok|not ok) (\S+)$', line)
        if found:
            name = os.path.splitext(os.path.basename(found.group(2)))[0]
            told[name] = (found.group(1) == 'ok', [])
        elif name:
            told[name][1].append(line)
    passed = failed = 0
    for script in scripts:
        held, lines = told.get(script.name, (None, [last_line(done.stderr)]))
        wrong = verdict(script, held, '\n    '.join(lines))
        passed += wrong is None
        failed += wrong is not None
        differs = ' # rxe differs' if script.differs and not wrong else ''
        print('%s rxe.%s%s%s' % ('not ok' if wrong else 'ok', script.name, ': ' + wrong if wrong else '', differs),
              flush=True)
    return passed, failed


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='.', help='the build folder')
    parser.add_argument('--all', action='store_true', help="scripts of the requester's side too")
    parser.add_argument('words', nargs='*', metavar='WORD', help='only scripts with a WORD in their names')
    return parser.parse_args()


def main():
    args = arguments()
    if os.geteuid() == 0:
        remove_stale()
    build = os.path.abspath(args.build)
    rig = Rig(1)
    passed = failed = 0
    try:
        rig.up()
        guest = Guest(rig, 1)
        second_address(rig)
        with tempfile.TemporaryDirectory(prefix=rig.name + '.') as folder:
            agent_start(guest, build, folder)
            scripts = scripts_of(args.words, args.all)
            groups_join(guest, scripts, folder)
            passed, failed = run(rig, guest, build, scripts)
            Job.end_all()
    except Cannot as reason:
        print('skip: %s' % reason, flush=True)
        return 77
    except Failure as failure:
        failed += 1
        print('not ok setup: %s' % failure)
    finally:
        Job.end_all()
        rig.down()
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


def second_address(rig):
    """A second address for the peer."""
    done = subprocess.run(rig.host('ip', 'address', 'add', OTHER + '/24', 'dev', 'br0'), env=rig.env,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(last_line(done.stderr))


if __name__ == '__main__':
    sys.exit(main())
