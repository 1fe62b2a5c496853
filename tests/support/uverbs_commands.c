/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands by write(): the device, domains, memory, completion queues; and those that rxe has not.
 */
#include "uverbs.h"

#include <fcntl.h>
#include <unistd.h>

#define COMMAND(name) IB_USER_VERBS_CMD_##name

static void ask_device(struct session *s)
{
	struct ib_uverbs_query_device dev_req = {0};
	struct ib_uverbs_query_device_resp dev = {0};
	struct ib_uverbs_query_port port_req = {.port_num = 1};
	struct ib_uverbs_query_port_resp port = {0};

	WORKS(IB_USER_VERBS_CMD_QUERY_DEVICE,
	      !DO(s, COMMAND(QUERY_DEVICE), dev_req, dev) && dev.max_qp && dev.phys_port_cnt == 1);
	WORKS(IB_USER_VERBS_CMD_QUERY_PORT,
	      !DO(s, COMMAND(QUERY_PORT), port_req, port) && port.state == IBV_PORT_ACTIVE);
}

static void ask_domains(struct session *s)
{
	struct ib_uverbs_alloc_pd req = {0};
	struct ib_uverbs_alloc_pd_resp resp;
	struct ib_uverbs_dealloc_pd end;

	WORKS(IB_USER_VERBS_CMD_ALLOC_PD, !DO(s, COMMAND(ALLOC_PD), req, resp));
	end.pd_handle = resp.pd_handle;
	WORKS(IB_USER_VERBS_CMD_DEALLOC_PD,
	      !DO_ONLY(s, COMMAND(DEALLOC_PD), end) && DO_ONLY(s, COMMAND(DEALLOC_PD), end));
	s->pd = raw_pd(s->fd);
}

static void ask_regions(struct session *s)
{
	struct ib_uverbs_reg_mr req = {.start = (uintptr_t)s->page,
				       .length = PAGE,
				       .hca_va = (uintptr_t)s->page,
				       .pd_handle = s->pd,
				       .access_flags = 1};
	struct ib_uverbs_rereg_mr again = {.flags = 4, .access_flags = 3};
	struct ib_uverbs_rereg_mr_resp keys;
	struct ib_uverbs_reg_mr_resp mr;
	struct ib_uverbs_dereg_mr end;

	WORKS(IB_USER_VERBS_CMD_REG_MR, !DO(s, COMMAND(REG_MR), req, mr) && mr.lkey);
	again.mr_handle = end.mr_handle = mr.mr_handle;
	WORKS(IB_USER_VERBS_CMD_REREG_MR,
	      !DO(s, COMMAND(REREG_MR), again, keys) && keys.lkey == mr.lkey);
	WORKS(IB_USER_VERBS_CMD_DEREG_MR,
	      !DO_ONLY(s, COMMAND(DEREG_MR), end) && DO_ONLY(s, COMMAND(DEREG_MR), end));
	IS(0, raw_reg_mr(s->fd, s->pd, s->page, PAGE, RIG_ACCESS, &mr));
	s->mr = mr.mr_handle;
	s->mr_lkey = mr.lkey;
}

static void ask_windows(struct session *s)
{
	struct ib_uverbs_alloc_mw req = {.pd_handle = s->pd, .mw_type = 2};
	struct ib_uverbs_alloc_mw_resp resp;
	struct ib_uverbs_dealloc_mw end;

	WORKS(IB_USER_VERBS_CMD_ALLOC_MW, !DO(s, COMMAND(ALLOC_MW), req, resp) && resp.rkey);
	end.mw_handle = resp.mw_handle;
	WORKS(IB_USER_VERBS_CMD_DEALLOC_MW,
	      !DO_ONLY(s, COMMAND(DEALLOC_MW), end) && DO_ONLY(s, COMMAND(DEALLOC_MW), end));
}

static void ask_completions(struct session *s)
{
	struct ib_uverbs_create_comp_channel channel_req = {0};
	struct ib_uverbs_create_comp_channel_resp channel = {0};
	struct ib_uverbs_create_cq req = {.cqe = 10};
	struct cq_resp cq = {0};
	struct ib_uverbs_resize_cq more = {.cqe = 100};
	uint32_t resized[6]; /* entries, nothing, the ring */
	struct ib_uverbs_req_notify_cq arm = {0};
	struct ib_uverbs_destroy_cq end = {0};
	struct ib_uverbs_destroy_cq_resp ended;

	WORKS(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
	      !DO(s, COMMAND(CREATE_COMP_CHANNEL), channel_req, channel) &&
		      fcntl((int)channel.fd, F_GETFD) >= 0);
	req.comp_channel = (int32_t)channel.fd;
	WORKS(IB_USER_VERBS_CMD_CREATE_CQ,
	      !DO(s, COMMAND(CREATE_CQ), req, cq) && cq.core.cqe >= 10);
	more.cq_handle = arm.cq_handle = end.cq_handle = cq.core.cq_handle;
	WORKS(IB_USER_VERBS_CMD_RESIZE_CQ,
	      !DO(s, COMMAND(RESIZE_CQ), more, resized) && resized[0] >= 100);
	WORKS(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, !DO_ONLY(s, COMMAND(REQ_NOTIFY_CQ), arm));
	WORKS(IB_USER_VERBS_CMD_DESTROY_CQ,
	      !DO(s, COMMAND(DESTROY_CQ), end, ended) && DO(s, COMMAND(DESTROY_CQ), end, ended));
	MUST(!close((int)channel.fd));
	req.comp_channel = -1;
	MUST(!DO(s, COMMAND(CREATE_CQ), req, cq));
	s->cq = cq.core.cq_handle;
}

static void ask_addresses(struct session *s)
{
	struct ib_uverbs_create_ah req = {
		.pd_handle = s->pd,
		.attr = {.grh = {.dgid = {[10] = 0xff, 0xff, 127, 0, 0, 1}, .hop_limit = 64},
			 .is_global = 1,
			 .port_num = 1}};
	uint32_t resp[4]; /* the handle, and what the provider numbers it by */
	struct ib_uverbs_destroy_ah end;

	WORKS(IB_USER_VERBS_CMD_CREATE_AH, !DO(s, COMMAND(CREATE_AH), req, resp));
	end.ah_handle = resp[0];
	WORKS(IB_USER_VERBS_CMD_DESTROY_AH,
	      !DO_ONLY(s, COMMAND(DESTROY_AH), end) && DO_ONLY(s, COMMAND(DESTROY_AH), end));
}

#define NONE(name)                                                                                 \
	{                                                                                          \
		COMMAND(name), "IB_USER_VERBS_CMD_" #name                                          \
	}

/* By their numbers alone: none of them gets as far as its request. */
static void ask_what_rxe_has_not(struct session *s)
{
	static const struct {
		uint32_t command;
		const char *name;
	} none[] = {NONE(MODIFY_AH),	 NONE(QUERY_AH),  NONE(REG_SMR),    NONE(QUERY_MR),
		    NONE(BIND_MW),	 NONE(PEEK_CQ),	  NONE(POLL_CQ),    NONE(POST_RECV),
		    NONE(POST_SRQ_RECV), NONE(OPEN_XRCD), NONE(CLOSE_XRCD), NONE(OPEN_QP)};
	uint64_t req[16] = {0}, resp[16];

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ask_refused(none[i].name, DO(s, none[i].command, req, resp));
}

void uverbs_ask_commands(struct session *s)
{
	ask_device(s);
	ask_domains(s);
	ask_regions(s);
	ask_windows(s);
	ask_completions(s);
	ask_addresses(s);
	ask_what_rxe_has_not(s);
}
