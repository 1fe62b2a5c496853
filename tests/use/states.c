/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Leaves a queue pair in every state that a program can bring one to, prints "QPN TYPE STATE" of
 * each and then "parked", and waits for a signal.
 */
#include <stdio.h>
#include <unistd.h>

#include "ladder.h"

static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

static void park(struct rig *r, enum ibv_qp_type type, enum ibv_qp_state state)
{
	struct ibv_qp *qp = rig_qp(r, type);

	ladder_to(r, qp, state);
	printf("%u %s %s\n", qp->qp_num, ladder_type_name(type), names[state]);
}

/* A send from memory that is nobody's takes it where errors lead. */
static void park_failed(struct rig *r, enum ibv_qp_type type)
{
	struct ibv_qp *qp = rig_qp(r, type);

	ladder_to(r, qp, IBV_QPS_RTS);
	printf("%u %s %s by an error\n", qp->qp_num, ladder_type_name(type),
	       names[ladder_fail(r, qp)]);
}

int main(void)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
	struct rig r;

	rig_open(&r);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		for (int s = IBV_QPS_RESET; s <= IBV_QPS_ERR; s++)
			if (s != IBV_QPS_SQE)
				park(&r, types[i], (enum ibv_qp_state)s);
		park_failed(&r, types[i]);
	}
	puts("parked");
	fflush(stdout);
	pause();
	return 0;
}
