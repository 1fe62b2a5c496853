/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The live side: verbs by an agent, packets by UDP sockets, in real time.
 *
 * When have packets been dealt with? The agent keeps one more RC QP, the barrier. A device takes
 * its packets in the order in which they come, so when it acknowledges a WRITE to the barrier, it
 * has had all that were sent before. Two rounds, as answers of one batch may change places.
 */
#include "config.h"

#include "side_live.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "live_agent.h"
#include "live_cm.h"
#include "live_fault.h"
#include "live_hold.h"
#include "live_socket.h"

#define BARRIER_QPN 0xfffffe
#define BARRIER_WAIT 100000000ull
#define BARRIER_TRIES 50
#define BARRIER_ROUNDS 2
#define NS 1000000000ull

struct live_sent {
	struct live_sent *next;
	struct side_packet pkt;
};

struct live_side {
	struct side side;
	struct live_agent *agent;
	struct live_socket *socket, *other, *group;
	struct live_sent *first, **last; /* came while another was awaited */
	uint32_t barrier_qpn, barrier_psn;
	pid_t hold;
	bool held; /* in the midst of a burst */
	struct live_cm cm;
	bool cm_said;	    /* since the device was waited for */
	bool cm_waits;	    /* for the answer to live_cm_barrier */
	const char *device; /* NULL: not known, or of another host */
	bool faulty;	    /* it has fault rules of the script */
};

static uint64_t now(struct side *side)
{
	(void)side;
	return live_now();
}

static void burst_end(struct live_side *l)
{
	if (l->held)
		live_release(l->hold);
	l->held = false;
}

static void inject(struct side *side, const struct side_packet *pkt, bool more)
{
	struct live_side *l = (struct live_side *)side;

	if (more && l->hold && !l->held) {
		l->held = live_hold(l->hold) == 0;
		if (!l->held)
			fprintf(stderr, "rnic-drill: cannot hold process %ld: %s\n", (long)l->hold,
				strerror(errno));
	}
	l->cm_said |= live_cm_is(pkt);
	live_socket_send(pkt->from_other && l->other ? l->other : l->socket,
			 pkt->group[0] ? pkt->group : side->gid, pkt);
	if (!more)
		burst_end(l);
}

static int join(struct side *side, const char *group)
{
	struct live_side *l = (struct live_side *)side;

	live_socket_close(l->group);
	l->group = live_socket_join(l->socket, group, side->gid);
	return l->group ? 0 : errno;
}

static bool is_barrier(const struct side_packet *pkt, uint32_t *psn)
{
	struct bth_packet p;

	if (bth_decode(pkt->data, pkt->len, &p) != BTH_OK || p.dqpn != BARRIER_QPN)
		return false;
	*psn = p.psn;
	return true;
}

static void keep(struct live_side *l, const struct side_packet *pkt)
{
	struct live_sent *s = malloc(sizeof(*s));

	if (!s)
		abort();
	s->next = NULL;
	s->pkt = *pkt;
	*l->last = s;
	l->last = &s->next;
}

/* Of a script before: it is answered so that it does not come again, and nobody else sees it. */
static bool stale(struct live_side *l, struct live_socket *s, const struct side_packet *pkt)
{
	static struct side_packet answer;

	switch (live_cm_judge(&l->cm, pkt, &answer)) {
	case LIVE_CM_NEW:
		return false;
	case LIVE_CM_ANSWER:
		live_socket_send(s, l->side.gid, &answer);
		return true;
	case LIVE_CM_OLD:
		return true;
	}
	return false;
}

/* The next packet of any socket, 0: none until then. */
static bool receive(struct live_side *l, uint64_t deadline, struct side_packet *pkt)
{
	struct pollfd fds[] = {{.fd = live_socket_fd(l->socket), .events = POLLIN},
			       {.fd = l->other ? live_socket_fd(l->other) : -1, .events = POLLIN},
			       {.fd = l->group ? live_socket_fd(l->group) : -1, .events = POLLIN}};

	for (;;) {
		uint64_t t = live_now();
		uint64_t left = deadline > t ? deadline - t : 0;
		struct timespec ts = {.tv_sec = (time_t)(left / NS), .tv_nsec = (long)(left % NS)};

		if (live_socket_recv(l->socket, pkt) && !stale(l, l->socket, pkt))
			return true;
		if (l->other && live_socket_recv(l->other, pkt) && !stale(l, l->other, pkt)) {
			pkt->to_other = true;
			return true;
		}
		if (l->group && live_socket_recv(l->group, pkt))
			return true;
		if (!left || (l->cm_waits && !l->cm.awaited))
			return false;
		ppoll(fds, sizeof(fds) / sizeof(fds[0]), &ts, NULL);
	}
}

static bool next(struct side *side, uint64_t deadline, struct side_packet *pkt)
{
	struct live_side *l = (struct live_side *)side;
	struct live_sent *s = l->first;
	uint32_t psn;

	if (s) {
		*pkt = s->pkt;
		l->first = s->next;
		if (!l->first)
			l->last = &l->first;
		free(s);
		return true;
	}
	while (receive(l, deadline, pkt))
		if (!is_barrier(pkt, &psn))
			return true;
	return false;
}

