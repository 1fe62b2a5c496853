/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Commands by number: write() with its headers, and INVOKE_WRITE, which brings the same commands
 * without them. Sizes are those below which the kernel answers ENOSPC.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>

#include "verbs/kernel/uverbs.h"
#include "verbs/kernel/uverbs_obj.h"

struct write_cmd {
	int (*run)(struct ucmd *cmd); /* NULL: not supported by this device */
	uint16_t req, resp;
	bool udata;
	bool destroys; /* and so succeeds after the device has gone */
};

#define SIZES(req_type, resp_type) .req = sizeof(struct req_type), .resp = sizeof(struct resp_type)
#define REQ(req_type) .req = sizeof(struct req_type)

static const struct write_cmd commands[IB_USER_VERBS_CMD_OPEN_QP + 1] = {
	[IB_USER_VERBS_CMD_GET_CONTEXT] = {cmd_get_context,
					   SIZES(ib_uverbs_get_context, ib_uverbs_get_context_resp),
					   .udata = true},
	[IB_USER_VERBS_CMD_QUERY_DEVICE] = {cmd_query_device, SIZES(ib_uverbs_query_device,
								    ib_uverbs_query_device_resp)},
	[IB_USER_VERBS_CMD_QUERY_PORT] = {cmd_query_port,
					  SIZES(ib_uverbs_query_port, ib_uverbs_query_port_resp)},
	[IB_USER_VERBS_CMD_ALLOC_PD] = {cmd_alloc_pd,
					SIZES(ib_uverbs_alloc_pd, ib_uverbs_alloc_pd_resp),
					.udata = true},
	[IB_USER_VERBS_CMD_DEALLOC_PD] = {cmd_dealloc_pd, REQ(ib_uverbs_dealloc_pd),
					  .destroys = true},
	[IB_USER_VERBS_CMD_CREATE_AH] = {cmd_create_ah,
					 SIZES(ib_uverbs_create_ah, ib_uverbs_create_ah_resp),
					 .udata = true},
	[IB_USER_VERBS_CMD_DESTROY_AH] = {cmd_destroy_ah, REQ(ib_uverbs_destroy_ah),
					  .destroys = true},
	[IB_USER_VERBS_CMD_REG_MR] = {cmd_reg_mr, SIZES(ib_uverbs_reg_mr, ib_uverbs_reg_mr_resp),
				      .udata = true},
	[IB_USER_VERBS_CMD_REREG_MR] = {cmd_rereg_mr,
					SIZES(ib_uverbs_rereg_mr, ib_uverbs_rereg_mr_resp),
					.udata = true},
	[IB_USER_VERBS_CMD_DEREG_MR] = {cmd_dereg_mr, REQ(ib_uverbs_dereg_mr), .destroys = true},
	[IB_USER_VERBS_CMD_ALLOC_MW] = {cmd_alloc_mw,
					SIZES(ib_uverbs_alloc_mw, ib_uverbs_alloc_mw_resp),
					.udata = true},
	[IB_USER_VERBS_CMD_DEALLOC_MW] = {cmd_dealloc_mw, REQ(ib_uverbs_dealloc_mw),
					  .destroys = true},
	[IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL] = {cmd_create_comp_channel,
						   SIZES(ib_uverbs_create_comp_channel,
							 ib_uverbs_create_comp_channel_resp)},
	[IB_USER_VERBS_CMD_CREATE_CQ] = {cmd_create_cq,
					 SIZES(ib_uverbs_create_cq, ib_uverbs_create_cq_resp),
					 .udata = true},
	[IB_USER_VERBS_CMD_RESIZE_CQ] = {cmd_resize_cq,
					 SIZES(ib_uverbs_resize_cq, ib_uverbs_resize_cq_resp),
					 .udata = true},
	[IB_USER_VERBS_CMD_DESTROY_CQ] = {cmd_destroy_cq,
					  SIZES(ib_uverbs_destroy_cq, ib_uverbs_destroy_cq_resp),
					  .destroys = true},
	[IB_USER_VERBS_CMD_REQ_NOTIFY_CQ] = {cmd_req_notify_cq, REQ(ib_uverbs_req_notify_cq)},
	[IB_USER_VERBS_CMD_CREATE_QP] = {cmd_create_qp,
					 SIZES(ib_uverbs_create_qp, ib_uverbs_create_qp_resp),
					 .udata = true},
	[IB_USER_VERBS_CMD_QUERY_QP] = {cmd_query_qp,
					SIZES(ib_uverbs_query_qp, ib_uverbs_query_qp_resp)},
	[IB_USER_VERBS_CMD_MODIFY_QP] = {cmd_modify_qp, REQ(ib_uverbs_modify_qp)},
	[IB_USER_VERBS_CMD_DESTROY_QP] = {cmd_destroy_qp,
					  SIZES(ib_uverbs_destroy_qp, ib_uverbs_destroy_qp_resp),
					  .destroys = true},
	[IB_USER_VERBS_CMD_ATTACH_MCAST] = {cmd_attach_mcast, REQ(ib_uverbs_attach_mcast)},
	[IB_USER_VERBS_CMD_DETACH_MCAST] = {cmd_detach_mcast, REQ(ib_uverbs_detach_mcast)},
	[IB_USER_VERBS_CMD_POST_SEND] = {cmd_post_send,
					 SIZES(ib_uverbs_post_send, ib_uverbs_post_send_resp)},
	[IB_USER_VERBS_CMD_CREATE_SRQ] = {cmd_create_srq,
					  SIZES(ib_uverbs_create_srq, ib_uverbs_create_srq_resp),
					  .udata = true},
	[IB_USER_VERBS_CMD_MODIFY_SRQ] = {cmd_modify_srq, REQ(ib_uverbs_modify_srq), .udata = true},
	[IB_USER_VERBS_CMD_QUERY_SRQ] = {cmd_query_srq,
					 SIZES(ib_uverbs_query_srq, ib_uverbs_query_srq_resp)},
	[IB_USER_VERBS_CMD_DESTROY_SRQ] = {cmd_destroy_srq,
					   SIZES(ib_uverbs_destroy_srq, ib_uverbs_destroy_srq_resp),
					   .destroys = true},
	[IB_USER_VERBS_CMD_CREATE_XSRQ] = {cmd_create_xsrq,
					   SIZES(ib_uverbs_create_xsrq, ib_uverbs_create_srq_resp),
					   .udata = true},
};

