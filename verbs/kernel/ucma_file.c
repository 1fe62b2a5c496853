/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Event channels of rdma_cm: their sockets, their queues, their end. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "verbs/kernel/passed.h"
#include "verbs/kernel/ucma_priv.h"

#define IDS_LIMIT (1u << 20)
#define EVENTS_MAX 65536 /* unread; then a program can ask for no more */

int ucma_create(struct kernel *k)
{
	k->ucma = calloc(1, sizeof(*k->ucma));
	if (!k->ucma)
		return -ENOMEM;
	/* The kernel counts from 0; a program that takes 0 for "none" finds out there, not here. */
	table_init(&k->ucma->ids, 1, IDS_LIMIT);
	table_init(&k->ucma->mcasts, 1, IDS_LIMIT);
	return 0;
}

static void event_free(struct ucma_event *ev)
{
	if (ev->born && !ev->born->number)
		cma_id_destroy(ev->born);
	free(ev);
}

static void event_drop(struct ucma_file *f)
{
	struct ucma_event *ev = f->head;

	f->head = ev->next;
	if (!f->head)
		f->tail = &f->head;
	f->n_events--;
	event_free(ev);
}

static void file_end(struct ucma_file *f)
{
	struct ucma *u = f->kernel->ucma;

	for (struct ucma_file **p = &u->files; *p; p = &(*p)->next)
		if (*p == f) {
			*p = f->next;
			break;
		}
	ev_io_stop(f->kernel->cfg.loop, &f->hangup);
	ev_io_stop(f->kernel->cfg.loop, &f->writable);
	/* First, so that no ID looks for its own among them. */
	while (f->head)
		event_drop(f);
	while (f->ids)
		cma_id_destroy(f->ids);
	passed_socket_close(f->kernel, owner_uid(f->owner), f->fd);
	owner_close(f->owner, 1);
	free(f);
}

void ucma_destroy(struct kernel *k)
{
	if (!k->ucma)
		return;
	while (k->ucma->files)
		file_end(k->ucma->files);
	table_free(&k->ucma->ids);
	table_free(&k->ucma->mcasts);
	free(k->ucma);
	k->ucma = NULL;
}

/* The program never writes into it: so it is its end, or somebody who wants no channel. */
static void hangup_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	struct ucma_file *f = w->data;
	char junk;
	ssize_t n = recv(f->fd, &junk, sizeof(junk), MSG_DONTWAIT | MSG_PEEK);

	(void)loop;
	(void)revents;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		kernel_log(f->kernel,
			   "process %u has sent to the descriptor of its event channel, "
			   "which ends",
			   f->pid);
	file_end(f);
}

