/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Accesses that may sleep, or are long in asking the mappings, made by a thread of the client's
 * own.
 *
 * The first call for an access queues a job and answers -EINPROGRESS; when the thread has done it
 * the loop is told (eventfd), and the same call made again finds its result. An operation of
 * several accesses begins with umem_operation_begin: if a later access of it is pending, the
 * results that it has taken are put back for the next try. A thread that sleeps for ever holds
 * only itself: the umem that goes marks the helper dead and leaves it behind.
 *
 * For a client of another uid there is no way around the thread, whatever its mappings are when
 * they are looked at: it can put a mapping of its own FUSE file in place of one, or a userfaultfd
 * where it may, between the look and the access, and nothing bounds an access through /proc/PID/mem
 * that has begun. A client of our own uid could stop us by a signal as well.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "verbs/kernel/umem_priv.h"
#include "verbs/kernel/umem_slow.h"

#define JOBS_MAX 64

/* A result that nobody came back for must not answer a later access: data read are stale soon,
 * a write or an atomic is asked for again by the peer's resend. */
#define READ_KEPT_NS (100 * 1000 * 1000ull)
#define WRITE_KEPT_NS (10 * 1000 * 1000 * 1000ull)

enum job_state { JOB_FREE, JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_TAKEN };

struct job {
	enum job_state state;
	uint64_t seq; /* order of queueing */
	struct umem_access access;
	uint8_t *buf;
	size_t room;
	int rc;
	uint64_t done_at;   /* ns */
	uint32_t operation; /* that took it */
};

struct umem_helper {
	struct umem_helper *next; /* in the list of all that live */
	struct umem *umem;
	int mem_fd, maps_fd;
	bool dead; /* under lock: the umem is gone, free everything */
	bool news; /* under lock: a job was done since the loop looked */
	pthread_mutex_t lock;
	pthread_cond_t work;
	uint64_t seq;
	struct job jobs[JOBS_MAX];
};

static int ready_fd = -1;
static struct umem_helper *helpers;
static uint32_t operation = 1;

int umem_slow_fd(void)
{
	if (ready_fd < 0)
		ready_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return ready_fd;
}

static void helper_free(struct umem_helper *h)
{
	for (int i = 0; i < JOBS_MAX; i++)
		free(h->jobs[i].buf);
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->work);
	close(h->mem_fd);
	close(h->maps_fd);
	free(h);
}

static struct job *oldest_queued(struct umem_helper *h)
{
	struct job *found = NULL;

	for (int i = 0; i < JOBS_MAX; i++)
		if (h->jobs[i].state == JOB_QUEUED && (!found || h->jobs[i].seq < found->seq))
			found = &h->jobs[i];
	return found;
}

static void job_run(struct umem_helper *h, struct job *j)
{
	struct umem_access *a = &j->access;
	struct iovec iov = {.iov_base = j->buf, .iov_len = a->len};

	j->rc = 0;
	if (a->ask_first || a->op == UMEM_CHECK)
		j->rc = umem_do_check(h->maps_fd, a, UINT32_MAX);
	if (j->rc && !umem_lives(h->mem_fd))
		j->rc = -ESRCH;
	if (j->rc || a->op == UMEM_CHECK)
		return;
	if (a->op == UMEM_ATOMIC)
		j->rc = umem_do_atomic(h->mem_fd, a);
	else
		j->rc = umem_do_rw(h->mem_fd, a->op == UMEM_WRITE, a->addr, &iov, 1);
}

static void *helper_main(void *arg)
{
	struct umem_helper *h = arg;

	pthread_mutex_lock(&h->lock);
	while (!h->dead) {
		struct job *j = oldest_queued(h);
		uint64_t one = 1;

		if (!j) {
			pthread_cond_wait(&h->work, &h->lock);
			continue;
		}
		j->state = JOB_RUNNING;
		pthread_mutex_unlock(&h->lock);
		job_run(h, j);
		pthread_mutex_lock(&h->lock);
		j->state = JOB_DONE;
		j->done_at = umem_clock();
		h->news = true;
		if (write(ready_fd, &one, sizeof(one)) < 0) {
			/* Full: the loop is to be woken already. */
		}
	}
	pthread_mutex_unlock(&h->lock);
	helper_free(h);
	return NULL;
}

static struct umem_helper *helper_create(struct umem *u)
{
	struct umem_helper *h = calloc(1, sizeof(*h));
	sigset_t all, old;
	pthread_t thread;
	int rc;

	if (!h)
		return NULL;
	h->umem = u;
	umem_memory_devs_find();
	h->mem_fd = dup(u->mem_fd);
	h->maps_fd = dup(u->maps_fd);
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->work, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = h->mem_fd < 0 || h->maps_fd < 0 || umem_slow_fd() < 0 ||
	     pthread_create(&thread, NULL, helper_main, h);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc) {
		helper_free(h);
		return NULL;
	}
	pthread_detach(thread);
	h->next = helpers;
	helpers = h;
	return h;
}

void umem_slow_end(struct umem *u)
{
	struct umem_helper *h = u->helper;

	if (!h)
		return;
	for (struct umem_helper **p = &helpers; *p; p = &(*p)->next)
		if (*p == h) {
			*p = h->next;
			break;
		}
	pthread_mutex_lock(&h->lock);
	h->dead = true;
	pthread_cond_signal(&h->work);
	pthread_mutex_unlock(&h->lock);
	u->helper = NULL;
}

