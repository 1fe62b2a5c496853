# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A daemon of the test's own, programs under rnic-run, and waiting for what they say."""

import argparse
import fcntl
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, '..', 'apps'))
# pylint: disable=wrong-import-position
from harness.tree import Tree                                   # noqa: E402

# Nothing here takes that long; a busy machine may.
PATIENCE = 300
OBJECTS = ('pd', 'mr', 'cq', 'srq', 'qp', 'ah', 'context', 'session')


SKIP = 77
INSIDE = 'RULES_INSIDE'
# The build folder whose programs try the daemon of this one, which has a sanitizer.
PROGRAMS = 'RULES_PROGRAMS'


class Broken(Exception):
    """A rule that does not hold."""


class Skipped(Exception):
    """A rule that cannot be tried here, and why."""


def as_user(uid):
    """The words in front of a program that is to run as that user."""
    words = ['setpriv', f'--reuid={uid}', f'--regid={uid}', '--clear-groups',
             '--']
    if subprocess.run([*words, 'true'], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        raise Skipped('only root has other users here')
    return words


def until(question, seconds=PATIENCE, interval=0.02):
    """Asks until the answer is true; the last answer."""
    end = time.monotonic() + seconds
    while True:
        answer = question()
        if answer or time.monotonic() > end:
            return answer
        select.select([], [], [], interval)


class Program:
    """A started program; what it prints is kept in files."""

    def __init__(self, book, name, argv, env=None,
                 stdin=subprocess.DEVNULL):
        book.count += 1
        stem = os.path.join(book.base, f'{book.count:03d}-{name}')
        self.name = name
        self.paths = (stem + '.out', stem + '.err')
        with open(self.paths[0], 'wb') as out, open(self.paths[1], 'wb') as err:
            self.popen = subprocess.Popen(
                argv, stdin=stdin, stdout=out, stderr=err,
                env=env, start_new_session=True)
        book.programs.append(self)

    def output(self, which=0):
        with open(self.paths[which], encoding='utf-8',
                  errors='replace') as text:
            return text.read()

    def says(self, word, seconds=PATIENCE):
        """Waits until it has printed that word."""
        if not until(lambda: word in self.output()
                     or self.popen.poll() is not None, seconds) \
                or word not in self.output():
            raise Broken(f'{self.name} does not say "{word}": {self.tail()}')

    def tail(self):
        code = self.popen.poll()
        state = 'runs' if code is None else f'ended with {code}'
        lines = (self.output() + self.output(1)).strip().splitlines()[-3:]
        return f'{state}; ' + ' | '.join(lines)

    def ends(self, seconds=PATIENCE, code=0):
        """Waits for its end, which is to be with that code."""
        try:
            got = self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Broken(f'{self.name} does not end: {self.tail()}') from None
        if got != code:
            raise Broken(f'{self.name}: {self.tail()}')

    def tell(self):
        """One line of its input."""
        self.popen.stdin.write(b'\n')
        self.popen.stdin.flush()

    def signal(self, number):
        if self.popen.poll() is None:
            self.popen.send_signal(number)

    def close(self):
        self.signal(signal.SIGKILL)
        try:
            self.popen.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            print(f'{self.name} cannot be ended', flush=True)


class Book:
    """A folder, a daemon on lo, and the programs of one rule."""

    programs_in = 'tests/rules/'

    def __init__(self, builddir, rnicd=None, options=()):
        self.builddir = builddir
        self.base = tempfile.mkdtemp(prefix='rnic-rules-')
        os.chmod(self.base, 0o755)
        self.folder = os.path.join(self.base, 'daemon')
        self.programs = []
        self.count = 0
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(('RNIC_', 'LD_'))}
        self.env.update(RNIC_DIR=self.folder, LC_ALL='C')
        # A daemon with AddressSanitizer is slow and must not die of a big
        # malloc that fails; leaks are looked for at its end.
        self.daemon_env = dict(os.environ, ASAN_OPTIONS='detect_leaks=1',
                               UBSAN_OPTIONS='print_stacktrace=1')
        self.daemon_argv = [rnicd or self.tool('tools/rnicd'), '--dir',
                            self.folder, '--device', 'rxe0=lo', *options]
        self.daemon = None
        self.daemon_start()

    def daemon_start(self, *launcher):
        self.daemon = Program(self, 'rnicd', [*launcher, *self.daemon_argv],
                              self.daemon_env)
        if not until(lambda: 'ready' in self.daemon.output(1)
                     or self.daemon.popen.poll() is not None):
            raise Broken(f'no daemon: {self.daemon.tail()}')

    def tool(self, name):
        return os.path.join(self.builddir, name)

    def start(self, program, *args, uid=None, env=None, rdma=True,
              stdin=subprocess.DEVNULL):
        """A program of tests/rules (or a stock one) under rnic-run."""
        path = self.tool(self.programs_in + program)
        argv = [path if os.path.exists(path) else program, *map(str, args)]
        if rdma:
            argv = [self.tool('tools/rnic-run'), *argv]
        if uid is not None:
            argv = [*as_user(uid), *argv]
        return Program(self, os.path.basename(program), argv,
                       dict(self.env, **(env or {})), stdin)

    def ctl(self, *words):
        done = subprocess.run(
            [self.tool('tools/rnicctl'), *words, '--json'], env=self.env,
            text=True, stdout=subprocess.PIPE, timeout=PATIENCE,
            check=True)
        return json.loads(done.stdout)

    def serves_again(self):
        """It may refuse as long as it has not seen that others are gone."""
        def served():
            try:
                return self.ctl('stat')
            except subprocess.CalledProcessError:
                return None
        if not until(served):
            raise Broken('rnicd serves nobody')

    def objects(self):
        found = self.ctl('stat')
        while isinstance(found, list):
            found = found[0]
        while 'objects' not in found:
            found = next(v for v in found.values()
                         if isinstance(v, (dict, list)))
            found = found[0] if isinstance(found, list) else found
        return {name: found['objects'][name] for name in OBJECTS}

    def back_to(self, before):
        """All objects but those counted in `before` are to go."""
        if not until(lambda: self.objects() == before):
            raise Broken(f'left over: {self.objects()} instead of {before}')

    def lives(self):
        if self.daemon.popen.poll() is not None:
            raise Broken(f'rnicd: {self.daemon.output(1)[-3000:]}')

    def flow(self):
        flow = self.start('flow')
        flow.says('flowing')
        return flow

    @staticmethod
    def operations(flow):
        """How many the bystander has completed, each byte looked at."""
        counts = re.findall(r'ops (\d+)\n', flow.output())
        return int(counts[-1]) if counts else 0

    def moves(self, flow, count=500):
        """The bystander goes on: that many more operations, at any speed."""
        wanted = self.operations(flow) + count
        until(lambda: self.operations(flow) >= wanted
              or flow.popen.poll() is not None)
        if self.operations(flow) < wanted:
            raise Broken(f'the bystander stands still at '
                         f'{self.operations(flow)}: {flow.tail()}')

    def unharmed(self, flow):
        """The bystander still goes on, and ends well."""
        self.moves(flow)
        flow.signal(signal.SIGTERM)
        flow.ends()

    def end(self):
        """SIGTERM is to end the daemon cleanly, with nothing leaked."""
        self.lives()
        self.daemon.signal(signal.SIGTERM)
        self.daemon.ends()
        if 'Sanitizer' in self.daemon.output(1):
            raise Broken(self.daemon.output(1)[-3000:])

    def close(self, keep=False):
        for program in reversed(self.programs):
            program.close()
        if keep:
            print(f'outputs kept in {self.base}')
        else:
            shutil.rmtree(self.base, ignore_errors=True)


