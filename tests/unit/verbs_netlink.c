/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * NETLINK_RDMA, by messages made by hand: numbers and types are those of linux/netlink.h and
 * rdma/rdma_netlink.h, the attributes of each answer those of Linux's
 * drivers/infiniband/core/nldev.c.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "nldev_rig.h"
#include "verbs_rig.h"

static void setup(void)
{
	rig_start_context();
	nl_start();
}

static void teardown(void)
{
	nl_stop();
	rig_stop();
}

/* Packet i is a message of that type and those flags, and these bytes behind its header. */
static void expect(uint32_t i, uint16_t type, uint16_t flags, const uint8_t *body, size_t len)
{
	const uint8_t head[] = {HEAD(16 + len, type, flags), B32(NL_PORT)};

	ck_assert_uint_lt(i, nl.n);
	ck_assert_uint_eq(nl.packet[i].len, 16 + len);
	ck_assert_mem_eq(nl.packet[i].data, head, sizeof(head));
	ck_assert_mem_eq(nl.packet[i].data + 16, body, len);
}

static void expect_done(uint32_t i, int error)
{
	const uint8_t body[] = {B32((uint32_t)error)};

	expect(i, NLMSG_DONE, NLM_F_MULTI, body, sizeof(body));
}

/* An error with the whole request, or an acknowledgement with its header alone. */
static void expect_error(uint32_t i, int error, const uint8_t *asked, size_t len)
{
	uint8_t body[512] = {B32((uint32_t)-error)};

	memcpy(body + 4, asked, error ? len : 16);
	expect(i, NLMSG_ERROR, error ? 0 : NLM_F_CAPPED, body, 4 + (error ? len : 16));
}

static void refused(int error, const uint8_t *asked, size_t len)
{
	nl_send(asked, len);
	ck_assert_uint_eq(nl.n, 1);
	expect_error(0, error, asked, len);
}

/* ---- devices ---- */

#define DEVICE_ATTRS                                                                               \
	DEVICE, U32(ATTR_PORT_INDEX, 1), U64(ATTR_CAP_FLAGS, 0x01223c76u),                         \
		U64(ATTR_NODE_GUID, 0x020000fffe000001u),                                          \
		U64(ATTR_SYS_IMAGE_GUID, 0x020000fffe000001u), U8(ATTR_DEV_NODE_TYPE, 1),          \
		U8(ATTR_DEV_DIM, 0), A(ATTR_DEV_PROTOCOL, 5), 'r', 'o', 'c', 'e', 0, 0, 0, 0

START_TEST(device_is_shown_by_its_index)
{
	nl_send(BYTES(ASK(24, GET, 0), U32(ATTR_DEV_INDEX, 5)));
	ck_assert_uint_eq(nl.n, 1);
	expect(0, CMD(GET), 0, BYTES(DEVICE_ATTRS));
}
END_TEST

START_TEST(dump_of_devices_ends_with_done)
{
	nl_send(BYTES(ASK(16, GET, NLM_F_DUMP)));
	ck_assert_uint_eq(nl.n, 2);
	expect(0, CMD(GET), NLM_F_MULTI, BYTES(DEVICE_ATTRS));
	expect_done(1, 0);
}
END_TEST

#define PORT_ATTRS(state, phys)                                                                    \
	DEVICE, U32(ATTR_PORT_INDEX, 1), U8(ATTR_PORT_STATE, state),                               \
		U8(ATTR_PORT_PHYS_STATE, phys), U32(ATTR_NDEV_INDEX, 7), A(ATTR_NDEV_NAME, 5),     \
		'e', 't', 'h', '0', 0, 0, 0, 0

