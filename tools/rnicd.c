/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon: options, signals, readiness, its end. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/route.h"
#include "tools/adapter.h"
#include "tools/captures.h"
#include "tools/cc.h"
#include "tools/claim.h"
#include "tools/daemon.h"
#include "tools/faults.h"
#include "tools/loglimit.h"
#include "tools/rundir.h"
#include "verbs/kernel/ucma.h"

#define IDLE_END_S 3.0 /* an on-demand daemon ends that long after its last client */
#define FAREWELL_S 1.0 /* that long it waits for programs to fetch their last events */

void daemon_log(void *ctx, const char *line)
{
	(void)ctx;
	fprintf(stderr, "rnicd: %s\n", line);
}

/* Tells how many lines there was no room for. */
static bool log_room(struct log_limit *limit)
{
	uint32_t dropped;

	if (!log_limit_pass(limit, daemon_now(), &dropped))
		return false;
	if (dropped)
		daemon_logf("%u lines like these were left out", dropped);
	return true;
}

void daemon_log_caused(void *ctx, const char *line)
{
	static struct log_limit limit;

	if (log_room(&limit))
		daemon_log(ctx, line);
}

bool daemon_fault_room(void)
{
	static struct log_limit limit;

	return log_room(&limit);
}

void daemon_logf(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	daemon_log(NULL, line);
}

static void usage(FILE *to)
{
	fputs("Usage: rnicd [OPTION]...\n"
	      "A RoCEv2 adapter in user space; see rnicd(8).\n\n"
	      "  --dir DIR            folder of the control socket (" RUNDIR_SYSTEM ")\n"
	      "  --device NAME=WHERE  a device on an interface or an address; repeatable\n"
	      "  --fault RULE         e.g. 'ingress drop p=0.01 seed=7'; repeatable\n"
	      "  --faults FILE        such rules, one a line\n"
	      "  --gso auto|on|off    runs of packets in one system call (auto)\n"
	      "  --cc none|window|dcqcn|NAME=VALUE,...\n"
	      "                       congestion control (dcqcn), e.g. profile=1g\n"
	      "  --credits            tell peers how many receives are posted, and heed theirs\n"
	      "  --wait-acks          let acknowledgements wait for replies, to leave with them\n"
	      "  --spin USEC          poll that long before sleeping\n"
	      "  --on-demand          end a few seconds after the last client\n"
	      "  --private            one device on a free loopback address\n"
	      "  --help, --version\n",
	      to);
}

enum option_code {
	OPT_DIR = 256,
	OPT_DEVICE,
	OPT_FAULT,
	OPT_FAULTS,
	OPT_GSO,
	OPT_SPIN,
	OPT_CC,
	OPT_HELP,
	OPT_VERSION
};

static int list_add(const char **list, uint32_t *n, const char *value, const char *option)
{
	if (*n == DAEMON_LIST_MAX) {
		daemon_logf("too many %s", option);
		return -E2BIG;
	}
	list[(*n)++] = value;
	return 0;
}

static int option_apply(struct daemon_options *o, int code)
{
	char *end;

	switch (code) {
	case OPT_DIR:
		o->dir = optarg;
		return 0;
	case OPT_DEVICE:
		return list_add(o->devices, &o->n_devices, optarg, "--device");
	case OPT_FAULT:
		return list_add(o->faults, &o->n_faults, optarg, "--fault");
	case OPT_FAULTS:
		o->fault_file = optarg;
		return 0;
	case OPT_GSO:
		if (link_gso_parse(optarg, &o->gso))
			return 0;
		daemon_logf("--gso %s: auto, on or off is wanted", optarg);
		return -EINVAL;
	case OPT_SPIN:
		o->spin_us = (int32_t)strtol(optarg, &end, 10);
		return *end || o->spin_us < 0 || o->spin_us > 1000000 ? -EINVAL : 0;
	case OPT_CC:
		return cc_option(&o->cc, optarg);
	case OPT_HELP:
		usage(stdout);
		exit(EXIT_SUCCESS);
	case OPT_VERSION:
		puts(PACKAGE_STRING);
		exit(EXIT_SUCCESS);
	default:
		return -EINVAL;
	}
}

