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
#include <unistd.h>

#define STATUS_MAX 4096
#define LINE "\nCapEff:"

bool capability_in_status(const char *status, unsigned int capability)
{
	const char *line = strstr(status, LINE);

	return line && capability < 64 &&
	       strtoull(line + sizeof(LINE) - 1, NULL, 16) >> capability & 1;
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

bool capability_has(pid_t pid, uid_t uid, unsigned int capability)
{
	char text[STATUS_MAX];

	if (!status_read(pid, text, sizeof(text)))
		return uid == 0;
	return capability_in_status(text, capability) && same_namespace(pid, uid);
}