static bool record_send(struct ucma_file *f)
{
	static const char one = 1;

	return send(f->fd, &one, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

static void owed_send(struct ucma_file *f)
{
	while (f->owed && record_send(f))
		f->owed--;
	if (f->owed)
		ev_io_start(f->kernel->cfg.loop, &f->writable);
	else
		ev_io_stop(f->kernel->cfg.loop, &f->writable);
}

static void writable_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	(void)loop;
	(void)revents;
	owed_send(w->data);
}

static int sockets_make(struct ucma_file *f, int *client_fd)
{
	struct stat st;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return -errno;
	if (fstat(sv[1], &st)) {
		close(sv[0]);
		close(sv[1]);
		return -EIO;
	}
	f->fd = sv[0];
	f->client_dev = st.st_dev;
	f->client_ino = st.st_ino;
	*client_fd = sv[1];
	return 0;
}

int ucma_open(struct kernel *k, const struct ucma_opener *who, struct ucma_file **out,
	      int *client_fd)
{
	struct ucma_file *f = calloc(1, sizeof(*f));
	int rc = f ? owner_open(k, who->session, who->uid, 1, &f->owner) : -ENOMEM;

	if (!rc) {
		rc = sockets_make(f, client_fd);
		if (rc)
			owner_close(f->owner, 1);
	}
	if (rc) {
		free(f);
		return rc;
	}
	f->kernel = k;
	f->id = ++k->next_id;
	f->pid = who->pid;
	f->tail = &f->head;
	ev_io_init(&f->hangup, hangup_fired, f->fd, EV_READ);
	ev_io_init(&f->writable, writable_fired, f->fd, EV_WRITE);
	f->hangup.data = f->writable.data = f;
	ev_io_start(k->cfg.loop, &f->hangup);
	f->next = k->ucma->files;
	k->ucma->files = f;
	*out = f;
	return 0;
}

struct ucma_file *ucma_find(struct kernel *k, uint64_t id)
{
	struct ucma_file *f = k->ucma->files;

	while (f && f->id != id)
		f = f->next;
	return f;
}

struct ucma_file *ucma_find_inode(struct kernel *k, dev_t dev, ino_t ino)
{
	struct ucma_file *f = k->ucma->files;

	while (f && (f->client_dev != dev || f->client_ino != ino))
		f = f->next;
	return f;
}

uint64_t ucma_id(const struct ucma_file *file)
{
	return file->id;
}

uint64_t ucma_rdev(void)
{
	return makedev(UCMA_MAJOR, UCMA_MINOR);
}

struct ucma_event *ucma_event_new(struct cma_id *id, enum cma_event_type type, int status)
{
	struct ucma_event *ev = calloc(1, sizeof(*ev));

	if (!ev)
		return NULL;
	ev->id = id;
	ev->resp.uid = id->uid;
	ev->resp.id = id->number;
	ev->resp.event = type;
	ev->resp.status = (uint32_t)status;
	return ev;
}

static void queue_add(struct ucma_file *f, struct ucma_event *ev)
{
	ev->next = NULL;
	*f->tail = ev;
	f->tail = &ev->next;
	f->n_events++;
	f->owed++;
	owed_send(f);
}

void ucma_event_add(struct ucma_event *ev)
{
	if (ev)
		queue_add(ev->id->file, ev);
}

bool ucma_events_full(const struct ucma_file *f)
{
	return f->n_events >= EVENTS_MAX;
}

bool ucma_removal_unread(const struct kernel *k)
{
	for (const struct ucma_file *f = k->ucma->files; f; f = f->next)
		for (const struct ucma_event *ev = f->head; ev; ev = ev->next)
			if (ev->resp.event == CMA_EV_DEVICE_REMOVAL)
				return true;
	return false;
}

static bool concerns(const struct ucma_event *ev, const struct cma_id *id,
		     const struct cma_mcast *mcast)
{
	return (id && (ev->id == id || ev->born == id)) || (mcast && ev->mcast == mcast);
}

/* Out of the queue, in order. */
static struct ucma_event *take_out(struct ucma_file *f, const struct cma_id *id,
				   const struct cma_mcast *mcast, uint32_t *n)
{
	struct ucma_event *taken = NULL, **end = &taken, **p = &f->head;

	*n = 0;
	while (*p) {
		struct ucma_event *ev = *p;

		if (!concerns(ev, id, mcast)) {
			p = &ev->next;
			continue;
		}
		*p = ev->next;
		ev->next = NULL;
		*end = ev;
		end = &ev->next;
		++*n;
	}
	f->tail = p;
	f->n_events -= *n;
	return taken;
}

/* Of n events that are gone, those whose records are in the socket. */
static uint32_t records_of(struct ucma_file *f, uint32_t n)
{
	uint32_t unsent = n < f->owed ? n : f->owed;

	f->owed -= unsent;
	return n - unsent;
}

uint32_t ucma_event_fetched(struct ucma_file *f)
{
	struct ucma_event *ev = f->head;

	f->head = ev->next;
	if (!f->head)
		f->tail = &f->head;
	f->n_events--;
	free(ev);
	return records_of(f, 1);
}

uint32_t ucma_events_forget(struct ucma_file *f, const struct cma_id *id,
			    const struct cma_mcast *mcast)
{
	uint32_t n;
	struct ucma_event *ev = take_out(f, id, mcast, &n);

	while (ev) {
		struct ucma_event *next = ev->next;

		if (ev->born == id)
			ev->born = NULL;
		event_free(ev);
		ev = next;
	}
	return records_of(f, n);
}

uint32_t ucma_events_move(struct cma_id *id, struct ucma_file *to)
{
	uint32_t n;
	struct ucma_event *ev = take_out(id->file, id, NULL, &n);

	while (ev) {
		struct ucma_event *next = ev->next;

		if (ev->born)
			cma_id_refile(ev->born, to);
		queue_add(to, ev);
		ev = next;
	}
	return records_of(id->file, n);
}