START_TEST(port_is_shown_with_its_state_and_interface)
{
	rnic_port_set(rig.dev.rnic, true, RNIC_MTU_1024);
	nl_send(BYTES(ASK(32, PORT_GET, 0), U32(ATTR_DEV_INDEX, 5), U32(ATTR_PORT_INDEX, 1)));
	ck_assert_uint_eq(nl.n, 1);
	expect(0, CMD(PORT_GET), 0, BYTES(PORT_ATTRS(4, 5)));
	rnic_port_set(rig.dev.rnic, false, RNIC_MTU_1024);
	nl_send(BYTES(ASK(24, PORT_GET, NLM_F_DUMP), U32(ATTR_DEV_INDEX, 5)));
	ck_assert_uint_eq(nl.n, 2);
	expect(0, CMD(PORT_GET), NLM_F_MULTI, BYTES(PORT_ATTRS(1, 3)));
	expect_done(1, 0);
}
END_TEST

START_TEST(character_devices_are_named)
{
	const uint8_t cm[] = {ASK(28, GET_CHARDEV, 0),
			      A(ATTR_CHARDEV_TYPE, 8),
			      'r',
			      'd',
			      'm',
			      'a',
			      '_',
			      'c',
			      'm',
			      0};

	nl_send(BYTES(ASK(36, GET_CHARDEV, 0), U32(ATTR_DEV_INDEX, 5), A(ATTR_CHARDEV_TYPE, 7), 'u',
		      'v', 'e', 'r', 'b', 's', 0, 0));
	ck_assert_uint_eq(nl.n, 1);
	/* 231:197 */
	expect(0, CMD(GET_CHARDEV), 0,
	       BYTES(U32(ATTR_UVERBS_DRIVER_ID, 14), U64(ATTR_CHARDEV, 0xe7c5u),
		     U64(ATTR_CHARDEV_ABI, 2u), A(ATTR_CHARDEV_NAME, 8), 'u', 'v', 'e', 'r', 'b',
		     's', '5', 0));
	nl_send(BYTES(ASK(44, GET_CHARDEV, 0), U32(ATTR_DEV_INDEX, 5), U32(ATTR_PORT_INDEX, 1),
		      A(ATTR_CHARDEV_TYPE, 5), 'u', 'm', 'a', 'd', 0, 0, 0, 0));
	expect(0, CMD(GET_CHARDEV), 0,
	       BYTES(U64(ATTR_CHARDEV, 0xe705u), U64(ATTR_CHARDEV_ABI, 5u), A(ATTR_CHARDEV_NAME, 6),
		     'u', 'm', 'a', 'd', '5', 0, 0, 0));
	nl_send(cm, sizeof(cm));
	expect(0, CMD(GET_CHARDEV), 0,
	       BYTES(U64(ATTR_CHARDEV, 0x0a3au), U64(ATTR_CHARDEV_ABI, 4u), A(ATTR_CHARDEV_NAME, 8),
		     'r', 'd', 'm', 'a', '_', 'c', 'm', 0));
}
END_TEST

START_TEST(fork_copies_memory_of_regions)
{
	nl_send(BYTES(ASK(16, SYS_GET, 0)));
	expect(0, CMD(SYS_GET), 0, BYTES(U8(SYS_ATTR_NETNS_MODE, 1), U8(SYS_ATTR_COPY_ON_FORK, 1)));
}
END_TEST

/* ---- links ---- */

START_TEST(link_is_added_and_deleted)
{
	const uint8_t add[] = {ASK(44, NEWLINK, NLM_F_ACK),
			       A(ATTR_DEV_NAME, 4),
			       'f',
			       'o',
			       'o',
			       0,
			       A(ATTR_LINK_TYPE, 4),
			       'r',
			       'x',
			       'e',
			       0,
			       A(ATTR_NDEV_NAME, 5),
			       'e',
			       't',
			       'h',
			       '1',
			       0,
			       0,
			       0,
			       0};
	const uint8_t del[] = {ASK(24, DELLINK, NLM_F_ACK), U32(ATTR_DEV_INDEX, 5)};

	nl_send(add, sizeof(add));
	ck_assert_uint_eq(nl.n, 1);
	expect_error(0, 0, add, sizeof(add));
	ck_assert_str_eq(nl.name, "foo");
	ck_assert_str_eq(nl.netdev, "eth1");
	nl_send(del, sizeof(del));
	expect_error(0, 0, del, sizeof(del));
	ck_assert_ptr_eq(nl.deleted, &rig.dev);
	nl.answer = -EEXIST;
	refused(EEXIST, add, sizeof(add));
	/* siw is another kernel module's */
	refused(EINVAL, BYTES(ASK(44, NEWLINK, NLM_F_ACK), A(ATTR_DEV_NAME, 4), 'f', 'o', 'o', 0,
			      A(ATTR_LINK_TYPE, 4), 's', 'i', 'w', 0, A(ATTR_NDEV_NAME, 5), 'e',
			      't', 'h', '1', 0, 0, 0, 0));
}
END_TEST

