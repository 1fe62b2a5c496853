/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Event descriptors: completion channels and async events.
 *
 * A channel is a pipe of packets; the client polls and reads its end as it would the kernel's
 * descriptor. What does not fit into the pipe waits in a queue here. ibv_destroy_cq needs to know
 * how many of the CQ's events were read, and an event that is read after the CQ is gone would hand
 * the program a freed pointer: so unread records are taken out, and those of other owners put back.
 *
 * For that, and no longer, the daemon opens an end to read from, which a pipe's end to write to
 * allows (a socket's would not). Otherwise only clients have one: when the last of them is closed,
 * however that comes about, the kernel says so.
 */
#include "config.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs/kernel/context_priv.h"
#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/owner.h"

#define RECORD_MAX 16
#define IN_PIPE_MAX 256 /* 16, unless the client makes it larger */
#define QUEUE_MAX 65536

struct record {
	struct record *next;
	const void *owner;
	uint8_t data[RECORD_MAX];
};

struct tally {		    /* of an owner's records */
	struct tally *next; /* in its bucket */
	const void *key;
	uint32_t posted;
};

#define BUCKETS 256

struct channel {
	struct channel *next;
	struct kernel *kernel;
	uint64_t id;
	uint32_t refs;
	uint32_t record_size;
	int fd;		      /* our end, or -1: it is closed */
	struct owner *opener; /* while it is open; or NULL */
	dev_t dev;
	ino_t ino;
	bool gone; /* nobody has the client's end */
	bool finished;
	ev_io writable, closed;
	/* Sent records in order, the newest IN_PIPE_MAX at most: unread ones are the last of
	 * them. */
	const void *sent[IN_PIPE_MAX];
	uint32_t n_sent; /* in its life */
	struct record *head, **tail;
	uint32_t queued;
	struct tally *tallies[BUCKETS];
};

static struct channel *channels;
static int spare = -1; /* a descriptor, so that there is one when it is needed */

static void spare_keep(void)
{
	if (spare < 0)
		spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static struct tally **tally_find(struct channel *ch, const void *key)
{
	struct tally **p = &ch->tallies[((uintptr_t)key >> 4) * 2654435761u % BUCKETS];

	while (*p && (*p)->key != key)
		p = &(*p)->next;
	return p;
}

static void flush(struct channel *ch);

static void writable_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	(void)loop;
	(void)revents;
	flush(w->data);
}

static void end_close(struct channel *ch)
{
	if (ch->fd < 0)
		return;
	ev_io_stop(ch->kernel->cfg.loop, &ch->writable);
	ev_io_stop(ch->kernel->cfg.loop, &ch->closed);
	close(ch->fd);
	ch->fd = -1;
	if (ch->opener)
		owner_close(ch->opener, 1);
}

/* An end to write to is never readable: it is the error that a pipe without readers has. */
static void closed_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	struct channel *ch = w->data;

	(void)loop;
	(void)revents;
	ch->gone = true;
	flush(ch);
}

static int pipe_make(struct channel *ch, int *client_fd)
{
	struct stat st;
	int end[2];

	if (pipe2(end, O_DIRECT | O_CLOEXEC))
		return -errno;
	if (fstat(end[0], &st) || fcntl(end[1], F_SETFL, O_DIRECT | O_NONBLOCK)) {
		int rc = -errno;

		close(end[0]);
		close(end[1]);
		return rc;
	}
	ch->fd = end[1];
	ch->dev = st.st_dev;
	ch->ino = st.st_ino;
	*client_fd = end[0];
	return 0;
}

int channel_create(struct context *c, uint32_t record_size, struct channel **out, int *client_fd)
{
	struct channel *ch = record_size <= RECORD_MAX ? calloc(1, sizeof(*ch)) : NULL;
	int rc = ch ? 0 : -ENOMEM;

	if (!rc && c->opener)
		rc = owner_open_more(c->kernel, c->opener, 1);
	if (!rc) {
		spare_keep();
		rc = pipe_make(ch, client_fd);
		if (rc && c->opener)
			owner_close(c->opener, 1);
	}
	if (rc) {
		free(ch);
		return rc;
	}
	ch->opener = c->opener;
	ch->kernel = c->kernel;
	ch->id = ++c->kernel->next_id;
	ch->refs = 1;
	ch->record_size = record_size;
	ch->tail = &ch->head;
	ev_io_init(&ch->writable, writable_fired, ch->fd, EV_WRITE);
	ev_io_init(&ch->closed, closed_fired, ch->fd, EV_READ);
	ch->writable.data = ch->closed.data = ch;
	ev_io_start(c->kernel->cfg.loop, &ch->closed);
	ch->next = channels;
	channels = ch;
	*out = ch;
	return 0;
}

struct channel *channel_get(struct channel *ch)
{
	ch->refs++;
	return ch;
}

static void queue_pop(struct channel *ch)
{
	struct record *r = ch->head;

	ch->head = r->next;
	if (!ch->head)
		ch->tail = &ch->head;
	ch->queued--;
	free(r);
}