static int options_parse(struct daemon_options *o, int argc, char **argv)
{
	int on_demand = 0, private = 0, credits = 0, wait_acks = 0, code, rc = 0;
	const struct option longs[] = {
		{"dir", required_argument, NULL, OPT_DIR},
		{"device", required_argument, NULL, OPT_DEVICE},
		{"fault", required_argument, NULL, OPT_FAULT},
		{"faults", required_argument, NULL, OPT_FAULTS},
		{"gso", required_argument, NULL, OPT_GSO},
		{"spin", required_argument, NULL, OPT_SPIN},
		{"on-demand", no_argument, &on_demand, 1},
		{"private", no_argument, &private, 1},
		{"cc", required_argument, NULL, OPT_CC},
		{"credits", no_argument, &credits, 1},
		{"wait-acks", no_argument, &wait_acks, 1},
		{"help", no_argument, NULL, OPT_HELP},
		{"version", no_argument, NULL, OPT_VERSION},
		{NULL, 0, NULL, 0},
	};

	*o = (struct daemon_options){.spin_us = -1, .cc = cc_params_default};
	while (!rc && (code = getopt_long(argc, argv, "", longs, NULL)) != -1)
		rc = code ? option_apply(o, code) : 0;
	o->on_demand = on_demand;
	o->credits = credits;
	o->wait_acks = wait_acks;
	o->private = private;
	if (!rc && optind < argc)
		rc = -EINVAL;
	if (rc)
		usage(stderr);
	return rc;
}

static int dir_prepare(struct daemon_options *o)
{
	const char *env = getenv("RNIC_DIR");
	struct stat st;

	if (!o->dir)
		o->dir = (char *)(env && *env ? env : RUNDIR_SYSTEM);
	if (mkdir(o->dir, 0755) && errno != EEXIST) {
		daemon_logf("%s: %s", o->dir, strerror(errno));
		return -errno;
	}
	o->dir = realpath(o->dir, NULL);
	if (!o->dir || stat(o->dir, &st)) {
		daemon_logf("the folder of the control socket: %s", strerror(errno));
		return -ENOENT;
	}
	if ((st.st_uid != geteuid() && st.st_uid) || st.st_mode & (S_IWGRP | S_IWOTH)) {
		daemon_logf(
			"%s must be ours and not writable for others: clients would not trust it",
			o->dir);
		return -EPERM;
	}
	return 0;
}

static void signal_fired(struct ev_loop *loop, ev_signal *w, int revents)
{
	struct daemon *d = w->data;

	(void)revents;
	d->stopping = true;
	ev_break(loop, EVBREAK_ALL);
}

static void changed(void *ctx)
{
	devices_sync(ctx);
}

/*
 * On demand: rnic-run holds the lock of DIR/lock from before it looks for a daemon until its
 * program is connected, so to have it here means that nobody is on the way to us.
 */
static void idle_end_fired(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct daemon *d = w->data;

	(void)loop;
	(void)revents;
	if (kernel_sessions(d->kernel) || kernel_contexts(d->kernel))
		return;
	if (captures_any(d)) { /* its end starts the timer anew */
		ev_timer_stop(d->loop, w);
		return;
	}
	if (d->lock_fd >= 0 && flock(d->lock_fd, LOCK_EX | LOCK_NB)) {
		ev_timer_again(d->loop, w);
		return;
	}
	d->stopping = true;
}

static void sessions_changed(void *ctx, uint32_t sessions)
{
	struct daemon *d = ctx;

	if (!d->opt.on_demand)
		return;
	if (sessions)
		ev_timer_stop(d->loop, &d->idle_end);
	else
		ev_timer_again(d->loop, &d->idle_end);
}

void daemon_unused(struct daemon *d)
{
	if (!d->stopping)
		sessions_changed(d, kernel_sessions(d->kernel));
}