START_TEST(device_is_renamed)
{
	nl_send(BYTES(ASK(32, SET, NLM_F_ACK), U32(ATTR_DEV_INDEX, 5), A(ATTR_DEV_NAME, 4), 'f',
		      'o', 'o', 0));
	ck_assert_str_eq(nl.name, "foo");
}
END_TEST

START_TEST(only_the_administrator_changes_anything)
{
	nl.peer.admin = false;
	refused(EPERM, BYTES(ASK(24, DELLINK, 0), U32(ATTR_DEV_INDEX, 5)));
	refused(EPERM, BYTES(ASK(16, NEWLINK, 0)));
	refused(EPERM, BYTES(ASK(16, SET, 0)));
	refused(EPERM, BYTES(ASK(16, SYS_SET, 0)));
	refused(EPERM, BYTES(ASK(16, STAT_SET, 0)));
	ck_assert_ptr_null(nl.deleted);
}
END_TEST

/* ---- what is malformed, and what is not served ---- */

START_TEST(malformed_requests_get_the_kernels_errno)
{
	/* no index; another device; its bytes are short */
	refused(EINVAL, BYTES(ASK(16, GET, 0)));
	refused(EINVAL, BYTES(ASK(24, GET, 0), U32(ATTR_DEV_INDEX, 6)));
	refused(EINVAL, BYTES(ASK(24, GET, 0), A(ATTR_DEV_INDEX, 2), 5, 0, 0, 0));
	/* an attribute that is longer than the message is none */
	refused(EINVAL, BYTES(ASK(24, GET, 0), A(ATTR_DEV_INDEX, 200), 5, 0, 0, 0));
	/* a length below its own header */
	refused(EINVAL, BYTES(ASK(24, GET, 0), B16(3), B16(RDMA_NLDEV_ATTR_DEV_INDEX), 5, 0, 0, 0));
	/* text without its end */
	refused(EINVAL, BYTES(ASK(32, SET, 0), U32(ATTR_DEV_INDEX, 5), A(ATTR_DEV_NAME, 4), 'f',
			      'o', 'o', 'o'));
	/* a port that is not there */
	refused(EINVAL,
		BYTES(ASK(32, PORT_GET, 0), U32(ATTR_DEV_INDEX, 5), U32(ATTR_PORT_INDEX, 2)));
	refused(EINVAL, BYTES(ASK(24, PORT_GET, 0), U32(ATTR_DEV_INDEX, 5)));
	/* no such number, no such client, no such character device */
	refused(EINVAL, BYTES(ASK(16, UNSPEC, 0)));
	refused(EINVAL, BYTES(HEAD(16, RDMA_NL_NLDEV << 10 | 1000, NLM_F_REQUEST), B32(0)));
	refused(EINVAL, BYTES(HEAD(16, RDMA_NL_LS << 10, NLM_F_REQUEST), B32(0)));
	refused(EINVAL, BYTES(HEAD(16, 60 << 10 | 1, NLM_F_REQUEST), B32(0)));
	refused(EINVAL, BYTES(ASK(16, GET_CHARDEV, NLM_F_DUMP)));
	refused(EOPNOTSUPP, BYTES(ASK(32, GET_CHARDEV, 0), U32(ATTR_DEV_INDEX, 5),
				  A(ATTR_CHARDEV_TYPE, 4), 'n', 'i', 'x', 0));
	refused(EINVAL, BYTES(ASK(36, GET_CHARDEV, 0), U32(ATTR_DEV_INDEX, 5),
			      A(ATTR_CHARDEV_TYPE, 5), 'u', 'm', 'a', 'd', 0, 0, 0, 0));
	refused(EBUSY, BYTES(ASK(24, SYS_SET, 0), U8(SYS_ATTR_NETNS_MODE, 0)));
	refused(EOPNOTSUPP,
		BYTES(ASK(32, STAT_SET, 0), U32(ATTR_DEV_INDEX, 5), U32(ATTR_PORT_INDEX, 1)));
}
END_TEST

