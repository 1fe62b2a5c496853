/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The kernel's side as a whole: made, fed with devices, ended. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "verbs/kernel/afterlife.h"
#include "verbs/kernel/context.h"
#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/link.h"
#include "verbs/kernel/netlink.h"
#include "verbs/kernel/passed.h"
#include "verbs/kernel/ucma.h"
#include "verbs/kernel/umem_slow.h"
#include "verbs/kernel/uverbs.h"

void kernel_log(struct kernel *k, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	k->cfg.log(k->cfg.ctx, line);
}

static void inotify_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	(void)loop;
	(void)revents;
	context_inotify_fired(w->data);
}

static void slow_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	(void)loop;
	(void)w;
	(void)revents;
	umem_slow_ready();
}

static int kernel_start(struct kernel *k)
{
	int rc;

	k->dir_fd = open(k->cfg.dir, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (k->dir_fd < 0) {
		rc = -errno;
		kernel_log(k, "%s: %s", k->cfg.dir, strerror(-rc));
		return rc;
	}
	k->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	k->wake = wake_page_create();
	if (k->inotify_fd < 0 || !k->wake || umem_slow_fd() < 0) {
		rc = errno ? -errno : -ENOMEM;
		kernel_log(k, "inotify or memfd: %s", strerror(-rc));
		return rc;
	}
	ev_io_init(&k->inotify_io, inotify_fired, k->inotify_fd, EV_READ);
	k->inotify_io.data = k;
	ev_io_start(k->cfg.loop, &k->inotify_io);
	ev_io_init(&k->slow_io, slow_fired, umem_slow_fd(), EV_READ);
	ev_io_start(k->cfg.loop, &k->slow_io);
	rc = passed_begin(k);
	if (!rc)
		rc = ucma_create(k);
	if (!rc)
		rc = tree_create(k);
	return rc ? rc : listener_open(k);
}

int kernel_create(const struct kernel_config *cfg, struct kernel **out)
{
	struct kernel *k = calloc(1, sizeof(*k));
	int rc;

	if (!k)
		return -ENOMEM;
	k->cfg = *cfg;
	k->listen_fd = k->spare_fd = k->dir_fd = k->tree_fd = k->inotify_fd = -1;
	contexts_watch(k);
	rc = kernel_start(k);
	if (rc) {
		kernel_destroy(k);
		return rc;
	}
	*out = k;
	return 0;
}

static void watcher_stop(struct kernel *k, ev_io *w)
{
	if (ev_is_active(w))
		ev_io_stop(k->cfg.loop, w);
}

void kernel_destroy(struct kernel *k)
{
	if (!k)
		return;
	conns_close(k);
	nl_socks_close(k);
	listener_close(k);
	afterlives_end(k);
	contexts_end(k);
	while (k->devices)
		kernel_device_del(k, k->devices);
	ucma_destroy(k);
	tree_destroy(k);
	watcher_stop(k, &k->inotify_io);
	watcher_stop(k, &k->slow_io);
	passed_end(k);
	if (k->inotify_fd >= 0)
		close(k->inotify_fd);
	wake_page_destroy(k->wake);
	if (k->dir_fd >= 0)
		close(k->dir_fd);
	free(k);
}

int kernel_device_add(struct kernel *k, struct kdevice *dev)
{
	struct kdevice **p = &k->devices;
	int rc;

	dev->kernel = k;
	dev->number = k->devices_made++;
	rc = ucma_device_add(dev);
	if (rc)
		return rc;
	rc = tree_device_add(k, dev);
	if (rc) {
		kernel_log(k, "%s: its files in %s: %s", dev->name, k->cfg.dir, strerror(-rc));
		return rc;
	}
	while (*p)
		p = &(*p)->next;
	*p = dev;
	dev->next = NULL;
	return 0;
}

void kernel_device_del(struct kernel *k, struct kdevice *dev)
{
	for (struct context *c = k->contexts; c; c = context_next(c))
		if (context_device(c) == dev)
			context_disassociate(c);
	for (struct kdevice **p = &k->devices; *p; p = &(*p)->next)
		if (*p == dev) {
			*p = dev->next;
			break;
		}
	ucma_device_del(dev);
	tree_device_del(k, dev);
}

void kernel_device_leave(struct kdevice *dev)
{
	for (struct context *c = dev->kernel->contexts; c; c = context_next(c))
		if (context_device(c) == dev)
			context_leave(c);
}

void kernel_netdev_renamed(struct kdevice *dev, const char *netdev)
{
	tree_netdev_rename(dev->kernel, dev, netdev);
	snprintf(dev->netdev, sizeof(dev->netdev), "%s", netdev);
}

int kernel_device_rename(struct kernel *k, struct kdevice *dev, const char *name)
{
	char old[sizeof(dev->name)];
	int rc;

	if (!kernel_link_name_valid(name) || strlen(name) >= sizeof(dev->name))
		return -EINVAL;
	for (struct kdevice *d = k->devices; d; d = d->next)
		if (!strcmp(d->name, name))
			return d == dev ? 0 : -EEXIST;
	memcpy(old, dev->name, sizeof(old));
	tree_device_del(k, dev);
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	rc = tree_device_add(k, dev);
	if (!rc)
		return 0;
	tree_device_del(k, dev);
	memcpy(dev->name, old, sizeof(old));
	tree_device_add(k, dev);
	return rc;
}

void kernel_port_event(struct kdevice *dev, const struct rnic_async *event)
{
	for (struct context *c = dev->kernel->contexts; c; c = context_next(c))
		if (context_device(c) == dev)
			uverbs_port_event(c, event);
	if (event->type == RNIC_EVENT_GID_CHANGE)
		ucma_device_gids(dev);
}

bool kernel_scan_doorbells(struct kernel *k)
{
	bool any = false;

	for (struct context *c = k->contexts; c; c = context_next(c))
		any |= context_scan(c);
	return any;
}

void kernel_set_sleeping(struct kernel *k, bool sleeping)
{
	if (sleeping)
		sessions_rest(k);
	wake_page_set(k->wake, sleeping);
}

uint32_t kernel_sessions(const struct kernel *k)
{
	return k->n_sessions;
}

uint32_t kernel_contexts(const struct kernel *k)
{
	return k->n_contexts;
}
