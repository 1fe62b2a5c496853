/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * In which states the QPs of a flow must be, by what they send: who asks is ready to send, who
 * answers is ready to receive, who was refused is in error. States without a packet are not seen.
 */
#include "config.h"

#include <stdlib.h>

#include "bth/aeth.h"
#include "bth/cm.h"
#include "bth/opcode.h"
#include "tools/ladder.h"

static const char *const names[] = {
	[LADDER_STATE_UNKNOWN] = "?", [LADDER_STATE_INIT] = "INIT", [LADDER_STATE_RTR] = "RTR",
	[LADDER_STATE_RTS] = "RTS",   [LADDER_STATE_ERR] = "ERR",   [LADDER_STATE_GONE] = "closed",
};

const char *ladder_state_name(enum ladder_state state)
{
	return names[state];
}

struct ends {
	enum ladder_state state[2];
};

/* IBA 12.9.7 (unverified): what each message means for the QPs. */
static void cm_apply(struct ends *e, const struct ladder_packet *p)
{
	switch (p->cm_type) {
	case CM_REQ:
		e->state[p->from] = LADDER_STATE_INIT;
		break;
	case CM_REP:
		e->state[p->from] = LADDER_STATE_RTR;
		break;
	case CM_RTU:
		e->state[0] = e->state[1] = LADDER_STATE_RTS;
		break;
	case CM_DREQ:
	case CM_DREP:
	case CM_REJ:
		e->state[p->from] = LADDER_STATE_GONE;
		break;
	default:
		break;
	}
}

/* IBA 9.9 (unverified): a NAK that is no PSN sequence error ends both QPs. */
static bool is_fatal(const struct ladder_packet *p)
{
	return p->marks & LADDER_NAK && aeth_value(p->bth.syndrome) != AETH_NAK_PSN_SEQUENCE;
}

static void packet_apply(struct ends *e, const struct ladder_packet *p)
{
	uint32_t flags = bth_opcode_info(p->bth.opcode)->flags;

	if (is_fatal(p)) {
		e->state[0] = e->state[1] = LADDER_STATE_ERR;
	} else if (flags & BTH_F_REQUEST && e->state[p->from] < LADDER_STATE_RTS) {
		e->state[p->from] = LADDER_STATE_RTS;
	} else if (flags & BTH_F_RESPONSE && e->state[p->from] < LADDER_STATE_RTR) {
		e->state[p->from] = LADDER_STATE_RTR;
	}
}

bool ladder_flow_states(struct ladder *l, struct ladder_flow *f)
{
	struct ends now = {{LADDER_STATE_UNKNOWN, LADDER_STATE_UNKNOWN}};

	if (f->transport == BTH_UD)
		return true;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct ladder_packet *p = &l->packets[f->packets[i]];
		struct ends before = now;

		if (p->marks & LADDER_CM)
			cm_apply(&now, p);
		else if (!(p->marks & LADDER_MALFORMED))
			packet_apply(&now, p);
		for (uint8_t end = 0; end < 2; end++) {
			struct ladder_change *all;

			if (now.state[end] == before.state[end])
				continue;
			all = realloc(f->changes, (f->n_changes + 1) * sizeof(*all));
			if (!all)
				return false;
			f->changes = all;
			all[f->n_changes++] = (struct ladder_change){
				.packet = i, .end = end, .state = now.state[end]};
		}
	}
	return true;
}