/* The kernel has nobody to answer then. */
START_TEST(messages_that_are_cut_are_not_answered)
{
	nl_send(BYTES(ASK(40, GET, NLM_F_ACK), U32(ATTR_DEV_INDEX, 5)));
	ck_assert_uint_eq(nl.n, 0);
	nl_send(BYTES(ASK(15, GET, NLM_F_ACK)));
	ck_assert_uint_eq(nl.n, 0);
	nl_send(BYTES(B32(16), B16(CMD(GET))));
	ck_assert_uint_eq(nl.n, 0);
}
END_TEST

START_TEST(unknown_attributes_are_ignored)
{
	nl_send(BYTES(ASK(32, GET, 0), B16(8), B16(0x3fff), 1, 2, 3, 4, U32(ATTR_DEV_INDEX, 5)));
	expect(0, CMD(GET), 0, BYTES(DEVICE_ATTRS));
}
END_TEST

/* What is no request, and control messages, are acknowledged if they ask for it. */
START_TEST(answers_of_a_client_are_no_requests)
{
	const uint8_t noop[] = {HEAD(16, NLMSG_NOOP, NLM_F_REQUEST | NLM_F_ACK), B32(0)};

	nl_send(BYTES(HEAD(16, CMD(GET), 0), B32(0)));
	ck_assert_uint_eq(nl.n, 0);
	nl_send(noop, sizeof(noop));
	ck_assert_uint_eq(nl.n, 1);
	expect_error(0, 0, noop, sizeof(noop));
}
END_TEST

START_TEST(each_message_of_a_packet_is_answered)
{
	nl_send(BYTES(ASK(16, GET, 0), ASK(24, GET, NLM_F_ACK), U32(ATTR_DEV_INDEX, 5),
		      ASK(16, SYS_GET, 0)));
	ck_assert_uint_eq(nl.n, 4);
	expect_error(0, EINVAL, BYTES(ASK(16, GET, 0)));
	expect(1, CMD(GET), 0, BYTES(DEVICE_ATTRS));
	expect_error(2, 0, BYTES(ASK(24, GET, NLM_F_ACK)));
	expect(3, CMD(SYS_GET), 0, BYTES(U8(SYS_ATTR_NETNS_MODE, 1), U8(SYS_ATTR_COPY_ON_FORK, 1)));
}
END_TEST

START_TEST(second_dump_waits_for_the_first)
{
	nl_send(BYTES(ASK(16, GET, NLM_F_DUMP), ASK(16, GET, NLM_F_DUMP)));
	ck_assert_uint_eq(nl.n, 3);
	expect_done(1, 0);
	expect_error(2, EBUSY, BYTES(ASK(16, GET, NLM_F_DUMP)));
}
END_TEST

/* ---- resources ---- */

/* The attribute of a type among `len` bytes, and its length; NULL if there is none. */
static const uint8_t *attr(const uint8_t *p, size_t len, uint16_t type, uint16_t *size)
{
	while (len >= 4) {
		uint16_t n, t;

		memcpy(&n, p, 2);
		memcpy(&t, p + 2, 2);
		ck_assert_uint_ge(n, 4);
		ck_assert_uint_le(n, len);
		if (t == type) {
			*size = (uint16_t)(n - 4);
			return p + 4;
		}
		n = (uint16_t)((n + 3) & ~3);
		p += n;
		len -= n < len ? n : len;
	}
	return NULL;
}

