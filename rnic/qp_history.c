/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The states that a QP went through: the last QP_STEPS of them, for those who want to look. */
#include "config.h"

#include "rnic/qp_priv.h"

void qp_history_add(struct rnic_qp *qp, enum rnic_qp_state from, bool by_error, uint64_t now)
{
	struct qp_history *h = &qp->history;

	h->step[h->n++ % QP_STEPS] = (struct rnic_qp_step){
		.from = from, .to = qp->attr.state, .by_error = by_error, .at = now};
}

uint64_t rnic_qp_steps(const struct rnic_qp *qp, struct rnic_qp_step step[RNIC_QP_STEPS_MAX],
		       uint32_t *n)
{
	const struct qp_history *h = &qp->history;

	*n = h->n < QP_STEPS ? (uint32_t)h->n : QP_STEPS;
	for (uint32_t i = 0; i < *n; i++)
		step[i] = h->step[(h->n - *n + i) % QP_STEPS];
	return h->n - *n;
}