def skip(suite, reason):
    print(f'skip {suite}: {reason}')
    sys.exit(SKIP)


def own_namespaces(suite):
    """Runs the script again where there is nothing but lo, and mounts are
    ours, which cannot be had in a chroot whose root is no mount. Where there
    are no namespaces to be had, as in many a container, lo is shared."""
    if INSIDE in os.environ:
        return
    user = [] if os.geteuid() == 0 else ['--user', '--map-root-user']
    for kinds in (['--net', '--mount'], ['--net']):
        if not subprocess.run(['unshare', *user, *kinds, 'true'], check=False,
                              stderr=subprocess.DEVNULL).returncode:
            break
    else:
        own_turn(suite)
        return
    argv = ['unshare', *user, *kinds, '--', 'sh', '-c',
            'ip link set lo up && exec "$@"', 'sh', sys.executable,
            os.path.abspath(sys.argv[0]), *sys.argv[1:]]
    os.environ[INSIDE] = ' '.join(kinds)
    os.execvp('unshare', argv)


def own_turn(suite):
    """One of the suites that share lo at a time; it goes with this process."""
    if not subprocess.run(['ip', 'link', 'show', 'lo', 'up'], check=False,
                          stdout=subprocess.PIPE).stdout:
        skip(suite, 'no namespaces here, and lo is down')
    fcntl.flock(os.open(HERE, os.O_RDONLY), fcntl.LOCK_EX)
    os.environ[INSIDE] = 'shared'


