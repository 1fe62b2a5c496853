# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The tests that docs/SUPPORT.md names: FOLDER/NAME, where NAME is what the folder's tests are
called by when they are run."""

import functools
import glob
import gzip
import os
import re
import subprocess

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
SUITE = '/usr/share/doc/rdma-core/tests'
CASES = ('apps', 'interop')
RULES = ('abi', 'capture', 'links', 'rules', 'support', 'use')


@functools.lru_cache(maxsize=None)
def text_of(pattern):
    texts = []
    for name in sorted(glob.glob(os.path.join(ROOT, 'tests', pattern))):
        if os.path.isfile(name):
            with open(name, encoding='utf-8', errors='replace') as text:
                texts.append(text.read())
    return '\n'.join(texts)


def has(pattern, text):
    return re.search(pattern, text, flags=re.MULTILINE) is not None


def rule(folder, name):
    """A rule of FOLDER/run, or PROGRAM.FUNCTION of a program that a rule runs."""
    runs = text_of(f'{folder}/run')
    program, dot, function = name.partition('.')
    if dot:
        source = text_of(f'{folder}/{program}.c')
        return f"'{program}'" in runs and has(rf'^static void {function}\(', source) \
            and len(re.findall(rf'\b{function}\b', source)) > 1
    return has(rf'^def {name}\(', runs) and has(rf'^    {name},', runs)


def case(folder, name):
    """FILE.WORD, a word of the case's name as it stands in its file or in a matrix."""
    file, _, word = name.partition('.')
    cases = text_of(f'{folder}/cases/{file}.py' if folder == 'apps' else f'{folder}/{file}.py')
    words = [re.escape(part) for part in word.split('.')]
    return bool(cases) and all(
        has(rf'(?<![\w]){part}(?![\w])', cases + text_of(f'{folder}/{file}.matrix'))
        for part in words)


def suite(name):
    """A test of rdma-core's suite that is not expected to skip; where the suite is not installed it
    is taken to be there."""
    module, _, function = name.rsplit('.', 2)
    if has(rf'^\t{re.escape(name)}( |$)', text_of('apps/pyverbs.skips')):
        return False
    path = os.path.join(SUITE, module + '.py')
    if os.path.exists(path + '.gz'):
        with gzip.open(path + '.gz', 'rt', encoding='utf-8') as text:
            return has(rf'def {function}\(', text.read())
    if os.path.exists(path):
        with open(path, encoding='utf-8') as text:
            return has(rf'def {function}\(', text.read())
    return not os.path.isdir(SUITE)


def exists(test):
    folder, slash, name = test.partition('/')
    if not slash or not name:
        return False
    if folder == 'drill':
        return os.path.exists(os.path.join(ROOT, 'tests/drill', name + '.drill'))
    if folder == 'preload':
        return has(rf'^(static void )?{name}\(', text_of('preload/*.c') + text_of('preload/*.sh'))
    if folder in ('unit', 'sim'):
        return has(rf'\bSTART_TEST\({name}\)|^(static )?(void|int|bool) {name}\(|"{name}"',
                   text_of(f'{folder}/*.[ch]'))
    if folder in CASES:
        return case(folder, name)
    if folder == 'pyverbs':
        return suite(name)
    return folder in RULES and rule(folder, name)


@functools.lru_cache(maxsize=None)
def rdma_core():
    """The installed release, or 0."""
    try:
        done = subprocess.run(['pkg-config', '--modversion', 'libibverbs'], text=True,
                              capture_output=True, check=False)
    except FileNotFoundError:
        return 0
    numbers = done.stdout.strip().split('.')        # 1.14.44.0
    return int(numbers[2]) if len(numbers) > 2 and numbers[2].isdigit() else 0
