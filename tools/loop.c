/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The daemon's one loop.
 *
 * While there is work it goes round without sleeping: doorbells, senders, sockets, and now and
 * then everything else that libev watches. When there is none it may poll a little longer, then
 * it tells the clients that it sleeps, looks once more, and sleeps until a descriptor or the one
 * timer wakes it. Polling is only good while a core is free: the time is cut when the kernel took
 * the core away from us in the middle of it, and is none on machines of two cores.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tools/adapter.h"
#include "tools/daemon.h"

#define SPIN_NS 20000ull   /* before sleeping, where cores are free */
#define LOOK_EVERY 16	   /* rounds of work between looks at all descriptors */
#define PREEMPTED_PAUSE 64 /* sleeps without polling after the core was taken away */

struct watch {
	struct watch *next;
	ev_io io;
};

uint64_t daemon_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void socket_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	struct adapter *a = w->data;

	(void)loop;
	(void)revents;
	a->readable = true;
	net_port_readable(a->port, w->fd);
}

void loop_watch(void *adapter, int fd, bool on)
{
	struct adapter *a = adapter;
	struct watch **p = (struct watch **)&a->watches, *w;

	if (on) {
		w = calloc(1, sizeof(*w));
		if (!w)
			return;
		ev_io_init(&w->io, socket_fired, fd, EV_READ);
		w->io.data = a;
		ev_io_start(a->daemon->loop, &w->io);
		w->next = *p;
		*p = w;
		return;
	}
	for (; *p; p = &(*p)->next)
		if ((*p)->io.fd == fd) {
			w = *p;
			*p = w->next;
			ev_io_stop(a->daemon->loop, &w->io);
			free(w);
			return;
		}
}

static void timer_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	struct daemon *d = w->data;
	uint64_t count;

	(void)loop;
	(void)revents;
	d->timer_at = UINT64_MAX;
	if (read(w->fd, &count, sizeof(count)) < 0)
		return;
}

static void monitor_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	struct daemon *d = w->data;

	(void)loop;
	(void)revents;
	net_monitor_read(d->monitor);
}

int loop_init(struct daemon *d)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	d->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (d->timer_fd < 0)
		return -errno;
	d->timer_at = UINT64_MAX;
	ev_io_init(&d->timer_io, timer_fired, d->timer_fd, EV_READ);
	d->timer_io.data = d;
	ev_io_start(d->loop, &d->timer_io);
	ev_io_init(&d->monitor_io, monitor_fired, net_monitor_fd(d->monitor), EV_READ);
	d->monitor_io.data = d;
	ev_io_start(d->loop, &d->monitor_io);
	d->spin_ns = d->opt.spin_us >= 0 ? (uint64_t)d->opt.spin_us * 1000
		     : cores > 2	 ? SPIN_NS
					 : 0;
	return 0;
}

/* One round; true if there was anything to do. */
static bool round_once(struct daemon *d)
{
	uint64_t now = daemon_now();
	bool work = false;

	for (struct adapter *a = d->adapters; a; a = a->next)
		if (a->readable)
			work |= adapter_receive(a, now);
	/* After receiving: a program that polls for what has come has often posted its reply by
	 * now, which then goes out together with the acknowledgement. */
	work |= kernel_scan_doorbells(d->kernel);
	for (struct adapter *a = d->adapters; a; a = a->next)
		work |= adapter_send(a, now);
	return work;
}

/* Arm the timer for the earliest deadline. A timer that is armed too early is left: re-arming costs
 * a system call each time that a retry timer moves on, waking once for nothing is rare. */
static void timer_arm_earliest(struct daemon *d)
{
	struct itimerspec its = {0};
	uint64_t at = UINT64_MAX;

	for (struct adapter *a = d->adapters; a; a = a->next)
		at = adapter_deadline(a) < at ? adapter_deadline(a) : at;
	if (at >= d->timer_at)
		return;
	d->timer_at = at;
	its.it_value.tv_sec = (time_t)(at / 1000000000);
	its.it_value.tv_nsec = (long)(at % 1000000000);
	if (!at)
		its.it_value.tv_nsec = 1;
	timerfd_settime(d->timer_fd, TFD_TIMER_ABSTIME, &its, NULL);
}

static long preempted(void)
{
	struct rusage ru;

	return getrusage(RUSAGE_THREAD, &ru) ? 0 : ru.ru_nivcsw;
}

/* Poll for a bounded time; true if something came. */
static bool spin(struct daemon *d, uint32_t *pause)
{
	uint64_t until;
	long before;

	if (!d->spin_ns)
		return false;
	if (*pause) {
		--*pause;
		return false;
	}
	before = preempted();
	until = daemon_now() + d->spin_ns;
	do {
		if (round_once(d))
			return true;
	} while (daemon_now() < until);
	if (preempted() != before)
		*pause = PREEMPTED_PAUSE;
	return false;
}

void loop_run(struct daemon *d)
{
	uint32_t rounds = 0, pause = 0;

	while (!d->stopping) {
		if (round_once(d)) {
			if (++rounds % LOOK_EVERY == 0)
				ev_run(d->loop, EVRUN_NOWAIT);
			continue;
		}
		if (spin(d, &pause))
			continue;
		kernel_set_sleeping(d->kernel, true);
		if (!kernel_scan_doorbells(d->kernel)) {
			timer_arm_earliest(d);
			d->sleeps++;
			ev_run(d->loop, EVRUN_ONCE);
		}
		kernel_set_sleeping(d->kernel, false);
	}
}