def own_mounts():
    """For rules that mount something, which is to go with them."""
    if '--mount' not in os.environ[INSIDE]:
        raise Skipped('no mounts of its own here')


def own_interfaces():
    """For rules that make or change interfaces."""
    if '--net' not in os.environ[INSIDE]:
        raise Skipped('no network namespace of its own here')


def reachable(builddir, folder, programs):
    """The build folder, or as root a copy in `folder` if other users could
    not run what is in the build folder."""
    tree = Tree(builddir)
    if os.geteuid() or tree.reachable_by_others():
        return builddir
    return tree.copy(folder, programs).builddir


def check(rule, options, book_class):
    """Runs one rule with a book of its own, and says whether it holds."""
    book = None
    begin = time.monotonic()
    try:
        book = book_class(options.builddir, options.rnicd)
        if not rule(book):      # else it has ended the daemon by itself
            book.end()
        verdict = None
    except Skipped as reason:
        print(f'skip {rule.__name__}: {reason}', flush=True)
        return True
    except Broken as error:
        verdict = str(error)
    except Exception as error:  # pylint: disable=broad-except
        verdict = f'{type(error).__name__}: {error}'
    finally:
        if book:
            book.close(options.keep)
    print(f'{"not ok" if verdict else "ok"} {rule.__name__} '
          f'({time.monotonic() - begin:.1f} s)', flush=True)
    if verdict:
        print('    ' + verdict.replace('\n', '\n    '), flush=True)
    return not verdict


def run_rules(suite, needs, doc, quick, long=(), book_class=Book):
    """The main program of a set of rules, whose programs are built if `needs` is."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument('--builddir', default=os.environ.get(PROGRAMS, '.'))
    parser.add_argument('--rnicd', help='the daemon of another build folder',
                        default='tools/rnicd' if PROGRAMS in os.environ
                        else None)
    parser.add_argument('--long', action='store_true')
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('only', nargs='*', metavar='RULE')
    options = parser.parse_args()
    options.builddir = os.path.abspath(options.builddir)
    options.rnicd = options.rnicd and os.path.abspath(options.rnicd)
    if not os.path.exists(os.path.join(options.builddir, needs)):
        skip(suite, 'its programs are not built here (they want '
             'libibverbs-dev, and librnic.so can have no sanitizer)')
    own_namespaces(suite)
    rules = [rule for rule in (*quick, *(long if options.long or options.only
                                         else ()))
             if not options.only
             or any(word in rule.__name__ for word in options.only)]
    with tempfile.TemporaryDirectory(prefix='rnic-build-') as folder:
        options.builddir = reachable(options.builddir, folder,
                                     {Book.programs_in, book_class.programs_in})
        failed = [rule for rule in rules
                  if not check(rule, options, book_class)]
    sys.exit(1 if failed else 0)
