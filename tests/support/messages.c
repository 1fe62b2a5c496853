/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Each message of RDMA_NLDEV (rdma/rdma_netlink.h), about objects that this program holds itself.
 *
 *     messages
 */
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cm.h"

static int sock;
static uint32_t device; /* its index */
static uint8_t reply[1 << 20];
static size_t reply_len;

/* ---- requests ---- */

struct request {
	struct nlmsghdr hdr;
	uint8_t attrs[256];
};

static void put(struct request *r, uint16_t type, const void *value, size_t len)
{
	struct nlattr a = {(uint16_t)(NLA_HDRLEN + len), type};
	uint8_t *at = (uint8_t *)r + r->hdr.nlmsg_len;

	memcpy(at, &a, sizeof(a));
	memcpy(at + NLA_HDRLEN, value, len);
	r->hdr.nlmsg_len += (uint32_t)NLA_ALIGN(NLA_HDRLEN + len);
}

static void put_u32(struct request *r, uint16_t type, uint32_t value)
{
	put(r, type, &value, sizeof(value));
}

static void put_text(struct request *r, uint16_t type, const char *text)
{
	put(r, type, text, strlen(text) + 1);
}

static struct request request(uint32_t command, uint16_t flags)
{
	return (struct request){
		.hdr = {.nlmsg_len = NLMSG_HDRLEN,
			.nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
			.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags)}};
}

static struct request of_device(uint32_t command, uint16_t flags)
{
	struct request r = request(command, flags);

	put_u32(&r, RDMA_NLDEV_ATTR_DEV_INDEX, device);
	return r;
}

static struct request of_port(uint32_t command)
{
	struct request r = of_device(command, 0);

	put_u32(&r, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	return r;
}

/* 0 or the errno; what else is answered is kept. */
static int answered(struct request r)
{
	MUST(send(sock, &r, r.hdr.nlmsg_len, 0) == (ssize_t)r.hdr.nlmsg_len);
	reply_len = 0;
	for (;;) {
		ssize_t n = recv(sock, reply + reply_len, sizeof(reply) - reply_len, 0);
		size_t left = (size_t)n;

		MUST(n > 0);
		for (struct nlmsghdr *m = (struct nlmsghdr *)(reply + reply_len); NLMSG_OK(m, left);
		     m = NLMSG_NEXT(m, left)) {
			int code = *(int *)NLMSG_DATA(m);

			if (m->nlmsg_type == NLMSG_ERROR || m->nlmsg_type == NLMSG_DONE)
				return -code;
		}
		reply_len += (size_t)n;
	}
}

/* The attribute of that type in the answers, nested or not; with that value, if there is one. */
static const uint8_t *found(uint16_t type, const void *value, size_t len)
{
	struct nlattr a = {(uint16_t)(NLA_HDRLEN + len), type};

	for (size_t i = 0; i + NLA_HDRLEN + len <= reply_len; i += NLA_ALIGNTO)
		if (!memcmp(reply + i, &a, sizeof(a)) &&
		    (!value || !memcmp(reply + i + NLA_HDRLEN, value, len)))
			return reply + i + NLA_HDRLEN;
	return NULL;
}

static bool says(uint16_t type, const char *text)
{
	return found(type, text, strlen(text) + 1);
}

/* ---- what there is ---- */

static bool device_is_named(const char *name)
{
	MUST(!answered(request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP)));
	return says(RDMA_NLDEV_ATTR_DEV_NAME, name);
}

