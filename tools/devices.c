/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which devices the daemon makes: those asked for, or one for each interface that is up. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bth/packet.h"
#include "tools/adapter.h"
#include "tools/daemon.h"

/* "NAME=WHERE" or "WHERE". */
static int device_asked(struct daemon *d, const char *text)
{
	char name[ADAPTER_NAME_MAX + 1];
	const char *where = strchr(text, '=');
	struct adapter *a;

	if (where)
		snprintf(name, sizeof(name), "%.*s", (int)(where - text), text);
	else
		snprintf(name, sizeof(name), "rxe%u", d->n_made);
	where = where ? where + 1 : text;
	if (!name[0] || strchr(name, '/') || !*where) {
		daemon_logf("--device %s: NAME=INTERFACE or NAME=ADDRESS is wanted", text);
		return -EINVAL;
	}
	return adapter_create(d, name, where, &a);
}

static bool addr_is_free(uint32_t ip)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(BTH_UDP_PORT),
		.sin_addr.s_addr = htonl(ip),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is_free = fd >= 0 && !bind(fd, (struct sockaddr *)&sin, sizeof(sin));

	if (fd >= 0)
		close(fd);
	return is_free;
}

/* A device on a loopback address that nobody has. Two daemons may choose at once: try again. */
static int device_on_free_loopback(struct daemon *d)
{
	struct adapter *a;
	char where[32];

	for (int tries = 0; tries < 64; tries++) {
		uint32_t r = 0;

		if (getrandom(&r, sizeof(r), 0) != sizeof(r))
			return -EIO;
		/* 127.0.1.0 to 127.254.255.255, without .0 and .255 at the end */
		r = 127u << 24 | (r % 254u) << 16 | (1 + (r >> 8) % 254u) << 8 |
		    (1 + (r >> 16) % 254u);
		if (!addr_is_free(r))
			continue;
		snprintf(where, sizeof(where), "127.%u.%u.%u", r >> 16 & 255, r >> 8 & 255,
			 r & 255);
		if (!adapter_create(d, "rxe0", where, &a)) {
			a->kdev.is_localhost = true;
			return 0;
		}
	}
	return -EADDRINUSE;
}

static bool if_has_addresses(struct daemon *d, uint32_t ifindex)
{
	struct net_addr na;

	return net_monitor_addr(d->monitor, ifindex, 0, &na);
}

static void devices_default(struct daemon *d)
{
	struct net_if nif;
	struct adapter *a;
	char name[16];

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; net_monitor_if(d->monitor, i, &nif); i++) {
			if (nif.loopback != !pass || !nif.up || !if_has_addresses(d, nif.ifindex))
				continue;
			/* The loopback interface comes first: rxe0 works on any machine. */
			if (nif.loopback && !addr_is_free(INADDR_LOOPBACK)) {
				daemon_logf("127.0.0.1 port %d is taken: a free loopback address "
					    "serves instead",
					    BTH_UDP_PORT);
				device_on_free_loopback(d);
				continue;
			}
			snprintf(name, sizeof(name), "rxe%u", d->n_made);
			adapter_create(d, name, nif.name, &a);
		}
}

static int faults_add(struct daemon *d)
{
	char err[FAULT_ERROR_MAX];
	uint32_t id;

	for (uint32_t i = 0; i < d->opt.n_faults; i++)
		for (struct adapter *a = d->adapters; a; a = a->next)
			if (fault_rules_add(a->faults, daemon_now(), d->opt.faults[i], &id, err,
					    sizeof(err))) {
				daemon_logf("%s", err);
				return -EINVAL;
			}
	return 0;
}

int devices_create(struct daemon *d)
{
	for (uint32_t i = 0; i < d->opt.n_devices; i++)
		if (device_asked(d, d->opt.devices[i]) == -EINVAL)
			return -EINVAL;
	if (d->opt.private && !d->opt.n_devices)
		device_on_free_loopback(d);
	else if (!d->opt.n_devices)
		devices_default(d);
	if (!d->adapters) {
		daemon_logf("no device could be made");
		return -ENODEV;
	}
	return faults_add(d);
}

void devices_sync(struct daemon *d)
{
	for (struct adapter *a = d->adapters; a; a = a->next)
		adapter_sync(a);
}
