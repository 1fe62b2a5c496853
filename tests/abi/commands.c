/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Commands by number, by write() and by INVOKE_WRITE: what rxe does not have is refused by both in
 * the kernel's words, and headers and lengths are judged by its rules.
 *
 *     commands
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "raw.h"

#define EX IB_USER_VERBS_CMD_FLAG_EXTENDED

static int fd;

static const uint32_t missing[] = {
	IB_USER_VERBS_CMD_OPEN_XRCD,
	IB_USER_VERBS_CMD_CLOSE_XRCD,
	IB_USER_VERBS_CMD_OPEN_QP,
	IB_USER_VERBS_CMD_REG_SMR,
	IB_USER_VERBS_CMD_QUERY_MR,
	IB_USER_VERBS_CMD_BIND_MW,
	IB_USER_VERBS_CMD_MODIFY_AH,
	IB_USER_VERBS_CMD_QUERY_AH,
	IB_USER_VERBS_CMD_PEEK_CQ,
	EX | IB_USER_VERBS_EX_CMD_CREATE_FLOW,
	EX | IB_USER_VERBS_EX_CMD_DESTROY_FLOW,
	EX | IB_USER_VERBS_EX_CMD_CREATE_WQ,
	EX | IB_USER_VERBS_EX_CMD_MODIFY_WQ,
	EX | IB_USER_VERBS_EX_CMD_DESTROY_WQ,
	EX | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL,
	EX | IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL,
	EX | IB_USER_VERBS_EX_CMD_MODIFY_CQ,
	100, /* of none */
	EX | 100,
};

static void what_rxe_has_not_is_not_supported(void)
{
	uint64_t req[8] = {0}, resp[8];

	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		IS(EOPNOTSUPP, raw_invoke(fd, missing[i], req, sizeof(req), resp, sizeof(resp)));
		if (!(missing[i] & EX))
			IS(EOPNOTSUPP,
			   raw_write(fd, missing[i], req, sizeof(req), resp, sizeof(resp)));
	}
	IS(EINVAL, raw_write(fd, 1u << 30, req, sizeof(req), resp, sizeof(resp)));
	IS(EINVAL, raw_invoke(fd, 1u << 30, req, sizeof(req), resp, sizeof(resp)));
}

/* Asked for what it cannot make, in commands that there are. */
static void what_rxe_cannot_make_is_refused(void)
{
	struct ib_uverbs_create_cq cq = {.cqe = 7, .comp_channel = -1};
	struct ib_uverbs_create_qp qp = {
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1};
	struct ib_uverbs_create_xsrq srq = {.max_wr = 1, .max_sge = 1};
	struct {
		struct ib_uverbs_create_cq_resp core;
		uint64_t uhw[2];
	} cq_resp;
	struct {
		struct ib_uverbs_create_qp_resp core;
		uint64_t uhw[4];
	} qp_resp;
	uint64_t srq_resp[5]; /* the core's two words and the provider's */

	IS(0,
	   raw_write(fd, IB_USER_VERBS_CMD_CREATE_CQ, &cq, sizeof(cq), &cq_resp, sizeof(cq_resp)));
	qp.pd_handle = srq.pd_handle = raw_pd(fd);
	qp.send_cq_handle = qp.recv_cq_handle = cq_resp.core.cq_handle;
	for (uint8_t type = 0; type < 20; type++) {
		bool there = type == IB_UVERBS_QPT_RC || type == IB_UVERBS_QPT_UC ||
			     type == IB_UVERBS_QPT_UD;
		int rc;

		qp.qp_type = type;
		rc = raw_write(fd, IB_USER_VERBS_CMD_CREATE_QP, &qp, sizeof(qp), &qp_resp,
			       sizeof(qp_resp));
		if (there != !rc || (type == IB_UVERBS_QPT_RAW_PACKET && rc != EOPNOTSUPP))
			rig_fail("a QP of type %u: %d", type, rc);
	}
	srq.srq_type = IB_UVERBS_SRQT_TM;
	IS(EOPNOTSUPP, raw_write(fd, IB_USER_VERBS_CMD_CREATE_XSRQ, &srq, sizeof(srq), srq_resp,
				 sizeof(srq_resp)));
	srq.srq_type = IB_UVERBS_SRQT_XRC;
	MUST(raw_write(fd, IB_USER_VERBS_CMD_CREATE_XSRQ, &srq, sizeof(srq), srq_resp,
		       sizeof(srq_resp)));
}

