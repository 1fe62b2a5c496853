/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * dcqcn: some hosts send to one through a bottleneck of the rate of their own lines, as in an
 * incast behind one switch, and DCQCN has to share it.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoint.h"
#include "net/queue.h"
#include "rnic/cc.h"

#define FLOWS_MAX 16
#define GBIT 1000000000ull
#define OVERHEAD 46	 /* ICRC, UDP, IPv4, Ethernet */
#define WRITE_LEN 262144 /* bytes of a request */
#define OUTSTANDING 4
#define HOP_NS 1000 /* from the line's end to the host, and from the hosts to the line */

struct flow {
	struct sim_end a, b;
	uint64_t done; /* bytes, counted by completions */
	uint64_t mark; /* done when that began that is looked at */
};

struct incast {
	const char *name;
	struct sim_world w;
	struct net_queue queue;
	uint32_t n;
	struct flow flow[FLOWS_MAX];
	uint64_t loss_at; /* when the queue dropped a packet last */
	/* Of the queue since some time: */
	uint64_t from, to;
	uint64_t long_ns; /* for how long it was so long that all is marked, at most */
	bool is_long;
};

static void length_note(struct incast *in, uint64_t now)
{
	if (in->is_long)
		in->long_ns += now - in->to;
	in->to = now;
	in->is_long = net_queue_length(&in->queue, now) >= in->queue.cfg.red_max;
}

static bool line(void *arg, uint32_t to, uint32_t len, uint8_t *traffic_class, uint64_t now,
		 uint64_t *leaves)
{
	struct incast *in = arg;
	bool ect = *traffic_class & 3;
	enum net_queue_verdict v;

	*leaves = now + HOP_NS;
	if (to != in->n) /* back to the senders */
		return true;
	v = net_queue_put(&in->queue, now, len + OVERHEAD, ect, leaves);
	length_note(in, now);
	*leaves += HOP_NS;
	if (v == NET_QUEUE_MARK)
		*traffic_class |= 3;
	if (v == NET_QUEUE_DROP)
		in->loss_at = now;
	return v != NET_QUEUE_DROP;
}

static void flow_post(struct flow *f)
{
	struct rnic_send_wr *wr = sim_queue_send(&f->a.queues);

	wr->op = RNIC_WR_WRITE;
	wr->flags = RNIC_SEND_SIGNALED;
	wr->raddr = f->b.mem.start;
	wr->rkey = rnic_mr_key(f->b.mr);
	wr->num_sge = 1;
	wr->sge[0] = sim_sge(&f->a, 0, WRITE_LEN);
	sim_queue_send_post(&f->a.queues);
	sim_check(rnic_qp_kick(f->a.qp) == 0, "kick");
}

static void flow_work(struct flow *f)
{
	const struct rnic_cqe *c;

	while ((c = sim_cq_poll(&f->a.send_ring))) {
		sim_check(c->status == RNIC_WC_SUCCESS, "status %d", (int)c->status);
		f->done += WRITE_LEN;
		flow_post(f);
	}
}

static void flow_begin(struct incast *in, uint32_t i)
{
	struct sim_end_config cfg = sim_end_default;
	struct flow *f = &in->flow[i];

	cfg.mtu = RNIC_MTU_1024;
	cfg.mem_len = WRITE_LEN;
	cfg.timeout = 14;
	sim_end_begin(&f->a, &in->w, i, &cfg);
	sim_end_begin(&f->b, &in->w, in->n, &cfg);
	f->a.mem.sparse = f->b.mem.sparse = true;
	sim_connect(&f->a, &f->b);
	for (int k = 0; k < OUTSTANDING; k++)
		flow_post(f);
}

/* The queue in the words of rnicctl fault, the profile by its name, which is also the rate of all
 * lines. */