static void ask_device(void)
{
	struct request chardev;
	uint8_t state = IBV_PORT_ACTIVE;

	WORKS(RDMA_NLDEV_CMD_GET, device_is_named("rxe0"));
	memcpy(&device, found(RDMA_NLDEV_ATTR_DEV_INDEX, NULL, 4), 4);
	WORKS(RDMA_NLDEV_CMD_PORT_GET, !answered(of_port(RDMA_NLDEV_CMD_PORT_GET)) &&
					       found(RDMA_NLDEV_ATTR_PORT_STATE, &state, 1) &&
					       says(RDMA_NLDEV_ATTR_NDEV_NAME, "lo"));
	chardev = of_device(RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	put_text(&chardev, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
	WORKS(RDMA_NLDEV_CMD_GET_CHARDEV,
	      !answered(chardev) && says(RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs0"));
	WORKS(RDMA_NLDEV_CMD_SYS_GET, !answered(request(RDMA_NLDEV_CMD_SYS_GET, 0)) &&
					      found(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, NULL, 1));
}

/* Each kind of object has one of this process. */
static void ask_resources(void)
{
	static const struct {
		uint32_t command;
		const char *name;
	} kinds[] = {{RDMA_NLDEV_CMD_RES_QP_GET, "RDMA_NLDEV_CMD_RES_QP_GET"},
		     {RDMA_NLDEV_CMD_RES_CM_ID_GET, "RDMA_NLDEV_CMD_RES_CM_ID_GET"},
		     {RDMA_NLDEV_CMD_RES_CQ_GET, "RDMA_NLDEV_CMD_RES_CQ_GET"},
		     {RDMA_NLDEV_CMD_RES_MR_GET, "RDMA_NLDEV_CMD_RES_MR_GET"},
		     {RDMA_NLDEV_CMD_RES_PD_GET, "RDMA_NLDEV_CMD_RES_PD_GET"},
		     {RDMA_NLDEV_CMD_RES_CTX_GET, "RDMA_NLDEV_CMD_RES_CTX_GET"},
		     {RDMA_NLDEV_CMD_RES_SRQ_GET, "RDMA_NLDEV_CMD_RES_SRQ_GET"}};
	uint32_t pid = (uint32_t)getpid();

	WORKS(RDMA_NLDEV_CMD_RES_GET, !answered(of_device(RDMA_NLDEV_CMD_RES_GET, 0)) &&
					      says(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, "qp"));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		MUST(!answered(of_device(kinds[i].command, NLM_F_DUMP)));
		if (!found(RDMA_NLDEV_ATTR_RES_PID, &pid, sizeof(pid)))
			rig_fail("%s shows nothing of this process", kinds[i].name);
		ask_works(kinds[i].name);
	}
}

static void ask_statistics(void)
{
	struct request bound = of_port(RDMA_NLDEV_CMD_STAT_SET);
	struct request unbound = of_port(RDMA_NLDEV_CMD_STAT_DEL);

	WORKS(RDMA_NLDEV_CMD_STAT_GET,
	      !answered(of_port(RDMA_NLDEV_CMD_STAT_GET)) &&
		      says(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, "sent_pkts"));
	WORKS(RDMA_NLDEV_CMD_STAT_GET_STATUS,
	      !answered(of_port(RDMA_NLDEV_CMD_STAT_GET_STATUS)) &&
		      says(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, "sent_pkts"));
	put_u32(&bound, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	put_u32(&bound, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_MANUAL);
	put_u32(&unbound, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	REFUSED(RDMA_NLDEV_CMD_STAT_SET, answered(bound));
	REFUSED(RDMA_NLDEV_CMD_STAT_DEL, answered(unbound));
}

static int mode_set(uint8_t mode)
{
	struct request r = request(RDMA_NLDEV_CMD_SYS_SET, 0);

	put(&r, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, &mode, 1);
	return answered(r);
}

static void ask_what_there_is_not(void)
{
	/* Network namespaces share the device, or have one each: that is as it is. */
	WORKS(RDMA_NLDEV_CMD_SYS_SET, !mode_set(1) && mode_set(0) == EBUSY);
	REFUSED(RDMA_NLDEV_CMD_RES_QP_GET_RAW,
		answered(of_device(RDMA_NLDEV_CMD_RES_QP_GET_RAW, NLM_F_DUMP)));
	REFUSED(RDMA_NLDEV_CMD_RES_CQ_GET_RAW,
		answered(of_device(RDMA_NLDEV_CMD_RES_CQ_GET_RAW, NLM_F_DUMP)));
	REFUSED(RDMA_NLDEV_CMD_RES_MR_GET_RAW,
		answered(of_device(RDMA_NLDEV_CMD_RES_MR_GET_RAW, NLM_F_DUMP)));
}

/* ---- changes ---- */

static void ask_links(void)
{
	struct request name = of_device(RDMA_NLDEV_CMD_SET, 0);
	struct request add = request(RDMA_NLDEV_CMD_NEWLINK, 0);

	put_text(&name, RDMA_NLDEV_ATTR_DEV_NAME, "rxe5");
	WORKS(RDMA_NLDEV_CMD_SET,
	      !answered(name) && device_is_named("rxe5") && !device_is_named("rxe0"));
	WORKS(RDMA_NLDEV_CMD_DELLINK,
	      !answered(of_device(RDMA_NLDEV_CMD_DELLINK, 0)) && !device_is_named("rxe5"));
	put_text(&add, RDMA_NLDEV_ATTR_DEV_NAME, "rxe7");
	put_text(&add, RDMA_NLDEV_ATTR_LINK_TYPE, "rxe");
	put_text(&add, RDMA_NLDEV_ATTR_NDEV_NAME, "lo");
	WORKS(RDMA_NLDEV_CMD_NEWLINK, !answered(add) && device_is_named("rxe7"));
}

static void hold_id(int cm)
{
	struct rdma_ucm_bind_ip bind = {.id = cm_create(cm, RDMA_PS_TCP)};
	struct sockaddr_in in = cm_address("127.0.0.1", 0);

	memcpy(&bind.addr, &in, sizeof(in));
	MUST(!CM_COMMAND(cm, BIND_IP, bind));
}

int main(void)
{
	static uint8_t page[4096];
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct rig rig;
	int cm = cm_open();

	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	MUST(sock >= 0);
	rig_open(&rig);
	qp = rig_qp(&rig, IBV_QPT_RC);
	mr = rig_mr(&rig, page, sizeof(page));
	MUST((srq = ibv_create_srq(rig.pd, &init)));
	hold_id(cm);
	ask_device();
	ask_resources();
	ask_statistics();
	ask_what_there_is_not();
	MUST(!ibv_destroy_srq(srq) && !ibv_dereg_mr(mr) && !ibv_destroy_qp(qp));
	rig_close(&rig);
	MUST(!close(cm));
	ask_links();
	MUST(!close(sock));
	return 0;
}