static void headers_are_judged_as_the_kernel_does(void)
{
	struct ib_uverbs_query_port req = {.port_num = 1};
	struct ib_uverbs_query_port_resp resp[2];
	uint64_t raw[8] = {0};
	struct ib_uverbs_cmd_hdr hdr = {IB_USER_VERBS_CMD_QUERY_PORT, 4, 0};

	memcpy(raw, &hdr, sizeof(hdr));
	MUST(write(fd, raw, 4) < 0 && errno == EINVAL);
	MUST(write(fd, raw, 24) < 0 && errno == EINVAL); /* not as many words */
	MUST(write(fd, raw, 16) < 0 && errno == ENOSPC); /* less than the command has */
	IS(ENOSPC, raw_write(fd, hdr.command, &req, sizeof(req), resp, sizeof(resp[0]) - 4));
	IS(0, raw_write(fd, hdr.command, &req, sizeof(req), resp, sizeof(resp[0])));
	MUST(resp[0].gid_tbl_len == 1024);
	IS(EFAULT, raw_write(fd, hdr.command, &req, sizeof(req), (void *)8, sizeof(resp[0])));
	IS(ENOSPC, raw_invoke(fd, hdr.command, &req, sizeof(req) - 8, resp, sizeof(resp[0])));
}

/* What is longer than we know is accepted as long as it is zero, and answered with zeros. */
static void longer_forms_are_taken_if_they_say_nothing(void)
{
	struct {
		uint64_t response, port, more;
	} in = {.port = 1}; /* the first byte of a word */
	struct {
		struct ib_uverbs_query_port_resp resp;
		uint64_t more;
	} out;

	memset(&out, 0xff, sizeof(out));
	IS(0, raw_invoke(fd, IB_USER_VERBS_CMD_QUERY_PORT, &in, sizeof(in), &out, sizeof(out)));
	MUST(out.resp.gid_tbl_len == 1024 && out.more == 0);
	memset(&out, 0xff, sizeof(out));
	IS(0, raw_write(fd, IB_USER_VERBS_CMD_QUERY_PORT, &in, sizeof(in), &out, sizeof(out)));
	MUST(out.resp.gid_tbl_len == 1024 && out.more == 0);
	in.more = 1;
	IS(EOPNOTSUPP,
	   raw_invoke(fd, IB_USER_VERBS_CMD_QUERY_PORT, &in, sizeof(in), &out, sizeof(out)));
	IS(EOPNOTSUPP,
	   raw_write(fd, IB_USER_VERBS_CMD_QUERY_PORT, &in, sizeof(in), &out, sizeof(out)));
}

/* The extended QUERY_DEVICE: every length from the first form on is answered, and says how much. */
static void device_is_told_in_any_length(void)
{
	struct ib_uverbs_ex_query_device req = {0};
	struct ib_uverbs_ex_query_device_resp resp;
	uint32_t command = EX | IB_USER_VERBS_EX_CMD_QUERY_DEVICE;
	size_t least = offsetof(struct ib_uverbs_ex_query_device_resp, response_length) + 4;

	for (size_t len = least; len <= sizeof(resp); len += 4) {
		memset(&resp, 0, sizeof(resp));
		IS(0, raw_invoke(fd, command, &req, sizeof(req), &resp, len));
		MUST(resp.response_length == len);
	}
	MUST(resp.odp_caps.general_caps == 3 && !resp.xrc_odp_caps && !resp.max_dm_size);
	IS(ENOSPC, raw_invoke(fd, command, &req, sizeof(req), &resp, least - 4));
	req.comp_mask = 1;
	IS(EINVAL, raw_invoke(fd, command, &req, sizeof(req), &resp, sizeof(resp)));
}

int main(void)
{
	fd = raw_open();
	what_rxe_has_not_is_not_supported();
	what_rxe_cannot_make_is_refused();
	headers_are_judged_as_the_kernel_does();
	longer_forms_are_taken_if_they_say_nothing();
	device_is_told_in_any_length();
	return 0;
}
