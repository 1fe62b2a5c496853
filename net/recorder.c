/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The recorder: two buffers, one of which is filled while a thread writes the other. The thread
 * makes writing safe for the loop whatever the file is (a pipe without a reader, a file of a
 * server that is gone); it touches nothing but the recorder.
 */
#include "config.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "net/recorder.h"

enum { CANCEL_MS = 100 };

struct interface {
	uint64_t seen, lost; /* in all */
	uint64_t missing;    /* lost since the last packet that was written */
};

struct net_recorder {
	struct net_recorder_config cfg;
	struct bpf_insn *filter;
	char *filter_text;
	int done_fd;
	pthread_t thread;

	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t filled;
	struct capfile front; /* is filled */
	uint8_t *back;	      /* is written, without the lock */
	struct net_recorder_counts counts;
	struct interface interfaces[RECORDER_INTERFACES_MAX];
	uint32_t n_interfaces;
	uint64_t last_time;
	bool stopping, done;
	bool orphan; /* nobody waits for the thread, which frees all */
	int error;
};

/* bpf_filter ends the process at any other, of which bpf_validate lets some pass. */
static bool is_known(uint16_t code)
{
	static const uint16_t known[] = {
		/* clang-format off */
		BPF_LD | BPF_W | BPF_ABS, BPF_LD | BPF_H | BPF_ABS, BPF_LD | BPF_B | BPF_ABS,
		BPF_LD | BPF_W | BPF_IND, BPF_LD | BPF_H | BPF_IND, BPF_LD | BPF_B | BPF_IND,
		BPF_LD | BPF_W | BPF_LEN, BPF_LDX | BPF_W | BPF_LEN, BPF_LDX | BPF_MSH | BPF_B,
		BPF_LD | BPF_IMM, BPF_LDX | BPF_IMM, BPF_LD | BPF_MEM, BPF_LDX | BPF_MEM, BPF_ST,
		BPF_STX, BPF_JMP | BPF_JA, BPF_JMP | BPF_JEQ | BPF_K, BPF_JMP | BPF_JEQ | BPF_X,
		BPF_JMP | BPF_JGT | BPF_K, BPF_JMP | BPF_JGT | BPF_X, BPF_JMP | BPF_JGE | BPF_K,
		BPF_JMP | BPF_JGE | BPF_X, BPF_JMP | BPF_JSET | BPF_K, BPF_JMP | BPF_JSET | BPF_X,
		BPF_ALU | BPF_ADD | BPF_K, BPF_ALU | BPF_ADD | BPF_X, BPF_ALU | BPF_SUB | BPF_K,
		BPF_ALU | BPF_SUB | BPF_X, BPF_ALU | BPF_MUL | BPF_K, BPF_ALU | BPF_MUL | BPF_X,
		BPF_ALU | BPF_DIV | BPF_K, BPF_ALU | BPF_DIV | BPF_X, BPF_ALU | BPF_MOD | BPF_K,
		BPF_ALU | BPF_MOD | BPF_X, BPF_ALU | BPF_AND | BPF_K, BPF_ALU | BPF_AND | BPF_X,
		BPF_ALU | BPF_OR | BPF_K, BPF_ALU | BPF_OR | BPF_X, BPF_ALU | BPF_XOR | BPF_K,
		BPF_ALU | BPF_XOR | BPF_X, BPF_ALU | BPF_LSH | BPF_K, BPF_ALU | BPF_LSH | BPF_X,
		BPF_ALU | BPF_RSH | BPF_K, BPF_ALU | BPF_RSH | BPF_X, BPF_ALU | BPF_NEG,
		BPF_RET | BPF_K, BPF_RET | BPF_A, BPF_MISC | BPF_TAX, BPF_MISC | BPF_TXA,
		/* clang-format on */
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (code == known[i])
			return true;
	return false;
}

static bool all_known(const struct bpf_insn *filter, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (!is_known(filter[i].code))
			return false;
	return true;
}

/* What bpf_validate lets pass: a jump whose distance is so large that it leads back. */
static bool jumps_forward(const struct bpf_insn *filter, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (filter[i].code == (BPF_JMP | BPF_JA) && filter[i].k >= len - i - 1)
			return false;
	return true;
}

bool net_recorder_filter_is_valid(const struct bpf_insn *filter, uint32_t len)
{
	return len > 0 && len <= RECORDER_FILTER_MAX && bpf_validate(filter, (int)len) &&
	       jumps_forward(filter, len) && all_known(filter, len);
}

static size_t buffer_size(const struct net_recorder *r)
{
	return r->cfg.buffer ? r->cfg.buffer : RECORDER_BUFFER;
}

/* The next buffer to be written, which is the caller's until it asks for the next; 0: the end. */
static size_t back_get(struct net_recorder *r)
{
	uint8_t *full;
	size_t len;

	pthread_mutex_lock(&r->lock);
	while (!r->front.len && !r->stopping)
		pthread_cond_wait(&r->filled, &r->lock);
	full = r->front.buf;
	len = r->front.len;
	r->front.buf = r->back;
	r->front.len = 0;
	r->back = full;
	pthread_mutex_unlock(&r->lock);
	return len;
}

static int write_all(struct net_recorder *r, const uint8_t *p, size_t len)
{
	while (len > 0) {
		ssize_t n = write(r->cfg.fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
		pthread_mutex_lock(&r->lock);
		r->counts.bytes += (uint64_t)n;
		pthread_mutex_unlock(&r->lock);
	}
	return 0;
}

static void recorder_free(struct net_recorder *r)
{
	if (r->done_fd >= 0)
		close(r->done_fd);
	pthread_cond_destroy(&r->filled);
	pthread_mutex_destroy(&r->lock);
	free(r->front.buf);
	free(r->back);
	free(r->filter);
	free(r->filter_text);
	free(r);
}

/* Also when the thread is cancelled, which it can only be while it writes. */
static void thread_done(void *arg)
{
	struct net_recorder *r = arg;
	const uint64_t one = 1;
	bool orphan;

	close(r->cfg.fd);
	pthread_mutex_lock(&r->lock);
	r->done = true;
	orphan = r->orphan;
	if (!orphan && write(r->done_fd, &one, sizeof(one)) < 0)
		r->error = -errno;
	pthread_mutex_unlock(&r->lock);
	if (orphan)
		recorder_free(r);
}

static int write_until_stopped(struct net_recorder *r)
{
	int error = 0, old;
	size_t len;

	while (!error && (len = back_get(r))) {
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
		error = write_all(r, r->back, len);
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	}
	return error;
}

static void *thread_run(void *arg)
{
	struct net_recorder *r = arg;
	int old;

	pthread_cleanup_push(thread_done, r);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	r->error = write_until_stopped(r);
	pthread_cleanup_pop(1);
	return NULL;
}

/* Signals are the loop's; SIGXFSZ would end us where a file may not grow. */
static int thread_start(struct net_recorder *r)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&r->thread, NULL, thread_run, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
}

static bool recorder_alloc(struct net_recorder *r)
{
	size_t size = r->cfg.filter_len * sizeof(*r->filter);

	r->front = (struct capfile){.format = r->cfg.format, .size = buffer_size(r)};
	r->front.buf = malloc(r->front.size);
	r->back = malloc(r->front.size);
	if (r->cfg.filter && (r->filter = malloc(size)))
		memcpy(r->filter, r->cfg.filter, size);
	if (r->cfg.filter_text)
		r->filter_text = strdup(r->cfg.filter_text);
	r->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return r->front.buf && r->back && (r->filter || !r->cfg.filter) && r->done_fd >= 0;
}

int net_recorder_create(const struct net_recorder_config *cfg, struct net_recorder **out)
{
	struct net_recorder *r;
	int rc = -ENOMEM;

	if (cfg->filter && !net_recorder_filter_is_valid(cfg->filter, cfg->filter_len))
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->cfg = *cfg;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->filled, NULL);
	if (recorder_alloc(r)) {
		capfile_begin(&r->front, cfg->application);
		rc = thread_start(r);
	}
	if (rc) {
		recorder_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

int net_recorder_interface(struct net_recorder *r, const char *name, const char *description)
{
	int rc = -ENOSPC;

	pthread_mutex_lock(&r->lock);
	if (r->n_interfaces < RECORDER_INTERFACES_MAX &&
	    capfile_interface(&r->front, name, description, r->filter_text)) {
		rc = (int)r->n_interfaces++;
		pthread_cond_signal(&r->filled);
	}
	pthread_mutex_unlock(&r->lock);
	return rc;
}

static bool filter_wants(const struct net_recorder *r, const struct capfile_packet *p)
{
	uint8_t packet[65536 + 64];

	if (!r->filter)
		return true;
	if (p->head_len + p->data_len > sizeof(packet))
		return false;
	if (p->head_len)
		memcpy(packet, p->head, p->head_len);
	if (p->data_len)
		memcpy(packet + p->head_len, p->data, p->data_len);
	return bpf_filter(r->filter, packet, p->head_len + p->data_len,
			  p->head_len + p->data_len) != 0;
}

/* Times of a file do not go back, whoever sets the clock. */
static void packet_write(struct net_recorder *r, struct capfile_packet *p)
{
	struct interface *i = &r->interfaces[p->interface];
	bool idle = !r->front.len;

	r->counts.packets++;
	i->seen++;
	if (p->time < r->last_time)
		p->time = r->last_time;
	p->lost = i->missing;
	if (!capfile_packet(&r->front, p)) {
		i->lost++;
		i->missing++;
		r->counts.lost++;
		return;
	}
	i->missing = 0;
	r->last_time = p->time;
	if (idle)
		pthread_cond_signal(&r->filled);
}

void net_recorder_packet(struct net_recorder *r, struct capfile_packet *p)
{
	if (!filter_wants(r, p))
		return;
	pthread_mutex_lock(&r->lock);
	if (!r->stopping && !r->done)
		packet_write(r, p);
	pthread_mutex_unlock(&r->lock);
}

void net_recorder_counts(struct net_recorder *r, struct net_recorder_counts *counts)
{
	pthread_mutex_lock(&r->lock);
	*counts = r->counts;
	pthread_mutex_unlock(&r->lock);
}

void net_recorder_stop(struct net_recorder *r)
{
	pthread_mutex_lock(&r->lock);
	for (uint32_t i = 0; !r->stopping && i < r->n_interfaces; i++)
		capfile_statistics(&r->front, i, r->last_time, r->interfaces[i].seen,
				   r->interfaces[i].lost);
	r->stopping = true;
	pthread_cond_signal(&r->filled);
	pthread_mutex_unlock(&r->lock);
}

int net_recorder_done_fd(const struct net_recorder *r)
{
	return r->done_fd;
}

int net_recorder_error(const struct net_recorder *r)
{
	return r->error;
}

static bool thread_ends(pthread_t thread, uint32_t patience_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += patience_ms / 1000;
	until.tv_nsec += (long)(patience_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	return !pthread_timedjoin_np(thread, NULL, &until);
}

/* A write to a file whose server is mute cannot be ended: then the thread stays behind. */
static bool thread_abandon(struct net_recorder *r)
{
	bool done;

	pthread_mutex_lock(&r->lock);
	done = r->done;
	r->orphan = !done;
	pthread_mutex_unlock(&r->lock);
	return !done;
}

void net_recorder_destroy(struct net_recorder *r, uint32_t patience_ms)
{
	pthread_t thread;

	if (!r)
		return;
	thread = r->thread;
	net_recorder_stop(r);
	if (!thread_ends(thread, patience_ms)) {
		pthread_cancel(thread);
		if (!thread_ends(thread, CANCEL_MS)) {
			if (thread_abandon(r)) {
				pthread_detach(thread);
				return;
			}
			pthread_join(thread, NULL);
		}
	}
	recorder_free(r);
}