static const struct write_cmd ex_commands[IB_USER_VERBS_EX_CMD_MODIFY_CQ + 1] = {
	[IB_USER_VERBS_EX_CMD_QUERY_DEVICE] = {cmd_query_device_ex,
					       .req = sizeof(struct ib_uverbs_ex_query_device),
					       .resp = END_OF(struct ib_uverbs_ex_query_device_resp,
							      response_length)},
	[IB_USER_VERBS_EX_CMD_CREATE_CQ] = {cmd_create_cq_ex,
					    .req = sizeof(struct ib_uverbs_ex_create_cq),
					    .resp = sizeof(struct ib_uverbs_ex_create_cq_resp)},
	[IB_USER_VERBS_EX_CMD_CREATE_QP] = {cmd_create_qp_ex,
					    .req = END_OF(struct ib_uverbs_ex_create_qp, comp_mask),
					    .resp = sizeof(struct ib_uverbs_ex_create_qp_resp)},
	[IB_USER_VERBS_EX_CMD_MODIFY_QP] = {cmd_modify_qp_ex,
					    .req = END_OF(struct ib_uverbs_ex_modify_qp, base),
					    .resp = sizeof(struct ib_uverbs_ex_modify_qp_resp)},
};

static_assert(sizeof(struct ib_uverbs_cmd_hdr) == 8, "write header");
static_assert(sizeof(struct ib_uverbs_ex_cmd_hdr) == 16, "extended write header");
static_assert(sizeof(struct ib_uverbs_query_device_resp) == 176, "QUERY_DEVICE");
static_assert(sizeof(struct ib_uverbs_ex_query_device_resp) == 304, "QUERY_DEVICE ex");
static_assert(sizeof(struct ib_uverbs_reg_mr) == 40, "REG_MR");
static_assert(sizeof(struct ib_uverbs_rereg_mr) == 48, "REREG_MR");
static_assert(sizeof(struct ib_uverbs_alloc_mw) == 16, "ALLOC_MW");
static_assert(sizeof(struct ib_uverbs_create_cq) == 32, "CREATE_CQ");
static_assert(sizeof(struct ib_uverbs_create_qp) == 56, "CREATE_QP");
static_assert(sizeof(struct ib_uverbs_create_qp_resp) == 32, "CREATE_QP");
static_assert(sizeof(struct ib_uverbs_modify_qp) == 112, "MODIFY_QP");
static_assert(sizeof(struct ib_uverbs_query_qp_resp) == 128, "QUERY_QP");
static_assert(sizeof(struct ib_uverbs_create_srq) == 32, "CREATE_SRQ");
static_assert(sizeof(struct ib_uverbs_create_ah) == 56, "CREATE_AH");

static const struct write_cmd unsupported;

/* NULL and *rc, or the command; unsupported has no run. */
static const struct write_cmd *command_find(uint32_t number, bool *ex, int *rc)
{
	uint32_t n = number & IB_USER_VERBS_CMD_COMMAND_MASK;
	const struct write_cmd *w;

	*rc = 0;
	*ex = number & IB_USER_VERBS_CMD_FLAG_EXTENDED;
	if (number & ~(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK)) {
		*rc = -EINVAL;
		return NULL;
	}
	if (n >= (*ex ? ARRAY_SIZE(ex_commands) : ARRAY_SIZE(commands))) {
		*rc = -EOPNOTSUPP;
		return NULL;
	}
	w = *ex ? &ex_commands[n] : &commands[n];
	if (w->run)
		return w;
	*ex = false; /* what the kernel puts in its place is an ordinary one */
	return &unsupported;
}

