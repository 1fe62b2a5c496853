/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fault files in the simulator: the same file gives the same run, to the byte and the nanosecond;
 * whatever it does, the data are right in the end.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faulty.h"
#include "scenario_rig.h"

enum { ROUNDS = 12, SEEDS = 20, FILE_MAX = 1000 };

static const char rules[] = "sim0 egress drop p=0.02\n"
			    "sim1 ingress duplicate p=0.05\n"
			    "both delay=1us-60us p=0.1\n"
			    "both delay=20us~5us p=0.02\n"
			    "sim1 egress reorder=2,80us p=0.05\n"
			    "sim0 ingress reorder p=0.02\n"
			    "sim0 ingress corrupt=bits:2 p=0.02\n"
			    "sim1 egress corrupt=psn p=0.02\n"
			    "sim1 egress nak=sequence p=0.03 count=2\n"
			    "sim0 ingress rnr=1 p=0.05\n"
			    "both mark=ce p=0.05\n"
			    "egress drop opcode=read-response nth=3\n";

/* WRITEs, READs and SENDs of some packets each; what is in b's memory then is a's. */
static void traffic(struct rig *r)
{
	static const enum rnic_wr_op ops[] = {RNIC_WR_WRITE, RNIC_WR_READ, RNIC_WR_SEND};
	uint32_t n = 0;

	for (int i = 0; i < ROUNDS; i++) {
		enum rnic_wr_op op = ops[i % 3];

		if (op == RNIC_WR_SEND)
			rig_receive(&r->b, 9000);
		rig_request(&r->a, &r->b, op, 9000);
		rig_post(&r->a);
	}
	rig_run(r);
	for (const struct rnic_cqe *cqe; (cqe = sim_cq_poll(&r->a.send_ring)); n++)
		sim_check(cqe->status == RNIC_WC_SUCCESS, "request %" PRIu64 " with status %d",
			  cqe->slot, (int)cqe->status);
	sim_check(n == ROUNDS, "%u requests are complete", n);
	sim_check(memcmp(r->a.mem.bytes, r->b.mem.bytes, 9000) == 0, "the data are wrong");
}

static struct sim_trace run(const char *file, uint64_t *fired)
{
	struct sim_end_config cfg = sim_end_default;
	struct sim_faulty f;
	struct sim_trace trace;
	struct rig r;

	rig_begin(&r, &cfg, &cfg);
	sim_faulty_begin(&f, &r.world, file);
	traffic(&r);
	trace = f.trace;
	f.trace = (struct sim_trace){0};
	*fired = f.n_fired;
	sim_faulty_end(&f);
	rig_end(&r);
	return trace;
}

static bool same(const struct sim_trace *a, const struct sim_trace *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

int main(void)
{
	struct sim_trace last = {0};
	uint64_t all = 0;

	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		char file[FILE_MAX];
		uint64_t fired, again;
		struct sim_trace one, two;

		snprintf(file, sizeof(file), "seed %u\n%s", seed, rules);
		sim_fail_context("fault file with seed %u", seed);
		one = run(file, &fired);
		two = run(file, &again);
		sim_check(same(&one, &two) && fired == again, "two runs differ");
		sim_check(!same(&one, &last), "another seed makes no difference");
		free(last.bytes);
		free(two.bytes);
		last = one;
		all += fired;
	}
	free(last.bytes);
	sim_check(all > SEEDS * 10, "rules fired %" PRIu64 " times", all);
	printf("ok faults: %d files, %" PRIu64 " firings, the same twice\n", SEEDS, all);
	return 0;
}
