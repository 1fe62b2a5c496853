/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Captures: recorders between the ports of devices and a file that somebody else has opened. One
 * ends when it is stopped or when its file takes no more, and is forgotten once its recorder has
 * written the rest, or has had its time for that.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/recorder.h"
#include "net/tap.h"
#include "tools/adapter.h"
#include "tools/captures.h"
#include "tools/daemon.h"
#include "verbs/kernel/admin.h"

#define CAPTURES_MAX TAPS_MAX
#define STOP_S 60.0	 /* so long a reader of the rest may stand still */
#define END_MS 1000	 /* and when the daemon ends */
#define NAME_MAX_LEN 256 /* of a file, shown; longer ones are cut */

enum start_word { START_NAME = 2, START_FORMAT, START_FILTER, START_DEVICE, START_WORDS };
enum { FD_FILE, FD_PROGRAM };

struct recording {
	struct recording *next;
	struct daemon *daemon;
	uint32_t id;
	char name[NAME_MAX_LEN], filter[NAME_MAX_LEN], device[NAME_MAX_LEN];
	struct net_recorder *recorder;
	bool stopped;
	uint64_t written; /* bytes, when last was looked whether its reader still reads */
	int waiting;	  /* a socket of who wants to know when all is written, or -1 */
	ev_io done;
	ev_timer patience;
};

static void taps_remove(const struct recording *rec)
{
	for (struct adapter *a = rec->daemon->adapters; a; a = a->next)
		if (a->port)
			net_port_untap(a->port, rec->recorder);
}

static int summary(const struct recording *rec, char *line, size_t size)
{
	struct net_recorder_counts n;

	net_recorder_counts(rec->recorder, &n);
	return snprintf(line, size, "%s: %" PRIu64 " packets, %" PRIu64 " of them lost", rec->name,
			n.packets, n.lost);
}