static int lock_open(struct daemon *d)
{
	int dir = open(d->opt.dir, O_DIRECTORY | O_RDONLY | O_CLOEXEC);

	d->lock_fd = dir < 0 ? -1 : openat(dir, RUNDIR_LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (dir >= 0)
		close(dir);
	return d->lock_fd < 0 ? -errno : 0;
}

/* sd_notify(3)'s protocol, without the library. */
static void notify_ready(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd;

	daemon_logf("ready");
	if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof(sa.sun_path))
		return;
	memcpy(sa.sun_path, path, strlen(path));
	if (sa.sun_path[0] == '@')
		sa.sun_path[0] = 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sendto(fd, "READY=1", 7, MSG_NOSIGNAL, (struct sockaddr *)&sa,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))) < 0)
		daemon_logf("NOTIFY_SOCKET: %s", strerror(errno));
	close(fd);
}

static int route(void *ctx, const uint8_t to[16], uint32_t ifindex, uint8_t from[16])
{
	(void)ctx;
	return net_route_source(to, ifindex, from);
}

static int daemon_start(struct daemon *d)
{
	struct kernel_config cfg = {
		.loop = d->loop,
		.dir = d->opt.dir,
		.log = daemon_log_caused,
		.ctx = d,
		.admin = commands_run,
		.route = route,
		.link_add = devices_link_add,
		.link_del = devices_link_del,
		.sessions_changed = sessions_changed,
	};
	const struct net_monitor_events events = {.changed = changed, .ctx = d};
	int rc;

	d->monitor = net_monitor_create(&events);
	if (!d->monitor) {
		daemon_logf("rtnetlink: %s", strerror(errno));
		return -errno;
	}
	rc = d->opt.on_demand ? lock_open(d) : 0;
	if (!rc)
		rc = kernel_create(&cfg, &d->kernel);
	if (!rc)
		rc = loop_init(d);
	return rc ? rc : devices_create(d);
}

static void farewell_over(struct ev_loop *loop, ev_timer *w, int revents)
{
	(void)revents;
	*(bool *)w->data = true;
	ev_break(loop, EVBREAK_ONE);
}

/* An event of rdma_cm is fetched by a command, so the daemon stays until all have heard that its
 * devices go; but not for a program that does not ask. */
static void clients_tell(struct daemon *d)
{
	bool over = false;
	ev_timer timer;

	for (struct adapter *a = d->adapters; a; a = a->next)
		adapter_farewell(a);
	ev_timer_init(&timer, farewell_over, FAREWELL_S, 0);
	timer.data = &over;
	ev_now_update(d->loop);
	ev_timer_start(d->loop, &timer);
	while (!over && ucma_removal_unread(d->kernel))
		ev_run(d->loop, EVRUN_ONCE);
	ev_timer_stop(d->loop, &timer);
}

static void daemon_end(struct daemon *d)
{
	if (d->kernel)
		clients_tell(d);
	captures_end(d);
	while (d->kernel && d->adapters)
		adapter_destroy(d->adapters);
	kernel_destroy(d->kernel);
	if (d->monitor)
		net_monitor_destroy(d->monitor);
	faults_unload(d);
}

int main(int argc, char **argv)
{
	struct daemon d = {.lock_fd = -1, .timer_fd = -1};
	struct rlimit files;
	ev_signal term, intr;

	if (options_parse(&d.opt, argc, argv))
		return 2;
	signal(SIGPIPE, SIG_IGN);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	/* The claim is given up by our end, and before lock_fd, of which rnic-run may be in wait.
	 */
	if (dir_prepare(&d.opt) || claim_folder(d.opt.dir) < 0)
		return EXIT_FAILURE;
	d.loop = ev_default_loop(0);
	ev_signal_init(&term, signal_fired, SIGTERM);
	ev_signal_init(&intr, signal_fired, SIGINT);
	term.data = intr.data = &d;
	ev_signal_start(d.loop, &term);
	ev_signal_start(d.loop, &intr);
	ev_init(&d.idle_end, idle_end_fired);
	d.idle_end.repeat = IDLE_END_S;
	d.idle_end.data = &d;
	if (daemon_start(&d)) {
		daemon_end(&d);
		return EXIT_FAILURE;
	}
	notify_ready();
	sessions_changed(&d, 0);
	loop_run(&d);
	daemon_end(&d);
	/* rnic-run made the folder for us alone: nothing of it is of use to anyone after us. */
	if (d.opt.private && d.opt.on_demand)
		rundir_remove(d.opt.dir);
	free(d.opt.dir);
	return EXIT_SUCCESS;
}
