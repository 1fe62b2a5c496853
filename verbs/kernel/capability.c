/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads capabilities from /proc. */
#include "config.h"

#include "verbs/kernel/capability.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_MAX 4096
#define CAPABILITIES "\nCapEff:"
#define UIDS "\nUid:"

/* Of the real, effective, saved and file system's uid. */
static bool is_effective(const char *line, uid_t euid)
{
	char *end;

	(void)strtoul(line + sizeof(UIDS) - 1, &end, 10);
	return strtoul(end, NULL, 10) == euid;
}

bool capability_in_status(const char *status, uid_t euid, unsigned int capability)
{
	const char *line = strstr(status, CAPABILITIES), *uids = strstr(status, UIDS);

	return line && uids && is_effective(uids, euid) && capability < 64 &&
	       strtoull(line + sizeof(CAPABILITIES) - 1, NULL, 16) >> capability & 1;
}

static bool status_read(pid_t pid, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* "user:[4026531837]"; false: it is not to be known. */
static bool namespace_read(const char *of, char *name, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/ns/user", of);
	n = readlink(path, name, size - 1);
	name[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Whoever makes a user namespace has every capability there, and none by that here. */
static bool same_namespace(pid_t pid, uid_t uid)
{
	char own[64], other[64], number[16];

	snprintf(number, sizeof(number), "%d", (int)pid);
	if (!namespace_read("self", own, sizeof(own)))
		return true; /* a kernel without them */
	if (!namespace_read(number, other, sizeof(other)))
		return uid == 0;
	return strcmp(own, other) == 0;
}

static bool program_of(pid_t pid, struct stat *st)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return !stat(path, st);
}

void capability_holder_get(struct capability_holder *h, pid_t pid, uid_t uid)
{
	struct stat st;

	*h = (struct capability_holder){.pid = pid, .uid = uid};
	if (!program_of(pid, &st))
		return;
	h->exe_dev = st.st_dev;
	h->exe_ino = st.st_ino;
}

bool capability_has(const struct capability_holder *h, unsigned int capability)
{
	char text[STATUS_MAX];
	struct stat st;

	if (!status_read(h->pid, text, sizeof(text)))
		return h->uid == 0;
	if (!capability_in_status(text, h->uid, capability) || !same_namespace(h->pid, h->uid))
		return false;
	/* Last, so that what was read was this program's. */
	return program_of(h->pid, &st) ? st.st_dev == h->exe_dev && st.st_ino == h->exe_ino
				       : h->uid == 0;
}
