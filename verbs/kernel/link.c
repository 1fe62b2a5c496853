/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Devices that come and go while the daemon runs: names, and the way to the daemon's own. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/link.h"

bool kernel_link_name_valid(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len >= sizeof(((struct kdevice *)0)->name))
		return false;
	for (size_t i = 0; i < len; i++)
		if (name[i] <= ' ' || name[i] > '~' || name[i] == '/' || name[i] == '%')
			return false;
	return strcmp(name, ".") && strcmp(name, "..");
}

int kernel_link_add(struct kernel *k, const char *name, const char *netdev)
{
	if (!kernel_link_name_valid(name))
		return -EINVAL;
	return k->cfg.link_add ? k->cfg.link_add(k->cfg.ctx, name, netdev) : -EOPNOTSUPP;
}

int kernel_link_del(struct kernel *k, struct kdevice *dev)
{
	return k->cfg.link_del ? k->cfg.link_del(k->cfg.ctx, dev) : -EOPNOTSUPP;
}

struct kdevice *kernel_link_find(struct kernel *k, const char *name)
{
	struct kdevice *d = k->devices;

	while (d && strcmp(d->name, name))
		d = d->next;
	return d;
}
