#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Holds docs/SUPPORT.md against the tree and the installed headers: each name of the headers has a
row, each row has a state and a reason or a test, each test exists, and README's table is its sum.

    page.py [--write]       writes README's table"""

import collections
import fnmatch
import os
import re
import sys

import proofs

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
PAGE = 'docs/SUPPORT.md'
GOLDEN = 'tests/golden/rxe-sysfs.txt'
README = 'README.md'
BEGIN, END = '<!-- from docs/SUPPORT.md -->\n', '<!-- until here -->\n'
STATE = re.compile(r'works|partly|(?:cannot|not tested)(?:: .+)?')
# What the page was written for. Headers that are newer may have names that it lacks.
RDMA_CORE, LINUX = 44, (6, 1)

Row = collections.namedtuple('Row', 'name state remark tests')


def read(name):
    with open(os.path.join(ROOT, name), encoding='utf-8') as text:
        return text.read()


class Section:
    def __init__(self, title):
        self.title = title
        self.words = []         # what stands above the table
        self.rows = []

    @property
    def asked(self):
        """The program that asks a live device for each row."""
        found = re.search(r'Asked by `tests/support/(\w+)`', ' '.join(self.words))
        return found and found[1]

    def names(self):
        """(pattern, row): a cell may have several names, with * in them."""
        for row in self.rows:
            for name in re.findall(r'`([^`]+)`', row.name):
                yield name, row

    def count(self, word):
        """How many names, or rows without a name, have this state."""
        return sum(self.size(row) for row in self.rows if row.state.split(':')[0] == word)

    def size(self, row):
        if '*' not in row.name:
            return row.name.count('`') // 2 or 1
        rows = list(self.names())
        return sum((row_of(name, rows) or (name, None))[1] is row for name in file_names())


def sections():
    found = []
    for line in read(PAGE).splitlines():
        if line.startswith('## '):
            found.append(Section(line[3:]))
        elif not found or not line:
            continue
        elif line.startswith('|'):
            cells = [cell.strip() for cell in line.strip('|').split('|')]
            if len(cells) == 4 and not set(line) <= set('|-') and cells[1] != 'state':
                found[-1].rows.append(Row(*cells))
            elif len(cells) != 4:
                raise SystemExit(f'{PAGE}: {len(cells)} cells: {line}')
        else:
            found[-1].words.append(line)
    return found


# ---- headers ----

def header(name):
    """Without its comments; nothing where it is not installed."""
    try:
        with open(os.path.join('/usr/include', name), encoding='utf-8') as text:
            return re.sub(r'/\*.*?\*/|//[^\n]*', '', text.read(), flags=re.DOTALL)
    except FileNotFoundError:
        return ''


def enum(text, first, prefix):
    """Names with that prefix in the enum that has `first`."""
    found = re.search(r'enum\s*\w*\s*{([^}]*\b' + first + r'\b[^}]*)}', text)
    return set(re.findall(r'\b(' + prefix + r'[A-Z0-9_]+)\b\s*[,=\n}]', found[1])) if found else set()


def verbs_names():
    text = header('infiniband/verbs.h')
    return set(re.findall(r'(?<!enum )\b(ibv_[a-z0-9_]+)\s*\(', text))


def request_names():
    text = header('infiniband/verbs.h')
    return enum(text, 'IBV_WR_SEND', 'IBV_WR_') | enum(text, 'IBV_QPT_RC', 'IBV_QPT_')


def method_names():
    return set(re.findall(r'\b(UVERBS_METHOD_[A-Z0-9_]+)',
                          header('rdma/ib_user_ioctl_cmds.h')))


def command_names():
    text = header('rdma/ib_user_verbs.h')
    return (enum(text, 'IB_USER_VERBS_CMD_GET_CONTEXT', 'IB_USER_VERBS_CMD_')
            | enum(text, 'IB_USER_VERBS_EX_CMD_CREATE_FLOW', 'IB_USER_VERBS_EX_CMD_'))


def cm_names():
    text = header('rdma/rdma_user_cm.h')
    return (enum(text, 'RDMA_USER_CM_CMD_CREATE_ID', 'RDMA_USER_CM_CMD_')
            | enum(text, 'RDMA_USER_CM_QUERY_ADDR', 'RDMA_USER_CM_QUERY_')
            | enum(text, 'RDMA_PS_TCP', 'RDMA_PS_')
            | enum(text, 'RDMA_OPTION_ID_TOS', 'RDMA_OPTION_ID_')
            | enum(text, 'RDMA_OPTION_IB_PATH', 'RDMA_OPTION_IB_'))