static void waiting_tell(struct recording *rec, const char *line)
{
	if (rec->waiting < 0)
		return;
	if (send(rec->waiting, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		daemon_logf("%s: nobody waits for its end: %s", rec->name, strerror(errno));
	close(rec->waiting);
}

/* why: what ended it, or NULL: it was stopped. */
static void recording_end(struct recording *rec, const char *why, uint32_t patience_ms)
{
	struct daemon *d = rec->daemon;
	char line[NAME_MAX_LEN + 200];
	int len = summary(rec, line, sizeof(line));

	if (why)
		snprintf(line + len, sizeof(line) - (size_t)len, "; ended: %s", why);
	for (struct recording **p = &d->captures; *p; p = &(*p)->next)
		if (*p == rec) {
			*p = rec->next;
			break;
		}
	taps_remove(rec);
	ev_io_stop(d->loop, &rec->done);
	ev_timer_stop(d->loop, &rec->patience);
	net_recorder_destroy(rec->recorder, patience_ms);
	daemon_logf("capture into %s", line);
	waiting_tell(rec, line);
	free(rec);
	if (!d->captures)
		daemon_unused(d);
}

static void done_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	struct recording *rec = w->data;
	int error = net_recorder_error(rec->recorder);

	(void)loop;
	(void)revents;
	recording_end(rec, error ? strerror(-error) : NULL, END_MS);
}

static void patience_over(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct recording *rec = w->data;
	struct net_recorder_counts n;

	(void)revents;
	net_recorder_counts(rec->recorder, &n);
	if (n.bytes != rec->written) {
		rec->written = n.bytes;
		ev_timer_again(loop, w);
		return;
	}
	recording_end(rec, "its reader takes no more", 0);
}

static int tap_add(struct recording *rec, struct adapter *a)
{
	char description[64];
	int n;

	if (*rec->device && strcmp(rec->device, a->kdev.name))
		return 0;
	snprintf(description, sizeof(description), "soft-RNIC device on %s", a->kdev.netdev);
	n = net_recorder_interface(rec->recorder, a->kdev.name, description);
	return n < 0 ? n : net_port_tap(a->port, rec->recorder, (uint32_t)n, a->kdev.ifindex);
}

void captures_adapter_added(struct adapter *a)
{
	for (struct recording *rec = a->daemon->captures; rec; rec = rec->next)
		if (!rec->stopped && tap_add(rec, a))
			daemon_logf("%s is not captured into %s: too many devices", a->kdev.name,
				    rec->name);
}

static bool device_exists(const struct daemon *d, const char *name)
{
	for (const struct adapter *a = d->adapters; a; a = a->next)
		if (!strcmp(a->kdev.name, name))
			return true;
	return false;
}

/* The program that a descriptor has, from its beginning: number of instructions, or -errno. */
static int program_read(int fd, struct bpf_insn *program)
{
	size_t size = RECORDER_FILTER_MAX * sizeof(*program);
	/* Of memory only: reading anything else might take long. */
	ssize_t n = fd < 0 || fcntl(fd, F_GET_SEALS) < 0 ? -1 : pread(fd, program, size, 0);

	if (n <= 0 || (size_t)n % sizeof(*program))
		return -EINVAL;
	return (int)((size_t)n / sizeof(*program));
}

static bool is_writable(int fd)
{
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && !(flags & O_PATH);
}

/* The recorder of a start; *file becomes its own, unless it fails. */
static int recorder_start(char **argv, int *file, int program_fd, struct net_recorder **out)
{
	struct bpf_insn *program = NULL;
	struct net_recorder_config cfg = {
		.fd = *file,
		.application = PACKAGE_STRING,
		.format = strcmp(argv[START_FORMAT], "pcap") ? CAPFILE_PCAPNG : CAPFILE_PCAP,
	};
	int rc = 0;

	if (*argv[START_FILTER]) {
		program = calloc(RECORDER_FILTER_MAX, sizeof(*program));
		rc = program ? program_read(program_fd, program) : -ENOMEM;
		cfg.filter = program;
		cfg.filter_len = rc > 0 ? (uint32_t)rc : 0;
		cfg.filter_text = argv[START_FILTER];
	}
	if (rc >= 0)
		rc = net_recorder_create(&cfg, out);
	if (!rc)
		*file = -1;
	free(program);
	return rc;
}

static struct recording *recording_new(struct daemon *d, char **argv, struct net_recorder *recorder)
{
	static uint32_t last_id;
	struct recording *rec = calloc(1, sizeof(*rec));
	struct recording **p = &d->captures;

	if (!rec)
		return NULL;
	rec->daemon = d;
	rec->id = ++last_id;
	rec->recorder = recorder;
	rec->waiting = -1;
	snprintf(rec->name, sizeof(rec->name), "%s", argv[START_NAME]);
	snprintf(rec->filter, sizeof(rec->filter), "%s", argv[START_FILTER]);
	snprintf(rec->device, sizeof(rec->device), "%s", argv[START_DEVICE]);
	ev_io_init(&rec->done, done_fired, net_recorder_done_fd(recorder), EV_READ);
	ev_init(&rec->patience, patience_over);
	rec->done.data = rec->patience.data = rec;
	ev_io_start(d->loop, &rec->done);
	while (*p)
		p = &(*p)->next;
	*p = rec;
	return rec;
}

static int start_with(struct daemon *d, char **argv, int *file, int program_fd,
		      struct admin_reply *reply)
{
	struct net_recorder *recorder;
	struct recording *rec;
	int rc = recorder_start(argv, file, program_fd, &recorder);

	if (rc == -EINVAL)
		admin_printf(reply, "the filter \"%s\" came as no program that could be run",
			     argv[START_FILTER]);
	else if (rc)
		admin_printf(reply, "%s", strerror(-rc));
	if (rc)
		return rc;
	rec = recording_new(d, argv, recorder);
	if (!rec) {
		net_recorder_destroy(recorder, 0);
		return -ENOMEM;
	}
	for (struct adapter *a = d->adapters; a && !rc; a = a->next)
		rc = tap_add(rec, a);
	if (rc) {
		admin_printf(reply, "too many captures, or too many devices");
		recording_end(rec, strerror(-rc), 0);
		return rc;
	}
	daemon_logf("capture %u into %s begins%s%s", rec->id, rec->name,
		    *rec->filter ? ", filter " : "", rec->filter);
	admin_printf(reply, "capture %u into %s", rec->id, rec->name);
	return 0;
}

static int start(struct daemon *d, char **argv, struct admin_reply *reply)
{
	int file = admin_fd_take(reply, FD_FILE);
	int program = admin_fd_take(reply, FD_PROGRAM);
	uint32_t n = 0;
	int rc = -EINVAL;

	for (const struct recording *rec = d->captures; rec; rec = rec->next)
		n++;
	if (n >= CAPTURES_MAX)
		admin_printf(reply, "%u captures are under way: that is all there may be", n);
	else if (!is_writable(file))
		admin_printf(reply, "%s: no file that can be written to came along",
			     argv[START_NAME]);
	else if (*argv[START_DEVICE] && !device_exists(d, argv[START_DEVICE]))
		admin_printf(reply, "no device is called %s", argv[START_DEVICE]);
	else
		rc = start_with(d, argv, &file, program, reply);
	if (file >= 0)
		close(file);
	if (program >= 0)
		close(program);
	return rc;
}

/* The capture of that number or, without one, the only one. */
static struct recording *find(const struct daemon *d, const char *id, struct admin_reply *reply)
{
	struct recording *found = NULL;
	char number[16];

	for (struct recording *rec = d->captures; rec; rec = rec->next) {
		if (rec->stopped)
			continue;
		snprintf(number, sizeof(number), "%u", rec->id);
		if (id && strcmp(id, number) && strcmp(id, rec->name))
			continue;
		if (found) {
			admin_printf(reply, "several captures are under way: say which; "
					    "rnicctl capture list");
			return NULL;
		}
		found = rec;
	}
	if (!found)
		admin_printf(reply, "no capture%s%s is under way", id ? " " : "", id ? id : "");
	return found;
}

static int stop(struct daemon *d, const char *id, struct admin_reply *reply)
{
	struct recording *rec = find(d, id, reply);

	if (!rec)
		return -ENOENT;
	taps_remove(rec);
	rec->stopped = true;
	rec->waiting = admin_fd_take(reply, 0);
	net_recorder_stop(rec->recorder);
	ev_now_update(d->loop);
	rec->patience.repeat = STOP_S;
	ev_timer_again(d->loop, &rec->patience);
	return 0;
}

int captures_command(struct daemon *d, int argc, char **argv, struct admin_reply *reply)
{
	if (argc == START_WORDS && !strcmp(argv[1], "start"))
		return start(d, argv, reply);
	if ((argc == 2 || argc == 3) && !strcmp(argv[1], "stop"))
		return stop(d, argc == 3 ? argv[2] : NULL, reply);
	admin_printf(reply, "capture start, stop or list is wanted; see rnicctl(8)");
	return -EINVAL;
}

void captures_collect(const struct daemon *d, struct json_object *array)
{
	for (const struct recording *rec = d->captures; rec; rec = rec->next) {
		struct json_object *o = json_object_new_object();
		struct net_recorder_counts n;

		net_recorder_counts(rec->recorder, &n);
		json_object_object_add(o, "id", json_object_new_uint64(rec->id));
		json_object_object_add(o, "file", json_object_new_string(rec->name));
		json_object_object_add(o, "device", json_object_new_string(rec->device));
		json_object_object_add(o, "filter", json_object_new_string(rec->filter));
		json_object_object_add(o, "packets", json_object_new_uint64(n.packets));
		json_object_object_add(o, "lost", json_object_new_uint64(n.lost));
		json_object_object_add(o, "bytes", json_object_new_uint64(n.bytes));
		json_object_object_add(o, "stopping", json_object_new_boolean(rec->stopped));
		json_object_array_add(array, o);
	}
}

bool captures_any(const struct daemon *d)
{
	return d->captures;
}

void captures_end(struct daemon *d)
{
	while (d->captures)
		recording_end(d->captures, "rnicd ends", END_MS);
}