void channel_put(struct channel *ch)
{
	if (!ch || --ch->refs)
		return;
	for (struct channel **p = &channels; *p; p = &(*p)->next)
		if (*p == ch) {
			*p = ch->next;
			break;
		}
	end_close(ch);
	while (ch->head)
		queue_pop(ch);
	for (int i = 0; i < BUCKETS; i++)
		while (ch->tallies[i]) {
			struct tally *o = ch->tallies[i];

			ch->tallies[i] = o->next;
			free(o);
		}
	free(ch);
}

uint64_t channel_id(const struct channel *ch)
{
	return ch->id;
}

uint32_t channel_record_size(const struct channel *ch)
{
	return ch->record_size;
}

bool channel_client_gone(const struct channel *ch)
{
	return ch->gone;
}

struct channel *channel_find(uint64_t id)
{
	struct channel *ch = channels;

	while (ch && ch->id != id)
		ch = ch->next;
	return ch;
}

struct channel *channel_find_inode(dev_t dev, ino_t ino)
{
	struct channel *ch = channels;

	while (ch && (ch->fd < 0 || ch->dev != dev || ch->ino != ino))
		ch = ch->next;
	return ch;
}

/* true: it is in the pipe. */
static bool send_record(struct channel *ch, const void *data, const void *owner)
{
	ssize_t n;

	do
		n = write(ch->fd, data, ch->record_size);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		ch->gone |= errno == EPIPE;
		return false;
	}
	ch->sent[ch->n_sent++ % IN_PIPE_MAX] = owner;
	return true;
}

/* Where all descriptors are in use, the spare one gives way. */
static int reader_open(const struct channel *ch)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", ch->fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && spare >= 0) {
		close(spare);
		spare = -1;
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	}
	if (fd < 0)
		kernel_log(ch->kernel, "events that were not read stay: %s: %s", path,
			   strerror(errno));
	return fd;
}

static void flush(struct channel *ch)
{
	while (ch->head && !ch->gone && send_record(ch, ch->head->data, ch->head->owner))
		queue_pop(ch);
	while (ch->head && ch->gone)
		queue_pop(ch);
	if (ch->gone || (ch->finished && !ch->head))
		end_close(ch);
	else if (ch->head)
		ev_io_start(ch->kernel->cfg.loop, &ch->writable);
	else
		ev_io_stop(ch->kernel->cfg.loop, &ch->writable);
}

static int queue_add(struct channel *ch, const void *data, const void *owner)
{
	struct record *r;

	if (ch->queued >= QUEUE_MAX)
		return -ENOBUFS;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	memcpy(r->data, data, ch->record_size);
	r->owner = owner;
	*ch->tail = r;
	ch->tail = &r->next;
	ch->queued++;
	return 0;
}

int channel_post(struct channel *ch, const void *record, const void *owner)
{
	struct tally **o = tally_find(ch, owner);
	int rc;

	if (ch->gone || ch->finished)
		return 0;
	if (!*o) {
		*o = calloc(1, sizeof(**o));
		if (!*o)
			return -ENOMEM;
		(*o)->key = owner;
	}
	rc = queue_add(ch, record, owner);
	if (rc)
		return rc;
	(*o)->posted++;
	flush(ch);
	return 0;
}

static uint32_t queue_forget(struct channel *ch, const void *owner)
{
	struct record **p = &ch->head;
	uint32_t n = 0;

	while (*p) {
		struct record *r = *p;

		if (r->owner != owner) {
			p = &r->next;
			continue;
		}
		*p = r->next;
		free(r);
		ch->queued--;
		n++;
	}
	ch->tail = p;
	return n;
}

/* Records that the client has not read yet; the pipe is emptied into buf. */
static uint32_t take_unread(const struct channel *ch, uint8_t (*buf)[RECORD_MAX])
{
	int fd, bytes = 0;
	uint32_t n = 0;

	if (ch->fd < 0 || ioctl(ch->fd, FIONREAD, &bytes) || !bytes)
		return 0;
	fd = reader_open(ch);
	if (fd < 0)
		return 0;
	while (n < IN_PIPE_MAX && read(fd, buf[n], RECORD_MAX) == (ssize_t)ch->record_size)
		n++;
	close(fd);
	spare_keep();
	return n;
}

static uint32_t pipe_forget(struct channel *ch, const void *owner)
{
	uint8_t buf[IN_PIPE_MAX][RECORD_MAX];
	const void *tallies[IN_PIPE_MAX];
	uint32_t n = take_unread(ch, buf), gone = 0;

	for (uint32_t i = 0; i < n; i++)
		tallies[i] = ch->sent[(ch->n_sent - n + i) % IN_PIPE_MAX];
	ch->n_sent -= n;
	for (uint32_t i = 0; i < n; i++) {
		if (tallies[i] == owner)
			gone++;
		else
			send_record(ch, buf[i], tallies[i]);
	}
	return gone;
}

uint32_t channel_forget(struct channel *ch, const void *owner)
{
	struct tally **p = tally_find(ch, owner), *o = *p;
	uint32_t unread, posted;

	if (!o)
		return 0;
	unread = pipe_forget(ch, owner) + queue_forget(ch, owner);
	posted = o->posted;
	*p = o->next;
	free(o);
	flush(ch);
	return unread < posted ? posted - unread : 0;
}

void channel_finish(struct channel *ch)
{
	ch->finished = true;
	flush(ch);
}