def librdmacm_names():
    text = header('rdma/rdma_cma.h') + header('rdma/rdma_verbs.h')
    return set(re.findall(r'\b(rdma_[a-z0-9_]+)\s*\(', text))


def rsocket_names():
    return set(re.findall(r'\b(r[a-z0-9_]+)\s*\(', header('rdma/rsocket.h')))


def message_names():
    return enum(header('rdma/rdma_netlink.h'), 'RDMA_NLDEV_CMD_GET', 'RDMA_NLDEV_CMD_')


def file_names():
    """Of Linux rxe: the paths below the device, and those of the other classes."""
    return {re.sub(r'^/sys/devices/virtual/|^/sys/class/', '', path)
            for path in re.findall(r'^(/sys/\S+) \[', read(GOLDEN), flags=re.MULTILINE)}


NAMES = {
    'Verbs': verbs_names,
    'Requests and queue pairs': request_names,
    'uverbs by ioctl': method_names,
    'uverbs commands': command_names,
    'rdma_cm': cm_names,
    'librdmacm': librdmacm_names,
    'rsockets': rsocket_names,
    'NETLINK_RDMA': message_names,
    'sysfs': file_names,
}


def newer():
    """The installed headers that are newer than the page."""
    found = re.search(r'LINUX_VERSION_CODE (\d+)', header('linux/version.h'))
    code = int(found[1]) if found else 0
    if (code >> 16, code >> 8 & 0xff) > LINUX:
        yield 'rdma/'
    if proofs.rdma_core() > RDMA_CORE:
        yield 'infiniband/'


def row_of(name, rows):
    """(pattern, row) that has this name itself, or else the first whose pattern it matches."""
    same = [each for each in rows if each[0] == name]
    return (same or [each for each in rows if fnmatch.fnmatchcase(name, each[0])] or [None])[0]


def unnamed(section):
    rows = list(section.names())
    return sorted(name for name in NAMES[section.title]() if not row_of(name, rows))


# ---- what is wrong ----

def wrong_names(section):
    if section.title not in NAMES:
        return
    for name in unnamed(section):
        if any(newer()) and section.title != 'sysfs':
            print(f'warning: {PAGE} is older than the headers, which have {name}',
                  file=sys.stderr)
        else:
            yield f'{PAGE} has no row for {name} in {section.title}'


def wrong_words(section):
    for test in re.findall(r'`([^`/]+/[^`/]+)`', ' '.join(section.words)):
        if not proofs.exists(test):
            yield f'{section.title}: there is no test {test}'


def wrong_rows(section):
    for row in section.rows:
        if not STATE.fullmatch(row.state):
            yield f'{row.name}: no state: {row.state}'
        elif row.state in ('works', 'partly') and not section.asked and not row.tests:
            yield f'{row.name}: {row.state}, but what shows it?'
        if row.state != 'works' and not row.remark:
            yield f'{row.name}: {row.state}, but why?'
        for test in re.findall(r'`([^`]+)`', row.tests):
            if not proofs.exists(test):
                yield f'{row.name}: there is no test {test}'


def summary(section):
    """README's row: how much, and the section's first words."""
    counts = [(section.count('works'), 'work'), (section.count('partly'), 'partly'),
              (section.count('cannot'), 'cannot'), (section.count('not tested'), 'not tested')]
    sums = ', '.join(f'{n} {word}' for n, word in counts if n)
    anchor = re.sub(r'[^a-z0-9_ -]', '', section.title.lower()).replace(' ', '-')
    said = section.words[0] if section.words else ''
    return f'| [{section.title}]({PAGE}#{anchor}) | {sums} | {said} |\n'


def table(page):
    return '| | | |\n|---|---|---|\n' + ''.join(summary(section) for section in page)


def split_readme():
    text = read(README)
    if BEGIN not in text or END not in text:
        raise SystemExit(f'{README} has no place for the table')
    before, rest = text.split(BEGIN)
    return before, *rest.split(END)


def wrong():
    page = sections()
    for section in page:
        yield from wrong_names(section)
        yield from wrong_words(section)
        yield from wrong_rows(section)
    if split_readme()[1] != table(page):
        yield f'{README} has not the sums of {PAGE}: run tests/support/page.py --write'


def main():
    if sys.argv[1:] == ['--write']:
        before, _, after = split_readme()
        text = before + BEGIN + table(sections()) + END + after
        with open(os.path.join(ROOT, README), 'w', encoding='utf-8') as readme:
            readme.write(text)
        return
    found = list(wrong())
    print('\n'.join(found))
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