static uint32_t value(const uint8_t *p, size_t len, uint16_t type)
{
	uint16_t size = 0;
	const uint8_t *a = attr(p, len, type, &size);
	uint32_t v;

	ck_assert_ptr_nonnull(a);
	if (size == 1)
		return *a;
	memcpy(&v, a, sizeof(v));
	return v;
}

/* Calls fn for each entry of a dump of one kind of objects; how many there are. */
static uint32_t entries(uint16_t command, uint16_t table_type,
			void (*fn)(const uint8_t *entry, size_t len))
{
	const uint8_t ask[] = {HEAD(24, RDMA_NL_NLDEV << 10 | command, NLM_F_REQUEST | NLM_F_DUMP),
			       B32(0), U32(ATTR_DEV_INDEX, 5)};
	uint32_t n = 0;

	nl_send(ask, sizeof(ask));
	ck_assert_uint_le(nl.n, NL_PACKETS_MAX);
	expect_done(nl.n - 1, 0);
	for (uint32_t i = 0; i + 1 < nl.n; i++) {
		uint16_t len, size;
		const uint8_t *p =
			attr(nl.packet[i].data + 16, nl.packet[i].len - 16, table_type, &len);

		ck_assert_uint_le(nl.packet[i].len, 4096);
		ck_assert_uint_eq(value(nl.packet[i].data + 16, nl.packet[i].len - 16,
					RDMA_NLDEV_ATTR_DEV_INDEX),
				  5);
		ck_assert_ptr_nonnull(p);
		for (; len >= 4; n++) {
			memcpy(&size, p, 2);
			ck_assert(size >= 4 && size <= len);
			fn(p + 4, size - 4u);
			p += size;
			len = (uint16_t)(len - size);
		}
	}
	return n;
}

static uint32_t seen;

static void mr_seen(const uint8_t *e, size_t len)
{
	uint16_t size;

	seen += value(e, len, RDMA_NLDEV_ATTR_RES_MRN);
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_MRLEN), 64);
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_PID), 1234);
	ck_assert_ptr_nonnull(attr(e, len, RDMA_NLDEV_ATTR_RES_PDN, &size));
	ck_assert_int_eq(attr(e, len, RDMA_NLDEV_ATTR_RES_RKEY, &size) != NULL, nl.peer.admin);
	ck_assert_int_eq(attr(e, len, RDMA_NLDEV_ATTR_RES_LKEY, &size) != NULL, nl.peer.admin);
}

/* More than fit into one packet: each comes once. */
START_TEST(long_dump_comes_in_parts)
{
	struct ib_uverbs_reg_mr_resp resp;
	uint32_t pd = make_pd(), n, first;

	for (int i = 0; i < 200; i++)
		ck_assert_int_ge(make_mr(pd, user_alloc(64), 64, RNIC_ACCESS_LOCAL_WRITE, &resp),
				 0);
	seen = 0;
	n = entries(RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, mr_seen);
	ck_assert_uint_eq(n, 200);
	ck_assert_uint_gt(nl.n, 3);
	/* neighbouring numbers, behind the PD's */
	first = uobject_get(&rig.context, UOBJ_PD, pd)->id + 1;
	ck_assert_uint_eq(seen, 200 * first + 199 * 100);
	/* keys are for the administrator's eyes */
	nl.peer.admin = false;
	entries(RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, mr_seen);
}
END_TEST

static uint32_t qpn;

static void qp_seen(const uint8_t *e, size_t len)
{
	qpn = value(e, len, RDMA_NLDEV_ATTR_RES_LQPN);
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_TYPE), 2); /* RC */
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_STATE), 0);
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_RQPN), 0);
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE), 0);
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_PID), 1234);
}

static void cq_seen(const uint8_t *e, size_t len)
{
	ck_assert_uint_ge(value(e, len, RDMA_NLDEV_ATTR_RES_CQE), 16);
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_USECNT), 2);
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_CTXN), 33);
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_PID), 1234);
}

static void pd_seen(const uint8_t *e, size_t len)
{
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_USECNT), 1);
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_CTXN), 33);
}

static void context_seen(const uint8_t *e, size_t len)
{
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_CTXN), 33);
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_PID), 1234);
}

