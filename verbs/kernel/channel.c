/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Event descriptors: completion channels and async events.
 *
 * A channel is a SOCK_SEQPACKET pair; the client polls and reads its end as it would the kernel's
 * descriptor. What does not fit into the socket waits in a queue here. ibv_destroy_cq needs to know
 * how many of the CQ's events were read, and an event that is read after the CQ is gone would hand
 * the program a freed pointer: so the daemon keeps a descriptor of the client's end too, takes
 * unread records out through it, and puts those of other owners back. When librnic says that the
 * client has closed its end, that descriptor goes, and the end of the channel shows as EPIPE.
 */
#include "config.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs/kernel/context_priv.h"
#include "verbs/kernel/kernel_priv.h"

#define RECORD_MAX 16
/* A socket with this send buffer takes fewer records than that (some 350). */
#define SOCKET_SNDBUF (128 * 1024)
#define IN_SOCKET_MAX 1024
#define QUEUE_MAX 65536

struct record {
	struct record *next;
	const void *owner;
	uint8_t data[RECORD_MAX];
};

struct owner {
	struct owner *next; /* in its bucket */
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
	int fd;	    /* our end */
	int client; /* the client's end, or -1 once it said that it closed it */
	dev_t client_dev;
	ino_t client_ino;
	bool gone; /* nobody has the client's end */
	bool finished;
	ev_io writable;
	/* Sent records in order, the newest IN_SOCKET_MAX at most: unread ones are the last of
	 * them. */
	const void *sent[IN_SOCKET_MAX];
	uint32_t n_sent; /* in its life */
	struct record *head, **tail;
	uint32_t queued;
	struct owner *owners[BUCKETS];
};

static struct channel *channels;

static struct owner **owner_find(struct channel *ch, const void *key)
{
	struct owner **p = &ch->owners[((uintptr_t)key >> 4) * 2654435761u % BUCKETS];

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

static int sockets_make(struct channel *ch, int *client_fd)
{
	const int sndbuf = SOCKET_SNDBUF;
	struct stat st;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return -errno;
	ch->fd = sv[0];
	ch->client = sv[1];
	fcntl(ch->fd, F_SETFL, O_NONBLOCK);
	setsockopt(ch->fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf));
	*client_fd = fcntl(ch->client, F_DUPFD_CLOEXEC, 0);
	if (*client_fd < 0 || fstat(ch->client, &st)) {
		close(sv[0]);
		close(sv[1]);
		return -EMFILE;
	}
	ch->client_dev = st.st_dev;
	ch->client_ino = st.st_ino;
	return 0;
}

int channel_create(struct context *c, uint32_t record_size, struct channel **out, int *client_fd)
{
	struct channel *ch = record_size <= RECORD_MAX ? calloc(1, sizeof(*ch)) : NULL;
	int rc;

	if (!ch)
		return -ENOMEM;
	rc = sockets_make(ch, client_fd);
	if (rc) {
		free(ch);
		return rc;
	}
	ch->kernel = c->kernel;
	ch->id = ++c->kernel->next_id;
	ch->refs = 1;
	ch->record_size = record_size;
	ch->tail = &ch->head;
	ev_io_init(&ch->writable, writable_fired, ch->fd, EV_WRITE);
	ch->writable.data = ch;
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
	ev_io_stop(ch->kernel->cfg.loop, &ch->writable);
	while (ch->head)
		queue_pop(ch);
	for (int i = 0; i < BUCKETS; i++)
		while (ch->owners[i]) {
			struct owner *o = ch->owners[i];

			ch->owners[i] = o->next;
			free(o);
		}
	close(ch->fd);
	if (ch->client >= 0)
		close(ch->client);
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
	return ch->gone || ch->client < 0;
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

	while (ch && (ch->client < 0 || ch->client_dev != dev || ch->client_ino != ino))
		ch = ch->next;
	return ch;
}

/* true: it is in the socket. */
static bool send_record(struct channel *ch, const void *data, const void *owner)
{
	ssize_t n;

	do
		n = send(ch->fd, data, ch->record_size, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		ch->gone |= errno == EPIPE || errno == ECONNRESET;
		return false;
	}
	ch->sent[ch->n_sent++ % IN_SOCKET_MAX] = owner;
	return true;
}

/* Records that the client has not read yet; the socket is emptied into buf. */
static uint32_t take_unread(struct channel *ch, uint8_t (*buf)[RECORD_MAX], uint32_t max)
{
	uint32_t n = 0;

	if (ch->client < 0)
		return 0;
	while (n < max &&
	       recv(ch->client, buf[n], RECORD_MAX, MSG_DONTWAIT) == (ssize_t)ch->record_size)
		n++;
	return n;
}

static void flush(struct channel *ch)
{
	while (ch->head && !ch->gone && send_record(ch, ch->head->data, ch->head->owner))
		queue_pop(ch);
	while (ch->head && ch->gone)
		queue_pop(ch);
	if (ch->head)
		ev_io_start(ch->kernel->cfg.loop, &ch->writable);
	else
		ev_io_stop(ch->kernel->cfg.loop, &ch->writable);
	if (ch->finished && !ch->head)
		shutdown(ch->fd, SHUT_WR);
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
	struct owner **o = owner_find(ch, owner);
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

static uint32_t socket_forget(struct channel *ch, const void *owner)
{
	uint8_t buf[IN_SOCKET_MAX][RECORD_MAX];
	const void *owners[IN_SOCKET_MAX];
	uint32_t n = take_unread(ch, buf, IN_SOCKET_MAX), gone = 0;

	for (uint32_t i = 0; i < n; i++)
		owners[i] = ch->sent[(ch->n_sent - n + i) % IN_SOCKET_MAX];
	ch->n_sent -= n;
	for (uint32_t i = 0; i < n; i++) {
		if (owners[i] == owner)
			gone++;
		else
			send_record(ch, buf[i], owners[i]);
	}
	return gone;
}

uint32_t channel_forget(struct channel *ch, const void *owner)
{
	struct owner **p = owner_find(ch, owner), *o = *p;
	uint32_t unread, posted;

	if (!o)
		return 0;
	unread = socket_forget(ch, owner) + queue_forget(ch, owner);
	posted = o->posted;
	*p = o->next;
	free(o);
	flush(ch);
	return posted - unread;
}

void channel_finish(struct channel *ch)
{
	ch->finished = true;
	flush(ch);
}

void channel_client_closed(struct channel *ch)
{
	if (ch->client >= 0)
		close(ch->client);
	ch->client = -1;
}