static int command_run(struct ucmd *cmd, const struct write_cmd *w, uint32_t number)
{
	if (!w->run) {
		ucmd_log(cmd, "command 0x%x is not supported", number);
		return -EOPNOTSUPP;
	}
	if (!cmd->dev && !w->destroys)
		return -EIO;
	if (!cmd->uc && w->run != cmd_get_context) {
		ucmd_log(cmd, "command 0x%x before GET_CONTEXT", number);
		return -EINVAL;
	}
	return w->run(cmd);
}

static int plain_parse(struct ucmd *cmd, const struct write_cmd *w, struct ib_uverbs_cmd_hdr *hdr,
		       uint64_t addr, uint64_t len)
{
	size_t in = hdr->in_words * 4u, out = hdr->out_words * 4u;
	uint64_t response = 0;
	int rc;

	if (in != len)
		return -EINVAL;
	if (len < w->req + sizeof(*hdr)) {
		/* rdma-core 18 and 19 send too little, and mean 24 bytes. */
		if (hdr->command != IB_USER_VERBS_CMD_DESTROY_CQ || len != 16)
			return -ENOSPC;
		in = 24;
	}
	if (out < w->resp)
		return -ENOSPC;
	in -= sizeof(*hdr);
	addr += sizeof(*hdr);
	if (w->resp) {
		rc = call_read(cmd->call, &response, addr, sizeof(response));
		if (rc)
			return rc;
	}
	cmd->core = (struct udata){addr, response, in, w->resp ? out : 0};
	if (w->udata) {
		cmd->uhw = (struct udata){addr + w->req, response + w->resp, in - w->req,
					  w->resp ? out - w->resp : 0};
		cmd->core.inlen = w->req;
		cmd->core.outlen = w->resp;
	}
	return 0;
}

static int ex_parse(struct ucmd *cmd, const struct write_cmd *w, struct ib_uverbs_cmd_hdr *hdr,
		    uint64_t addr, uint64_t len)
{
	struct ib_uverbs_ex_cmd_hdr ex;
	size_t heads = sizeof(*hdr) + sizeof(ex), in, out, uhw_in, uhw_out;
	int rc;

	if (len < heads)
		return -EINVAL;
	rc = call_read(cmd->call, &ex, addr + sizeof(*hdr), sizeof(ex));
	if (rc)
		return rc;
	in = hdr->in_words * 8u;
	out = hdr->out_words * 8u;
	uhw_in = ex.provider_in_words * 8u;
	uhw_out = ex.provider_out_words * 8u;
	if (in + uhw_in != len - heads)
		return -EINVAL;
	if (in < w->req)
		return -ENOSPC;
	if (ex.cmd_hdr_reserved || !ex.response != !(out + uhw_out))
		return -EINVAL;
	if (ex.response && out < w->resp)
		return -ENOSPC;
	cmd->core = (struct udata){addr + heads, ex.response, in, out};
	cmd->uhw = (struct udata){addr + heads + in, ex.response + out, uhw_in, uhw_out};
	return 0;
}

int64_t uverbs_write(struct call *call, struct context *c, uint64_t addr, uint64_t len)
{
	const struct write_cmd *w;
	struct ib_uverbs_cmd_hdr hdr;
	struct ucmd cmd;
	bool ex;
	int rc;

	ucmd_init(&cmd, call, c);
	if (len < sizeof(hdr))
		return -EINVAL;
	rc = call_read(call, &hdr, addr, sizeof(hdr));
	if (rc)
		return rc;
	w = command_find(hdr.command, &ex, &rc);
	if (w)
		rc = ex ? ex_parse(&cmd, w, &hdr, addr, len)
			: plain_parse(&cmd, w, &hdr, addr, len);
	if (rc) {
		if (rc != -EINPROGRESS)
			ucmd_log(&cmd,
				 "write() of command 0x%x: its header is wrong for %llu bytes",
				 hdr.command, (unsigned long long)len);
		return rc;
	}
	rc = command_run(&cmd, w, hdr.command);
	return rc ? rc : (int64_t)len;
}

int write_invoke(struct ucmd *cmd)
{
	const struct uattr *in = &cmd->attr[UVERBS_ATTR_CORE_IN];
	const struct uattr *out = &cmd->attr[UVERBS_ATTR_CORE_OUT];
	const struct write_cmd *w;
	uint64_t number;
	bool ex;
	int rc = uattr_const(cmd, UVERBS_ATTR_WRITE_CMD, UINT32_MAX, &number);

	if (rc)
		return rc;
	w = command_find((uint32_t)number, &ex, &rc);
	if (!w)
		return rc;
	if (in->present)
		cmd->core.in = in->len > sizeof(in->data) ? in->data : uattr_data_addr(in);
	cmd->core.inlen = in->len;
	cmd->core.out = out->data;
	cmd->core.outlen = out->len;
	cmd->core_out = out->present ? &cmd->attr[UVERBS_ATTR_CORE_OUT] : NULL;
	if (cmd->core.inlen < w->req || cmd->core.outlen < w->resp)
		return -ENOSPC;
	return command_run(cmd, w, (uint32_t)number);
}
