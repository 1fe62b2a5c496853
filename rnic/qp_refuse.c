/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Why modify refuses a transition: one line in the log, with the remedy. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "rnic/qp_priv.h"
#include "rnic/qp_table.h"

#define NAMES_MAX 400

/* "modify it to INIT, then RTR": the way there, into text; false if there is none. */
static bool way_say(enum rnic_qp_state from, enum rnic_qp_state to, char *text, size_t size)
{
	enum rnic_qp_state way[RNIC_QPS_COUNT];
	uint32_t n = qp_table_way(from, to, way);
	size_t len = 0;

	for (uint32_t i = 0; i < n && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%s",
					i ? ", then " : "modify it to ",
					rnic_qp_state_name(way[i]));
	return n > 0;
}

void qp_post_refused(struct rnic_qp *qp)
{
	char text[80] = "";

	way_say(qp->attr.state, RNIC_QPS_RTS, text, sizeof(text));
	dev_log(qp->dev, "QP %" PRIu32 ": post_send in %s: %s first", qp->qpn,
		rnic_qp_state_name(qp->attr.state), text);
}

static void illegal_say(struct rnic_qp *qp, enum rnic_qp_state to)
{
	enum rnic_qp_state from = qp->attr.state;
	char text[80] = "a send that fails leads there, modify never does";

	way_say(from, to, text, sizeof(text));
	if (from == to)
		snprintf(text, sizeof(text), "modify it to RESET, or to the state that is next");
	dev_log(qp->dev, "QP %" PRIu32 ": %s to %s is not a legal transition: %s", qp->qpn,
		rnic_qp_state_name(from), rnic_qp_state_name(to), text);
}

static void lack_say(struct rnic_qp *qp, enum rnic_qp_state to, uint32_t bits)
{
	char names[NAMES_MAX];

	qp_attr_names(bits, names, sizeof(names));
	dev_log(qp->dev,
		"QP %" PRIu32 ": %s to %s needs %s: set what it says, and its bit in the mask",
		qp->qpn, rnic_qp_state_name(qp->attr.state), rnic_qp_state_name(to), names);
}

/* The first transition of this type of QP that takes all of these; false if none does. */
static bool taker_find(enum rnic_qp_type type, uint32_t bits, enum rnic_qp_state *from,
		       enum rnic_qp_state *to)
{
	for (int f = 0; f < RNIC_QPS_COUNT; f++) {
		for (int t = 0; t < RNIC_QPS_COUNT; t++) {
			struct qp_rule r =
				qp_table_rule(type, (enum rnic_qp_state)f, (enum rnic_qp_state)t);

			if (!r.legal || bits & ~(r.required | r.optional))
				continue;
			*from = (enum rnic_qp_state)f;
			*to = (enum rnic_qp_state)t;
			return true;
		}
	}
	return false;
}

static void excess_say(struct rnic_qp *qp, enum rnic_qp_state to, uint32_t bits)
{
	char names[NAMES_MAX], remedy[80] = "";
	enum rnic_qp_state f, t;

	qp_attr_names(bits, names, sizeof(names));
	if (taker_find(qp->init.type, bits, &f, &t))
		snprintf(remedy, sizeof(remedy), ", or give it with %s to %s",
			 rnic_qp_state_name(f), rnic_qp_state_name(t));
	dev_log(qp->dev, "QP %" PRIu32 ": %s to %s does not take %s: leave it out of the mask%s",
		qp->qpn, rnic_qp_state_name(qp->attr.state), rnic_qp_state_name(to), names, remedy);
}

int qp_transition_check(struct rnic_qp *qp, enum rnic_qp_state to, uint32_t mask)
{
	uint32_t bits;

	switch (qp_table_check(qp->init.type, qp->attr.state, to, mask, &bits)) {
	case QP_MODIFY_OK:
		return 0;
	case QP_MODIFY_ILLEGAL:
		illegal_say(qp, to);
		break;
	case QP_MODIFY_LACKS:
		lack_say(qp, to, bits);
		break;
	case QP_MODIFY_EXCESS:
		excess_say(qp, to, bits);
		break;
	}
	return -EINVAL;
}
