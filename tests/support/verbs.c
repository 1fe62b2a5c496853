/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Each function of infiniband/verbs.h, and each kind of request and of QP, is asked for once.
 *
 *     verbs
 */
#include "verbs.h"

#include <stdlib.h>

struct ibv_wc verbs_done(struct stage *s)
{
	struct ibv_wc wc;

	MUST(rig_wait(s->rig.cq, &wc, RIG_PATIENCE));
	if (wc.status)
		rig_fail("completion: %s", ibv_wc_status_str(wc.status));
	return wc;
}

void verbs_fill(struct stage *s, uint8_t value)
{
	memset(s->memory, value, HALF);
	memset(s->memory + HALF, ~value, HALF);
}

bool verbs_arrived(const struct stage *s)
{
	return !memcmp(s->memory, s->memory + HALF, HALF);
}

int main(void)
{
	static struct stage stage;

	WORKS(ibv_fork_init, !ibv_fork_init());
	WORKS(ibv_is_fork_initialized, ibv_is_fork_initialized() != IBV_FORK_DISABLED);
	verbs_ask_devices();
	rig_open(&stage.rig);
	WORKS(ibv_reg_mr, (stage.mr = rig_mr(&stage.rig, stage.memory, SIZE)));
	verbs_ask_queries(&stage);
	verbs_ask_words();
	verbs_ask_objects(&stage);
	verbs_ask_events(&stage);
	verbs_ask_datagrams(&stage);
	verbs_ask_requests(&stage);
	verbs_ask_extended_requests(&stage);
	verbs_ask_extended_completions(&stage);
	verbs_ask_what_rxe_has_not(&stage);
	WORKS(ibv_dereg_mr, !ibv_dereg_mr(stage.mr));
	rig_close(&stage.rig);
	return 0;
}