static void wait_until(struct side *side, uint64_t until)
{
	struct timespec ts = {.tv_sec = (time_t)(until / NS), .tv_nsec = (long)(until % NS)};

	(void)side;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static bool barrier_round(struct live_side *l)
{
	struct bth_packet p = {.opcode = BTH_OPCODE(BTH_RC, BTH_WRITE_ONLY),
			       .migreq = true,
			       .pkey = 0xffff,
			       .dqpn = l->barrier_qpn,
			       .ackreq = true,
			       .psn = l->barrier_psn};
	static struct side_packet out, in;
	uint32_t psn;

	memset(&out, 0, offsetof(struct side_packet, data));
	out.len = (uint32_t)bth_encode_headers(&p, out.data);
	for (int i = 0; i < BARRIER_TRIES; i++) {
		uint64_t deadline = live_now() + BARRIER_WAIT;

		live_socket_send(l->socket, l->side.gid, &out);
		while (receive(l, deadline, &in)) {
			if (!is_barrier(&in, &psn)) {
				keep(l, &in);
			} else if (psn == l->barrier_psn) {
				l->barrier_psn = (l->barrier_psn + 1) & 0xffffff;
				return true;
			}
		}
	}
	return false;
}

static void cm_round(struct live_side *l)
{
	static struct side_packet out, in;
	uint32_t psn;

	live_cm_barrier(&l->cm, &out);
	l->cm_waits = true;
	for (int i = 0; i < BARRIER_TRIES && l->cm.awaited; i++) {
		uint64_t deadline = live_now() + BARRIER_WAIT;

		live_socket_send(l->socket, l->side.gid, &out);
		while (l->cm.awaited && receive(l, deadline, &in))
			if (!is_barrier(&in, &psn))
				keep(l, &in);
	}
	l->cm_waits = false;
}

static void settle(struct side *side)
{
	struct live_side *l = (struct live_side *)side;

	if (l->cm_said)
		cm_round(l);
	l->cm_said = false;
	for (int i = 0; i < BARRIER_ROUNDS && l->barrier_qpn; i++) {
		if (!barrier_round(l)) {
			fprintf(stderr,
				"rnic-drill: the device does not acknowledge the barrier\n");
			l->barrier_qpn = 0;
		}
	}
}

static void forget_packets(struct live_side *l)
{
	static struct side_packet pkt;

	while (next(&l->side, 0, &pkt))
		;
}

static int reset(struct live_side *l, struct args *reply)
{
	char line[80];
	int ret = live_agent_ask(l->agent, "reset", reply);

	if (ret)
		return ret;
	args_free(reply);
	snprintf(line, sizeof(line), "barrier dgid=%s", l->side.peer);
	ret = live_agent_ask(l->agent, line, reply);
	l->barrier_psn = 0;
	l->barrier_qpn = ret ? 0 : (uint32_t)args_num(reply, "qpn", 0);
	l->cm.between = true;
	/* What a former script's QPs still sent. */
	settle(&l->side);
	forget_packets(l);
	live_socket_close(l->group);
	l->group = NULL;
	live_cm_next_script(&l->cm);
	return ret;
}

static void faults_clear(struct live_side *l)
{
	struct args reply;

	if (l->faulty && live_fault("clear", l->device, NULL, &reply))
		fprintf(stderr, "rnic-drill: %s\n", reply.error);
	if (l->faulty)
		args_free(&reply);
	l->faulty = false;
}

/* fault rule="..." */
static int fault_add(struct live_side *l, const char *request, struct args *reply)
{
	char rule[4096];
	struct args a;
	int ret;

	args_parse(&a, request);
	args_quoted(&a, "rule", rule, sizeof(rule));
	ret = live_fault("add", l->device, rule, reply);
	args_free(&a);
	l->faulty |= ret == 0;
	return ret;
}

static int exec(struct side *side, const char *request, struct args *reply)
{
	struct live_side *l = (struct live_side *)side;

	if (!strcmp(request, "reset")) {
		faults_clear(l);
		return reset(l, reply);
	}
	if (!strncmp(request, "fault ", 6))
		return fault_add(l, request, reply);
	return live_agent_ask(l->agent, request, reply);
}

static void end(struct side *side)
{
	struct live_side *l = (struct live_side *)side;

	burst_end(l);
	faults_clear(l);
	if (l->socket)
		forget_packets(l);
	live_socket_close(l->socket);
	live_socket_close(l->other);
	live_socket_close(l->group);
	live_agent_end(l->agent);
	free(l);
}

struct side *side_live(const struct live_options *o)
{
	struct live_side *l = calloc(1, sizeof(*l));

	if (!l)
		abort();
	l->side = (struct side){.real_time = true,
				.exec = exec,
				.inject = inject,
				.join = join,
				.next = next,
				.wait = wait_until,
				.settle = settle,
				.now = now,
				.end = end};
	l->last = &l->first;
	l->device = o->peer ? NULL : o->device;
	l->hold = o->hold;
	l->side.cm_next = (uint32_t)(live_now() >> 10) & 0xffffff;
	l->agent = o->peer ? live_agent_connect(o->peer) : live_agent_start(o->device);
	if (!l->agent || !live_agent_hello(l->agent, l->side.gid, &l->side.gid_index))
		goto fail;
	l->socket = live_socket_open(o->address, l->side.gid, l->side.peer);
	if (!l->socket)
		goto fail;
	l->other = live_socket_open(o->other, l->side.gid, l->side.other);
	if (!l->other)
		l->side.other[0] = '\0';
	return &l->side;
fail:
	end(&l->side);
	return NULL;
}