bool umem_busy(struct umem *u)
{
	struct umem_helper *h = u->helper;
	bool busy = u->paged && umem_busy(u->paged);

	if (!h)
		return busy;
	pthread_mutex_lock(&h->lock);
	for (int i = 0; i < JOBS_MAX; i++)
		busy |= h->jobs[i].state == JOB_RUNNING;
	pthread_mutex_unlock(&h->lock);
	return busy;
}

static bool same_access(const struct umem_access *a, const struct umem_access *b)
{
	return a->op == b->op && a->addr == b->addr && a->len == b->len && a->write == b->write &&
	       a->ask_first == b->ask_first && a->atomic == b->atomic &&
	       a->swap_add == b->swap_add && a->compare == b->compare;
}

/* A write that nobody came back for must not answer another one to the same place. */
static bool same_data(const struct job *j, const struct iovec *iov, int n)
{
	const uint8_t *p = j->buf;

	for (int i = 0; j->access.op == UMEM_WRITE && i < n; i++) {
		if (iov[i].iov_len && memcmp(p, iov[i].iov_base, iov[i].iov_len))
			return false;
		p += iov[i].iov_len;
	}
	return true;
}

static void put_back(struct umem_helper *h)
{
	for (int i = 0; i < JOBS_MAX; i++)
		if (h->jobs[i].state == JOB_TAKEN && h->jobs[i].operation == operation)
			h->jobs[i].state = JOB_DONE;
}

static bool expired(const struct job *j)
{
	bool reads = j->access.op == UMEM_READ || j->access.op == UMEM_CHECK;
	uint64_t kept = reads ? READ_KEPT_NS : WRITE_KEPT_NS;

	return j->state == JOB_DONE && umem_clock() - j->done_at > kept;
}

/* A free job, or the oldest that is done and was never asked for again. */
static struct job *job_slot(struct umem_helper *h)
{
	struct job *found = NULL;

	for (int i = 0; i < JOBS_MAX; i++) {
		struct job *j = &h->jobs[i];

		if (j->state == JOB_FREE || (j->state == JOB_TAKEN && j->operation != operation))
			return j;
		if (j->state == JOB_DONE && (!found || j->seq < found->seq))
			found = j;
	}
	return found;
}

static void job_queue(struct umem_helper *h, const struct umem_access *a, const struct iovec *iov,
		      int n)
{
	struct job *j = job_slot(h);
	uint8_t *p;

	if (!j)
		return; /* all are at work: the caller tries again when one is done */
	if (a->op != UMEM_CHECK && a->len > j->room) {
		p = realloc(j->buf, a->len);
		if (!p)
			return;
		j->buf = p;
		j->room = a->len;
	}
	p = j->buf;
	for (int i = 0; a->op == UMEM_WRITE && i < n; i++) {
		if (iov[i].iov_len)
			memcpy(p, iov[i].iov_base, iov[i].iov_len);
		p += iov[i].iov_len;
	}
	j->access = *a;
	j->seq = h->seq++;
	j->state = JOB_QUEUED;
	pthread_cond_signal(&h->work);
}

static int job_take(struct job *j, struct umem_access *a, const struct iovec *iov, int n)
{
	const uint8_t *p = j->buf;

	for (int i = 0; a->op == UMEM_READ && i < n; i++) {
		if (iov[i].iov_len)
			memcpy(iov[i].iov_base, p, iov[i].iov_len);
		p += iov[i].iov_len;
	}
	*a = j->access;
	j->state = JOB_TAKEN;
	j->operation = operation;
	return j->rc;
}

int umem_slow_access(struct umem *u, struct umem_access *a, const struct iovec *iov, int n)
{
	struct umem_helper *h;
	struct job *found = NULL;
	int rc = -EINPROGRESS;

	if (!a->len)
		return 0;
	if (!u->helper)
		u->helper = helper_create(u);
	h = u->helper;
	if (!h)
		return -EFAULT;
	pthread_mutex_lock(&h->lock);
	for (int i = 0; i < JOBS_MAX && !found; i++) {
		struct job *j = &h->jobs[i];

		if (expired(j))
			j->state = JOB_FREE;
		if (j->state != JOB_FREE && j->state != JOB_TAKEN && same_access(&j->access, a) &&
		    same_data(j, iov, n))
			found = j;
	}
	if (found && found->state == JOB_DONE) {
		rc = job_take(found, a, iov, n);
	} else {
		put_back(h);
		if (!found)
			job_queue(h, a, iov, n);
	}
	pthread_mutex_unlock(&h->lock);
	return rc;
}

void umem_operation_begin(void)
{
	operation++;
}

static bool take_news(struct umem_helper *h)
{
	bool news;

	pthread_mutex_lock(&h->lock);
	news = h->news;
	h->news = false;
	pthread_mutex_unlock(&h->lock);
	return news;
}

void umem_slow_ready(void)
{
	struct umem_helper *h;
	uint64_t count;

	if (read(ready_fd, &count, sizeof(count)) < 0)
		return;
	/* What is called may end any helper: begin anew after each. */
	do {
		for (h = helpers; h && !take_news(h); h = h->next)
			;
		if (h && h->umem->ready)
			h->umem->ready(h->umem->ready_arg, h->umem);
	} while (h);
}
