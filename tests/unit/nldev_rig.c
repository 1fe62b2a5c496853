/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Gathers what nldev answers, and stands in for what it asks of the kernel's side. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "nldev_rig.h"
#include "verbs/kernel/link.h"
#include "verbs_rig.h"

struct nl_rig nl;

int kernel_link_add(struct kernel *k, const char *name, const char *netdev)
{
	ck_assert_ptr_eq(k, &nl.kernel);
	strcpy(nl.name, name);
	strcpy(nl.netdev, netdev);
	return nl.answer;
}

int kernel_link_del(struct kernel *k, struct kdevice *dev)
{
	ck_assert_ptr_eq(k, &nl.kernel);
	nl.deleted = dev;
	return nl.answer;
}

int kernel_device_rename(struct kernel *k, struct kdevice *dev, const char *name)
{
	ck_assert_ptr_eq(k, &nl.kernel);
	ck_assert_ptr_eq(dev, &rig.dev);
	strcpy(nl.name, name);
	return nl.answer;
}

bool ucma_entry_next(struct kernel *k, uint32_t *cursor, struct ucma_entry *entry)
{
	ck_assert_ptr_eq(k, &nl.kernel);
	if (*cursor == nl.n_ids)
		return false;
	*entry = nl.ids[(*cursor)++];
	return true;
}

static void packet(void *ctx, const void *data, size_t len)
{
	ck_assert_ptr_eq(ctx, &nl);
	ck_assert_uint_ge(len, NLMSG_HDRLEN);
	if (nl.n < NL_PACKETS_MAX) {
		nl.packet[nl.n].data = malloc(len);
		ck_assert_ptr_nonnull(nl.packet[nl.n].data);
		memcpy(nl.packet[nl.n].data, data, len);
		nl.packet[nl.n].len = len;
	}
	nl.n++;
}

static void forget(void)
{
	for (uint32_t i = 0; i < nl.n && i < NL_PACKETS_MAX; i++)
		free(nl.packet[i].data);
	nl.n = 0;
}

void nl_start(void)
{
	memset(&nl, 0, sizeof(nl));
	strcpy(rig.dev.name, "rxe0");
	strcpy(rig.dev.netdev, "eth0");
	rig.dev.ifindex = 7;
	rig.dev.index = 5;
	rig.dev.number = 5;
	rig.context.id = 33;
	rig.context.opener_pid = 1234;
	nl.kernel.devices = &rig.dev;
	nl.kernel.contexts = &rig.context;
	nl.peer = (struct nl_peer){.portid = NL_PORT, .admin = true, .packet = packet, .ctx = &nl};
}

void nl_stop(void)
{
	forget();
}

void nl_send(const void *data, size_t len)
{
	uint8_t *copy = aligned_alloc(8, (len + 8) & ~(size_t)7); /* for sanitizers: no byte more */

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, data, len);
	forget();
	nl.peer.busy = false;
	for (size_t at = 0; at < len;)
		at += nldev_receive(&nl.kernel, &nl.peer, copy + at, len - at);
	free(copy);
}
