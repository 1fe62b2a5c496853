# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs that have nothing to do with RDMA behave under rnic-run as they do
without it, and need no daemon to be busy for them."""

import shutil

from harness.report import Failed, Skipped

C_SOURCE = r'#include <stdio.h>\nint main(void) { puts(\"built\"); }\n'
FD_PASSING = """
import os, socket, subprocess, array
a, b = socket.socketpair()
socket.send_fds(a, [b'x'], [os.open('/etc/passwd', os.O_RDONLY)])
_, fds, _, _ = socket.recv_fds(b, 1, 4)
assert os.read(fds[0], 5) == b'root:'
subprocess.run(['true'], check=True, close_fds=True)
pid = os.fork()
if pid == 0:
    os.closerange(3, 100)
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
print(len(os.listdir('/proc/self/fd')) < 20, os.path.realpath('/sys/class'))
"""

# name: (program that must be there, words for sh -c)
JOBS = {
    'compiler': ('cc', f'printf "{C_SOURCE}" > t.c && cc -o t t.c && ./t && '
                       'rm t t.c'),
    'git': ('git', 'git init -q repo && cd repo && '
                   'git -c user.name=a -c user.email=a@b.invalid commit -q '
                   '--allow-empty -m one && git log --format=%s && cd .. && '
                   'rm -r repo'),
    'python': ('python3', f"python3 -c '{FD_PASSING}'"),
    'pipeline': ('sort', 'seq 1 20000 | sort -R | sort -n | tee copy | '
                         'tail -1; wc -l < copy; rm copy'),
    'closed_standard_output': ('sh', '(echo a >&2) 2>&1 >&- | cat'),
    'exit_code': ('sh', 'exit 3'),
    'signal': ('sh', 'kill -9 $$'),
    'sys_and_dev': ('find', 'ls /sys /dev/null /sys/class/net; '
                            'find /dev/shm -maxdepth 0; stat -c %F /dev/zero; '
                            'test -w /dev/null'),
}


def check_same(host, needs, words):
    if not shutil.which(needs):
        raise Skipped(f'no {needs}')
    argv = ['sh', '-c', words]
    plain = host.run(argv, timeout=300, rdma=False)
    under = host.run(argv, timeout=300)
    if plain.popen.returncode != under.popen.returncode:
        raise Failed(f'ends with {under.popen.returncode} instead of '
                     f'{plain.popen.returncode}', under.tail())
    for what in ('output', 'errors'):
        if getattr(plain, what)() != getattr(under, what)():
            raise Failed(f'{what} differ', plain.tail() + under.tail())


def run(report, setting):
    if setting.name != 'loopback':
        return
    for name, (needs, words) in JOBS.items():
        report.case(f'{setting.name}.unharmed.{name}', check_same,
                    setting.hosts[0], needs, words)