static void incast_begin(struct incast *in, const char *name, uint32_t n, const char *profile,
			 const char *red, const char *limit)
{
	struct net_queue_config cfg = {.rate = (uint64_t)atoi(profile) * GBIT, .seed = 1};
	struct cc_params p = cc_params_default;
	char err[200];

	memset(in, 0, sizeof(*in));
	in->name = name;
	in->n = n;
	sim_check(net_queue_set(&cfg, "red", red, err, sizeof(err)) == 0, "%s", err);
	sim_check(net_queue_set(&cfg, "queue", limit, err, sizeof(err)) == 0, "%s", err);
	net_queue_init(&in->queue, &cfg);
	sim_world_begin_nodes(&in->w, cfg.seed, RNIC_MTU_4096, 0, n + 1);
	in->w.rate = cfg.rate;
	in->w.line = line;
	in->w.line_arg = in;
	sim_check(cc_params_set(&p, "profile", profile, err, sizeof(err)) == 0, "%s", err);
	for (uint32_t i = 0; i <= n; i++)
		rnic_cc_set(in->w.node[i].dev, &p);
}

static void incast_run(struct incast *in, uint64_t until)
{
	while (in->w.now < until) {
		sim_check(sim_world_step(&in->w), "nothing happens any more");
		for (uint32_t i = 0; i < in->n; i++)
			if (in->flow[i].a.qp)
				flow_work(&in->flow[i]);
	}
}

static void incast_end(struct incast *in)
{
	for (uint32_t i = 0; i < in->n; i++) {
		sim_end_end(&in->flow[i].a);
		sim_end_end(&in->flow[i].b);
	}
	sim_check(sim_world_end(&in->w), "something is left");
}

/* ---- what is looked at ---- */

/* Look from now on. */
static void look(struct incast *in)
{
	length_note(in, in->w.now);
	in->from = in->w.now;
	in->long_ns = 0;
	for (uint32_t i = 0; i < in->n; i++)
		in->flow[i].mark = in->flow[i].done;
}

/* bit/s; 0: not limited */
static uint64_t rate_of(const struct incast *in, uint32_t i)
{
	uint32_t alpha;

	return rnic_qp_cc_rate(in->flow[i].a.qp, in->w.now, &alpha);
}

static double bytes_of(const struct incast *in, uint32_t i)
{
	return (double)(in->flow[i].done - in->flow[i].mark);
}

static double sum(const struct incast *in)
{
	double bytes = 0;

	for (uint32_t i = 0; i < in->n; i++)
		bytes += bytes_of(in, i);
	return bytes;
}

static double jain(const struct incast *in)
{
	double squares = 0;

	for (uint32_t i = 0; i < in->n; i++)
		squares += bytes_of(in, i) * bytes_of(in, i);
	return sum(in) * sum(in) / squares / in->n;
}

/* Of what the line could have carried, headers apart. */
static double use(const struct incast *in)
{
	double seconds = (double)(in->w.now - in->from) / 1e9;

	return sum(in) * 8 / ((double)in->w.rate * seconds);
}

static double long_share(const struct incast *in)
{
	return (double)in->long_ns / (double)(in->w.now - in->from);
}

static void figures_print(const struct incast *in, double queue_long)
{
	double least = 1, most = 0;

	for (uint32_t i = 0; i < in->n; i++) {
		double share = bytes_of(in, i) / sum(in);

		least = share < least ? share : least;
		most = share > most ? share : most;
	}
	printf("%s: shares %.3f to %.3f, Jain's index %.3f, line used %.3f, queue above the "
	       "marking maximum %.4f of the time, %" PRIu64 " packets lost, the last at %.1f ms\n",
	       in->name, least, most, jain(in), use(in), queue_long, in->queue.dropped,
	       (double)in->loss_at / 1e6);
}

static void shares_fairly(const struct incast *in)
{
	for (uint32_t i = 0; i < in->n && in->n == 2; i++)
		sim_check(bytes_of(in, i) / sum(in) > 0.4, "%s: flow %u has %.3f", in->name, i,
			  bytes_of(in, i) / sum(in));
	sim_check(jain(in) >= 0.9, "%s: Jain's index %.3f", in->name, jain(in));
	sim_check(use(in) >= 0.85, "%s: line used %.3f", in->name, use(in));
}

/* ---- tests ---- */

/* All begin at once; the last tenth of the time is looked at for shares, the queue from 100 ms or
 * from the first tenth on. */
