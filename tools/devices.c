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
#include "tools/faults.h"
#include "verbs/kernel/admin.h"
#include "verbs/kernel/link.h"

/* A name that no device has. */
static void name_free(const struct daemon *d, char name[LINK_NAME_MAX + 1])
{
	uint32_t n = 0;

	for (const struct adapter *a = NULL; !a; n++) {
		snprintf(name, LINK_NAME_MAX + 1, "rxe%u", n);
		for (a = d->adapters; a && strcmp(a->kdev.name, name); a = a->next)
			;
		if (!a)
			return;
		a = NULL;
	}
}

/* "NAME=WHERE" or "WHERE". */
static int device_asked(struct daemon *d, const char *text)
{
	char name[LINK_NAME_MAX + 1];
	const char *where = strchr(text, '=');
	struct link_where at;
	struct adapter *a;
	int len = where ? (int)(where - text) : 0;

	name_free(d, name);
	if (where && len <= LINK_NAME_MAX)
		snprintf(name, sizeof(name), "%.*s", len, text);
	if (len > LINK_NAME_MAX || !kernel_link_name_valid(name) ||
	    !link_where_parse(where ? where + 1 : text, &at)) {
		daemon_logf("--device %s: NAME=INTERFACE or NAME=ADDRESS is wanted", text);
		return -EINVAL;
	}
	return adapter_create(d, name, &at, &a);
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
	struct link_where where = {.plain = true, .addr = {[10] = 0xff, [11] = 0xff}};
	char name[LINK_NAME_MAX + 1];
	struct adapter *a;

	name_free(d, name);
	for (int tries = 0; tries < 64; tries++) {
		uint32_t r = 0;

		if (getrandom(&r, sizeof(r), 0) != sizeof(r))
			return -EIO;
		/* 127.0.1.0 to 127.254.255.255, without .0 and .255 at the end */
		r = 127u << 24 | (r % 254u) << 16 | (1 + (r >> 8) % 254u) << 8 |
		    (1 + (r >> 16) % 254u);
		if (!addr_is_free(r))
			continue;
		r = htonl(r);
		memcpy(where.addr + 12, &r, sizeof(r));
		if (!adapter_create(d, name, &where, &a)) {
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

/* Is there an interface to try? */
static bool devices_default(struct daemon *d)
{
	struct net_if nif;
	struct link_where where;
	struct adapter *a;
	char name[LINK_NAME_MAX + 1];
	bool tried = false;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; net_monitor_if(d->monitor, i, &nif); i++) {
			if (nif.loopback != !pass || !nif.up || !if_has_addresses(d, nif.ifindex))
				continue;
			tried = true;
			/* The loopback interface comes first: rxe0 works on any machine. */
			if (nif.loopback && !addr_is_free(INADDR_LOOPBACK)) {
				daemon_logf("127.0.0.1 port %d is taken: a free loopback address "
					    "serves instead",
					    BTH_UDP_PORT);
				device_on_free_loopback(d);
				continue;
			}
			name_free(d, name);
			if (link_where_parse(nif.name, &where))
				adapter_create(d, name, &where, &a);
		}
	return tried;
}

int devices_create(struct daemon *d)
{
	if (faults_load(d))
		return -EINVAL;
	for (uint32_t i = 0; i < d->opt.n_devices; i++)
		if (device_asked(d, d->opt.devices[i]) == -EINVAL)
			return -EINVAL;
	if (d->opt.private && !d->opt.n_devices)
		device_on_free_loopback(d);
	else if (!d->opt.n_devices && !devices_default(d))
		daemon_logf("no interface that has an address is up (ip link set lo up)");
	if (!d->adapters) {
		daemon_logf("no device could be made");
		return -ENODEV;
	}
	return 0;
}

static void device_remove(struct adapter *a)
{
	adapter_farewell(a);
	adapter_destroy(a);
}

void devices_sync(struct daemon *d)
{
	struct adapter *next;

	for (struct adapter *a = d->adapters; a; a = next) {
		next = a->next;
		if (adapter_sync(a))
			continue;
		daemon_logf("%s: its interface %s is gone, so it goes", a->kdev.name,
			    a->kdev.netdev);
		device_remove(a);
	}
}

int devices_link_add(void *daemon, const char *name, const char *netdev)
{
	struct link_where where = {0};
	struct adapter *a;

	if (strlen(netdev) >= sizeof(where.netdev))
		return -ENODEV;
	memcpy(where.netdev, netdev, strlen(netdev));
	return adapter_create(daemon, name, &where, &a);
}

int devices_link_del(void *daemon, struct kdevice *dev)
{
	daemon_logf("%s: removed", dev->name);
	device_remove(dev->host);
	devices_sync(daemon); /* another device may have its addresses now */
	return 0;
}

/* What refusals of adapter_create mean. */
static const char *link_error_text(int rc)
{
	switch (-rc) {
	case ENFILE:
		return "there is a device of that name";
	case EEXIST:
		return "the interface has a device";
	case ENODEV:
		return "there is no such interface or address here";
	case EADDRINUSE:
		return "UDP port 4791 of its address is taken; the log of rnicd says by whom";
	default:
		return strerror(-rc);
	}
}

static int link_apply(struct daemon *d, const struct link_request *r, struct admin_reply *reply)
{
	struct kdevice *dev = kernel_link_find(d->kernel, r->name);
	struct adapter *a;
	int rc = 0;

	if (r->verb != LINK_ADD && !dev) {
		admin_printf(reply, "no device is called %s", r->name);
		return -ENODEV;
	}
	switch (r->verb) {
	case LINK_ADD:
		rc = adapter_create(d, r->name, &r->where, &a);
		if (!rc)
			adapter_set(a, r);
		break;
	case LINK_DEL:
		rc = devices_link_del(d, dev);
		break;
	case LINK_SET:
		adapter_set(dev->host, r);
		break;
	}
	if (rc)
		admin_printf(reply, "%s: %s", r->name, link_error_text(rc));
	return rc;
}

int devices_link(struct daemon *d, int argc, char **argv, struct admin_reply *reply)
{
	struct link_request r;
	char err[256];

	if (link_parse(argc, argv, &r, err, sizeof(err))) {
		admin_printf(reply, "%s", err);
		return -EINVAL;
	}
	return link_apply(d, &r, reply);
}