static void srq_seen(const uint8_t *e, size_t len)
{
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_TYPE), 0);
}

START_TEST(objects_are_shown_with_their_owners)
{
	struct ib_uverbs_create_qp req;
	struct ib_uverbs_create_qp_resp resp;
	struct ib_uverbs_create_srq_resp srq;
	struct rxe_create_qp_resp uhw;
	struct rxe_create_srq_resp srq_uhw;
	uint32_t pd = make_pd(), cq = make_cq(16, -1, NULL);

	qp_request(pd, cq, &req);
	ck_assert_int_ge(make_qp(&req, &resp, &uhw), 0);
	ck_assert_uint_eq(entries(RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, qp_seen), 1);
	ck_assert_uint_eq(qpn, resp.qpn);
	ck_assert_uint_eq(entries(RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, cq_seen), 1);
	ck_assert_uint_eq(entries(RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PD, pd_seen), 1);
	ck_assert_uint_eq(
		entries(RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTX, context_seen), 1);
	ck_assert_uint_eq(entries(RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, srq_seen),
			  0);
	ck_assert_int_ge(make_srq(pd, 4, 1, 0, &srq, &srq_uhw), 0);
	ck_assert_uint_eq(entries(RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, srq_seen),
			  1);
}
END_TEST

START_TEST(one_object_is_shown_by_its_number)
{
	struct ib_uverbs_create_qp req;
	struct ib_uverbs_create_qp_resp resp;
	struct rxe_create_qp_resp uhw;
	const uint8_t other[] = {ASK(32, RES_QP_GET, 0), U32(ATTR_DEV_INDEX, 5),
				 U32(ATTR_RES_LQPN, 0xfffff)};

	qp_request(make_pd(), make_cq(16, -1, NULL), &req);
	ck_assert_int_ge(make_qp(&req, &resp, &uhw), 0);
	nl_send(BYTES(ASK(32, RES_QP_GET, 0), U32(ATTR_DEV_INDEX, 5),
		      U32(ATTR_RES_LQPN, resp.qpn)));
	ck_assert_uint_eq(nl.n, 1);
	qp_seen(nl.packet[0].data + 16, nl.packet[0].len - 16);
	ck_assert_uint_eq(qpn, resp.qpn);
	refused(ENOENT, other, sizeof(other));
	refused(EINVAL, BYTES(ASK(24, RES_QP_GET, 0), U32(ATTR_DEV_INDEX, 5)));
}
END_TEST

static uint32_t ps_sum;

static void id_seen(const uint8_t *e, size_t len)
{
	uint16_t size;

	ps_sum += value(e, len, RDMA_NLDEV_ATTR_RES_PS);
	ck_assert_uint_eq(value(e, len, RDMA_NLDEV_ATTR_RES_PID), 77);
	ck_assert_ptr_nonnull(attr(e, len, RDMA_NLDEV_ATTR_RES_SRC_ADDR, &size));
	ck_assert_uint_eq(size, sizeof(struct sockaddr_storage));
	ck_assert_ptr_null(attr(e, len, RDMA_NLDEV_ATTR_RES_DST_ADDR, &size));
}

/* Those of another device are not, those that listen everywhere are. */
START_TEST(ids_of_rdma_cm_are_shown)
{
	struct kdevice other = {.index = 9};
	struct ucma_entry e = {.number = 3, .pid = 77, .state = 8, .src.ss_family = AF_INET};

	e.ps = 0x106;
	e.listens = true;
	nl.ids[0] = e;
	e.ps = 0x111;
	e.dev = &rig.dev;
	nl.ids[1] = e;
	e.dev = &other;
	nl.ids[2] = e;
	e.dev = NULL;
	e.listens = false;
	nl.ids[3] = e;
	nl.n_ids = 4;
	ps_sum = 0;
	ck_assert_uint_eq(entries(RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_ATTR_RES_CM_ID, id_seen),
			  2);
	ck_assert_uint_eq(ps_sum, 0x217);
}
END_TEST

