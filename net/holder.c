/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who holds a UDP port: /proc/net/udp tells the socket, /proc/PID/fd tells whose it is. */
#include "config.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/holder.h"

struct udp_socket {
	unsigned long inode;
	unsigned uid;
	bool wildcard;
};

/* The table writes addresses as 32-bit words in host order. */
static void addr_hex(const union net_sockaddr *sa, char text[33])
{
	uint32_t words[4];
	unsigned n = sa->sa.sa_family == AF_INET ? 1 : 4;

	if (n == 1)
		memcpy(words, &sa->in.sin_addr, 4);
	else
		memcpy(words, &sa->in6.sin6_addr, 16);
	for (unsigned i = 0; i < n; i++)
		snprintf(text + 8 * i, 9, "%08" PRIX32, words[i]);
}

static bool is_zeros(const char *hex)
{
	return hex[strspn(hex, "0")] == '\0';
}

/* Is this line a socket on the port, with this address or the wildcard? */
static bool line_matches(const char *line, const char *want, unsigned port, struct udp_socket *s)
{
	char addr[33];
	unsigned lport;

	if (sscanf(line, " %*[0-9]: %32[0-9A-F]:%x %*s %*s %*s %*s %*s %u %*s %lu", addr, &lport,
		   &s->uid, &s->inode) != 4)
		return false;
	s->wildcard = is_zeros(addr);
	return lport == port && (s->wildcard || strcmp(addr, want) == 0);
}

static bool socket_find(const char *path, const union net_sockaddr *sa, struct udp_socket *s)
{
	FILE *f = fopen(path, "re");
	char line[512], want[33];
	bool found = false;

	if (!f)
		return false;
	addr_hex(sa, want);
	while (!found && fgets(line, sizeof(line), f))
		found = line_matches(line, want, net_sockaddr_port(sa), s);
	fclose(f);
	return found;
}

static bool process_holds(const char *pid, const char *link)
{
	char path[300], target[64];
	bool found = false;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	d = opendir(path);
	if (!d)
		return false;
	while (!found && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);

		if (n > 0) {
			target[n] = '\0';
			found = strcmp(target, link) == 0;
		}
	}
	closedir(d);
	return found;
}

static void process_name(const char *pid, char *name, size_t size)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(name, (int)size, f))
		snprintf(name, size, "a process");
	name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
}

static bool process_find(unsigned long inode, char *text, size_t size)
{
	char link[64], name[64];
	bool found = false;
	struct dirent *e;
	DIR *d = opendir("/proc");

	if (!d)
		return false;
	snprintf(link, sizeof(link), "socket:[%lu]", inode);
	while (!found && (e = readdir(d))) {
		if (e->d_name[strspn(e->d_name, "0123456789")] || !process_holds(e->d_name, link))
			continue;
		process_name(e->d_name, name, sizeof(name));
		snprintf(text, size, "%s (pid %s)", name, e->d_name);
		found = true;
	}
	closedir(d);
	return found;
}

void net_holder_find(const union net_sockaddr *sa, char *text, size_t size)
{
	struct udp_socket s;

	/* A wildcard socket of IPv6 may hold the port of IPv4 as well. */
	if (!(sa->sa.sa_family == AF_INET && socket_find("/proc/thread-self/net/udp", sa, &s)) &&
	    !socket_find("/proc/thread-self/net/udp6", sa, &s)) {
		snprintf(text, size, "a socket that /proc/net/udp does not show");
		return;
	}
	if (process_find(s.inode, text, size))
		return;
	if (s.uid == 0 && s.wildcard)
		snprintf(text, size,
			 "the kernel (rdma_rxe binds the wildcard address) or a "
			 "process of root that cannot be looked at");
	else
		snprintf(text, size, "a process of uid %u that cannot be looked at", s.uid);
}