static void converges(const char *name, uint32_t n, const char *profile, const char *red,
		      const char *limit, uint64_t ms)
{
	static struct incast in;
	uint64_t settled = ms > 1000 ? 100 : ms / 10;
	double queue_long;

	incast_begin(&in, name, n, profile, red, limit);
	for (uint32_t i = 0; i < n; i++)
		flow_begin(&in, i);
	incast_run(&in, settled * SIM_MS);
	look(&in);
	incast_run(&in, (ms - ms / 10) * SIM_MS);
	queue_long = long_share(&in);
	look(&in);
	incast_run(&in, ms * SIM_MS);
	figures_print(&in, queue_long);
	shares_fairly(&in);
	sim_check(in.loss_at <= settled * SIM_MS, "%s: loss at %.1f ms", name,
		  (double)in.loss_at / 1e6);
	/* With the published values sixteen flows need more marks than p gives. */
	sim_check(queue_long <= 0.05 || !strcmp(profile, "40g"), "%s: %.3f", name, queue_long);
	incast_end(&in);
}

/*
 * As in the paper: one flow has the line, a second one begins at the rate of the line. Its first
 * CNPs halve it, each period of the timer then brings it back half of the way, and from the fifth
 * on the target grows by 40 Mbit/s each 55 us.
 */
static void rate_has_the_shape_of_the_paper(void)
{
	static struct incast in;
	uint64_t lowest, before;

	incast_begin(&in, "late flow at 40 Gbit/s", 2, "40g", "5k,200k,0.01", "16m");
	flow_begin(&in, 0);
	incast_run(&in, 5 * SIM_MS);
	sim_check(rate_of(&in, 0) == 0, "a flow alone is limited to %" PRIu64, rate_of(&in, 0));
	flow_begin(&in, 1);
	while (rate_of(&in, 1) == 0)
		incast_run(&in, in.w.now + SIM_US);
	sim_check(in.w.now < 5200 * SIM_US, "first CNP at %.1f us", (double)in.w.now / 1e3);
	sim_check(rate_of(&in, 1) == 20 * GBIT, "first cut to %" PRIu64, rate_of(&in, 1));
	incast_run(&in, 6 * SIM_MS);
	lowest = rate_of(&in, 1);
	sim_check(lowest < 20 * GBIT, "%" PRIu64, lowest);
	before = lowest;
	incast_run(&in, 7100 * SIM_US); /* 20 periods */
	sim_check(rate_of(&in, 1) > before + 760000000 && rate_of(&in, 1) < before + 840000000,
		  "%" PRIu64 " to %" PRIu64 " in 20 periods", before, rate_of(&in, 1));
	incast_run(&in, 40 * SIM_MS);
	look(&in);
	incast_run(&in, 60 * SIM_MS);
	figures_print(&in, long_share(&in));
	shares_fairly(&in);
	sim_check(!in.queue.dropped, "loss");
	incast_end(&in);
}

/* Without control the same two flows fill any queue. */
static void without_control_packets_are_lost(void)
{
	static struct incast in;
	struct cc_params p = cc_params_default;

	incast_begin(&in, "no control at 1 Gbit/s", 2, "1g", "5k,100k,0.1", "256k");
	p.mode = CC_NONE;
	for (uint32_t i = 0; i <= in.n; i++)
		rnic_cc_set(in.w.node[i].dev, &p);
	for (uint32_t i = 0; i < in.n; i++)
		flow_begin(&in, i);
	incast_run(&in, SIM_S);
	printf("%s: %" PRIu64 " packets lost, the last at %.1f ms\n", in.name, in.queue.dropped,
	       (double)in.loss_at / 1e6);
	sim_check(in.loss_at > 500 * SIM_MS, "%s", in.name);
	sim_check(!in.queue.marked, "packets that are not ECT were marked");
	incast_end(&in);
}

int main(void)
{
	rate_has_the_shape_of_the_paper();
	converges("2 flows at 40 Gbit/s", 2, "40g", "5k,200k,0.01", "16m", 60);
	converges("16 flows at 40 Gbit/s", 16, "40g", "5k,200k,0.01", "16m", 60);
	converges("2 flows at 10 Gbit/s", 2, "10g", "5k,200k,0.1", "1m", 200);
	converges("16 flows at 10 Gbit/s", 16, "10g", "5k,200k,0.1", "1m", 200);
	converges("2 flows at 1 Gbit/s", 2, "1g", "5k,100k,0.1", "256k", 2000);
	converges("16 flows at 1 Gbit/s", 16, "1g", "5k,100k,0.1", "256k", 2000);
	without_control_packets_are_lost();
	return 0;
}
