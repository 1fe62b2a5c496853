# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The dated record of one whole run: when, on what, with which packages, and a
line a case. It names no host and no folder of the machine."""

import datetime
import os
import platform
import re
import shutil
import subprocess

LIBRARIES = ('libibverbs1', 'ibverbs-providers', 'librdmacm1', 'libc6')
FOLDERS = re.compile(r'/tmp/rnic-apps-[\w.-]+')


def packages_of(programs):
    """{package: version} of those that the programs come from (Debian)."""
    paths = [os.path.realpath(path) for path in map(shutil.which, programs)
             if path]
    # A merged /usr: a package may say /bin or /usr/bin.
    paths += [path.removeprefix('/usr') for path in paths]
    owners = query('dpkg-query', '-S', *paths) if paths else ''
    names = {line.split(':')[0] for line in owners.splitlines()}
    shown = query('dpkg-query', '-W', '-f', '${Package} ${Version}\n',
                  *sorted(names | set(LIBRARIES)))
    return dict(line.split(' ', 1) for line in shown.splitlines())


def query(*argv):
    """What it prints; nothing where there is no dpkg."""
    if not shutil.which(argv[0]):
        return ''
    return subprocess.run(argv, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout


class Log:
    """Written to `path` by finish() only: a run that does not come to its end
    leaves the last one's record alone."""

    def __init__(self, path, builddir):
        self.path = path
        self.hidden = [os.path.abspath(builddir)]
        self.began = datetime.datetime.now(datetime.timezone.utc)
        self.lines = []
        self.programs = set()

    def case(self, verdict, name, seconds, reason=''):
        for folder in self.hidden:
            reason = reason.replace(folder, 'BUILD')
        reason = FOLDERS.sub('FOLDER', reason)
        took = '' if seconds is None else f' ({seconds:.1f} s)'
        self.lines.append(f'{verdict} {name}{took}'
                          + (f': {reason}' if reason else ''))

    def program(self, argv):
        """One that a case has started."""
        self.programs.add(argv[0])

    def head(self):
        system = platform.uname()
        yield f'date: {self.began:%Y-%m-%d %H:%M} UTC'
        yield (f'system: {system.system} {system.release} {system.machine}, '
               f'{os.cpu_count()} processors')
        yield f"user: {'root' if os.geteuid() == 0 else 'an ordinary one'}"
        yield 'packages:'
        for name, version in sorted(packages_of(self.programs).items()):
            yield f'  {name} {version}'

    def finish(self, total):
        text = '\n'.join([*self.head(), '', *self.lines, '', total]) + '\n'
        os.makedirs(os.path.dirname(self.path) or '.', exist_ok=True)
        with open(self.path + '.new', 'w', encoding='utf-8') as f:
            f.write(text)
        os.rename(self.path + '.new', self.path)