#define SUMMARY(n, count, ...)                                                                     \
	A(ATTR_RES_SUMMARY_ENTRY, (n) <= 4 ? 20 : 24), A(ATTR_RES_SUMMARY_ENTRY_NAME, n),          \
		__VA_ARGS__, U64(ATTR_RES_SUMMARY_ENTRY_CURR, count)

START_TEST(summary_counts_objects)
{
	make_pd();
	nl_send(BYTES(ASK(24, RES_GET, 0), U32(ATTR_DEV_INDEX, 5)));
	ck_assert_uint_eq(nl.n, 1);
	expect(0, CMD(RES_GET), 0,
	       BYTES(DEVICE, A(ATTR_RES_SUMMARY, 6 * 24 + 28), SUMMARY(3, 1u, 'p', 'd', 0, 0),
		     SUMMARY(3, 0u, 'c', 'q', 0, 0), SUMMARY(3, 0u, 'q', 'p', 0, 0),
		     SUMMARY(6, 0u, 'c', 'm', '_', 'i', 'd', 0, 0, 0),
		     SUMMARY(3, 0u, 'm', 'r', 0, 0), SUMMARY(4, 1u, 'c', 't', 'x', 0),
		     SUMMARY(4, 0u, 's', 'r', 'q', 0)));
}
END_TEST

/* ---- statistic ---- */

START_TEST(counters_are_those_of_the_port)
{
	uint16_t len, size;
	const uint8_t *p;

	rnic_device_counters(rig.dev.rnic)->sent_pkts = 0x1122;
	nl_send(BYTES(ASK(32, STAT_GET, 0), U32(ATTR_DEV_INDEX, 5), U32(ATTR_PORT_INDEX, 1)));
	ck_assert_uint_eq(nl.n, 1);
	p = attr(nl.packet[0].data + 16, nl.packet[0].len - 16, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS,
		 &len);
	ck_assert_ptr_nonnull(p);
	p = attr(p, len, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, &size);
	ck_assert_mem_eq(p,
			 ((const uint8_t[]){A(ATTR_STAT_HWCOUNTER_ENTRY_NAME, 10), 's', 'e', 'n',
					    't', '_', 'p', 'k', 't', 's', 0, 0, 0,
					    U64(ATTR_STAT_HWCOUNTER_ENTRY_VALUE, 0x1122u)}),
			 size);
	refused(EINVAL, BYTES(ASK(24, STAT_GET, 0), U32(ATTR_DEV_INDEX, 5)));
	refused(EINVAL,
		BYTES(ASK(32, STAT_GET, 0), U32(ATTR_DEV_INDEX, 5), U32(ATTR_PORT_INDEX, 2)));
}
END_TEST

TCase *verbs_netlink_tcase(void)
{
	TCase *tc = tcase_create("netlink");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, device_is_shown_by_its_index);
	tcase_add_test(tc, dump_of_devices_ends_with_done);
	tcase_add_test(tc, port_is_shown_with_its_state_and_interface);
	tcase_add_test(tc, character_devices_are_named);
	tcase_add_test(tc, fork_copies_memory_of_regions);
	tcase_add_test(tc, link_is_added_and_deleted);
	tcase_add_test(tc, device_is_renamed);
	tcase_add_test(tc, only_the_administrator_changes_anything);
	tcase_add_test(tc, malformed_requests_get_the_kernels_errno);
	tcase_add_test(tc, messages_that_are_cut_are_not_answered);
	tcase_add_test(tc, unknown_attributes_are_ignored);
	tcase_add_test(tc, answers_of_a_client_are_no_requests);
	tcase_add_test(tc, each_message_of_a_packet_is_answered);
	tcase_add_test(tc, second_dump_waits_for_the_first);
	tcase_add_test(tc, long_dump_comes_in_parts);
	tcase_add_test(tc, objects_are_shown_with_their_owners);
	tcase_add_test(tc, one_object_is_shown_by_its_number);
	tcase_add_test(tc, ids_of_rdma_cm_are_shown);
	tcase_add_test(tc, summary_counts_objects);
	tcase_add_test(tc, counters_are_those_of_the_port);
	return tc;
}
