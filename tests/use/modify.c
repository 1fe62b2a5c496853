/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * ibv_modify_qp by a program: of every type, from every state to every state, with what is needed,
 * without each needed attribute, with each one that is too much and each one that may be there.
 * The verdicts are those of the page transitions.txt. Prints how many it saw.
 */
#include <errno.h>
#include <stdio.h>

#include "ladder.h"
#include "transitions.h"

#define ALT_PATH_BIT 14
#define RATE_LIMIT_BIT 25

static struct transition page[TRANSITION_TYPES][TRANSITION_STATES][TRANSITION_STATES];
static uint32_t seen;

struct ask {
	struct rig *r;
	struct ibv_qp *qp;
	enum ibv_qp_state from, to;
};

static void from_again(const struct ask *a)
{
	if (a->from == IBV_QPS_SQE) {
		ladder_to(a->r, a->qp, IBV_QPS_RTS);
		ladder_fail(a->r, a->qp);
	} else {
		ladder_to(a->r, a->qp, a->from);
	}
}

static void ask(const struct ask *a, uint32_t mask, int expected)
{
	struct ibv_qp_attr attr = ladder_attr(a->r, a->to);
	enum ibv_qp_state state;
	int rc;

	attr.cur_qp_state = a->from;
	attr.alt_ah_attr = attr.ah_attr;
	attr.alt_port_num = 1;
	rc = ibv_modify_qp(a->qp, &attr, (int)mask);
	state = ladder_state(a->qp);
	if (rc != expected || state != (expected ? a->from : a->to)) {
		errno = rc;
		rig_fail("%s from %s to %s, mask 0x%x: %d instead of %d, then it is in %s",
			 ladder_type_name(a->qp->qp_type), transition_state_names[a->from],
			 transition_state_names[a->to], mask, rc, expected,
			 transition_state_names[state]);
	}
	seen++;
	if (!rc && a->from != a->to)
		from_again(a);
}

static void ask_all(const struct ask *a, const struct transition *rule)
{
	ask(a, rule->need | IBV_QP_STATE, rule->legal ? 0 : EINVAL);
	if (!rule->legal)
		return;
	for (uint32_t bit = 1; bit <= RATE_LIMIT_BIT; bit++) {
		uint32_t b = 1u << bit, mask = rule->need | IBV_QP_STATE;

		if (!transition_attr_names[bit])
			continue;
		if (bit == RATE_LIMIT_BIT)
			ask(a, mask | b, EOPNOTSUPP);
		else if (rule->need & b)
			ask(a, mask & ~b, EINVAL);
		else
			ask(a, mask | b, rule->may & b && bit != ALT_PATH_BIT ? 0 : EINVAL);
	}
}

int main(int argc, char **argv)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
	struct rig r;

	MUST(argc == 2);
	transitions_read(argv[1], page);
	rig_open(&r);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct ask a = {.r = &r, .qp = rig_qp(&r, types[i])};

		for (uint32_t f = 0; f < TRANSITION_STATES; f++) {
			a.from = (enum ibv_qp_state)f;
			from_again(&a);
			if (ladder_state(a.qp) != a.from)
				continue; /* errors do not lead there */
			for (uint32_t t = 0; t < TRANSITION_STATES; t++) {
				a.to = (enum ibv_qp_state)t;
				ask_all(&a, &page[types[i] - 1][f][t]);
			}
		}
		MUST(!ibv_destroy_qp(a.qp));
	}
	rig_close(&r);
	printf("verdicts %u\n", seen);
	return 0;
}
