# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The programs under test, in a build folder, or in a copy of it where the
user that is to run them cannot reach the build folder itself."""

import os
import shutil
import stat

PARTS = ('tools', os.path.join('verbs', 'preload'))


class Tree:
    def __init__(self, builddir):
        self.builddir = os.path.abspath(builddir)

    def program(self, name):
        return os.path.join(self.builddir, 'tools', name)

    @property
    def rnicd(self):
        return self.program('rnicd')

    @property
    def rnicctl(self):
        return self.program('rnicctl')

    @property
    def rnic_run(self):
        return self.program('rnic-run')

    def reachable_by_others(self):
        """May any user run what is in here?"""
        path = os.path.realpath(self.builddir)
        while True:
            if not os.stat(path).st_mode & stat.S_IXOTH:
                return False
            if path == '/':
                break
            path = os.path.dirname(path)
        return all(os.stat(self.program(name)).st_mode & stat.S_IXOTH
                   for name in os.listdir(os.path.join(self.builddir, 'tools'))
                   if os.access(self.program(name), os.X_OK))

    def copy(self, folder, more=()):
        """A Tree in `folder`, which anybody may run; more: other parts."""
        for part in (*PARTS, *more):
            source = os.path.join(self.builddir, part)
            if os.path.isdir(source):
                shutil.copytree(source, os.path.join(folder, part),
                                symlinks=True,
                                ignore=shutil.ignore_patterns('*.o'))
        for path, folders, files in os.walk(folder):
            for name in folders + files:
                name = os.path.join(path, name)
                if not os.path.islink(name):
                    mode = os.stat(name).st_mode
                    os.chmod(name, mode | (mode & 0o700) >> 6 | 0o4)
        os.chmod(folder, 0o755)
        return Tree(folder)
