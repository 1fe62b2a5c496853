/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What rdma_cm owes to the kernel's rules beside its commands: who may have what, and how much. */
#include "config.h"

#include <endian.h>
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel_cm_rig.h"
#include "verbs/kernel/capability.h"
#include "verbs/kernel/ucma_priv.h"

#define LOW_PORT 1023

/* False: this process has it not to drop. */
static bool capability_drop(unsigned int capability)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	ck_assert_int_eq(syscall(SYS_capget, &head, data), 0);
	if (!(data[0].effective >> capability & 1))
		return false;
	data[0].effective &= ~(1u << capability);
	ck_assert_int_eq(syscall(SYS_capset, &head, data), 0);
	return true;
}

static bool has_now(unsigned int capability)
{
	struct capability_holder self;

	capability_holder_get(&self, getpid(), geteuid());
	return capability_has(&self, capability);
}

START_TEST(port_below_1024_is_for_who_has_the_capability)
{
	uint32_t id;

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), 0);
	if (has_now(CAP_NET_BIND_SERVICE)) {
		ck_assert_int_eq(cm_bind(0, id, CM_HERE, LOW_PORT), 0);
		ck_assert_int_eq(cm_destroy(0, id, NULL), 0);
		ck_assert(capability_drop(CAP_NET_BIND_SERVICE));
		ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), 0);
	}
	ck_assert_int_eq(cm_bind(0, id, CM_HERE, LOW_PORT), -EACCES);
	ck_assert_int_eq(cm_bind(0, id, CM_HERE, LOW_PORT + 1), 0);
}
END_TEST

START_TEST(capability_is_read_from_the_status)
{
	static const char status[] =
		"Name:\tCapEff:\nUid:\t7\t8\t9\t10\n"
		"CapPrm:\t0000000000000400\nCapEff:\t0000004000000400\nCapBnd:\tffffffffffffffff\n";

	ck_assert(capability_in_status(status, 8, 10));
	ck_assert(capability_in_status(status, 8, 38));
	ck_assert(!capability_in_status(status, 8, 9));
	ck_assert(!capability_in_status(status, 8, 64));
	for (uid_t other = 7; other < 12; other++) /* than the effective one */
		if (other != 8)
			ck_assert(!capability_in_status(status, other, 10));
	ck_assert(!capability_in_status("Name:\tx\n", 8, 10));
}
END_TEST

/* A process that shared its memory and its connection may become a program that may do more. */
START_TEST(capability_of_another_program_is_not_the_clients)
{
	struct capability_holder child;
	int in[2], out[2], status;
	char byte;
	pid_t pid;

	if (!has_now(CAP_NET_BIND_SERVICE))
		return;
	ck_assert_int_eq(pipe(in) | pipe(out), 0);
	pid = fork();
	if (!pid) {
		if (read(in[0], &byte, 1) == 1 && dup2(in[0], 0) == 0 && dup2(out[1], 1) == 1)
			execl("/bin/cat", "cat", NULL);
		_exit(1);
	}
	capability_holder_get(&child, pid, geteuid());
	ck_assert(capability_has(&child, CAP_NET_BIND_SERVICE));
	ck_assert_int_eq(write(in[1], "xy", 2), 2);
	ck_assert_int_eq(read(out[0], &byte, 1), 1); /* it is another program */
	ck_assert(!capability_has(&child, CAP_NET_BIND_SERVICE));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}
END_TEST

/* ---- AF_IB ---- */

struct ib_address { /* struct sockaddr_ib of librdmacm */
	uint16_t family, pkey;
	uint32_t flowinfo;
	uint8_t addr[16];
	uint64_t sid, sid_mask, scope_id;
};

static int64_t bind_ib(uint32_t id, const uint8_t addr[16], uint64_t sid, uint64_t mask)
{
	struct ib_address ib = {.family = AF_IB, .sid = htobe64(sid), .sid_mask = htobe64(mask)};
	struct rdma_ucm_bind req = {.id = id, .addr_size = sizeof(ib)};

	memcpy(ib.addr, addr, 16);
	memcpy(&req.addr, &ib, sizeof(ib));
	return cm_write(0, RDMA_USER_CM_CMD_BIND, &req, sizeof(req), 0);
}

static struct ib_address address_of(uint32_t id)
{
	struct rdma_ucm_query_addr_resp resp;
	struct rdma_ucm_query req = {(uintptr_t)&resp, id, RDMA_USER_CM_QUERY_ADDR};
	struct ib_address ib;

	ck_assert_int_eq(cm_write(0, RDMA_USER_CM_CMD_QUERY, &req, sizeof(req), sizeof(resp)), 0);
	memcpy(&ib, &resp.src_addr, sizeof(ib));
	return ib;
}

static const uint8_t here[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1}, any[16];

START_TEST(af_ib_address_is_none_of_roce)
{
	uint32_t id;

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), 0);
	ck_assert_int_eq(bind_ib(id, here, 0x01061234, UINT64_MAX), -ENODEV);
	ck_assert_int_eq(cm_bind(0, id, CM_HERE, 7000), 0); /* it is as it was */
}
END_TEST

START_TEST(af_ib_wildcard_has_the_port_of_its_service_id)
{
	static const struct {
		uint16_t ps;
		uint64_t sid, mask;
		int rc;
	} rules[] = {
		{RDMA_PS_TCP, 0x01061234, UINT64_MAX, 0},
		{RDMA_PS_TCP, 0x01111234, UINT64_MAX, -EPROTONOSUPPORT},
		{RDMA_PS_UDP, 0x01111234, UINT64_MAX, 0},
		{RDMA_PS_UDP, 0x01061234, UINT64_MAX, -EPROTONOSUPPORT},
		{RDMA_PS_IB, 0x013f1234, UINT64_MAX, 0},
		{RDMA_PS_IB, 0x01061234, UINT64_MAX, 0},
		{RDMA_PS_IB, 0x01021234, UINT64_MAX, -EPROTONOSUPPORT},
		{RDMA_PS_IPOIB, 0x01021234, UINT64_MAX, -EPROTONOSUPPORT},
		{RDMA_PS_TCP, 0x1234, 0xffff, 0}, /* only the port counts */
	};
	uint32_t id, other;
	uint64_t space;

	ck_assert_int_eq(cm_create(0, rules[_i].ps, &id), 0);
	ck_assert_int_eq(bind_ib(id, any, rules[_i].sid, rules[_i].mask), rules[_i].rc);
	if (rules[_i].rc)
		return;
	space = be64toh(address_of(id).sid) >> 16;
	ck_assert_uint_eq(be64toh(address_of(id).sid) & 0xffff, 0x1234);
	/* It has that port of that space, and no other ID may have it too. */
	ck_assert_int_eq(cm_create(0, (uint16_t)space, &other), 0);
	ck_assert_int_eq(cm_bind(0, other, CM_HERE, 0x1234), -EADDRNOTAVAIL);
}
END_TEST

START_TEST(af_ib_wildcard_without_a_port_is_given_one)
{
	struct ib_address ib;
	uint32_t id;

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), 0);
	ck_assert_int_eq(bind_ib(id, any, 0x01060000, UINT64_MAX), 0);
	ib = address_of(id);
	ck_assert_uint_eq(be64toh(ib.sid) >> 16, RDMA_PS_TCP);
	ck_assert_uint_ge(be64toh(ib.sid) & 0xffff, 1024);
	ck_assert_uint_eq(ib.sid_mask, UINT64_MAX);
}
END_TEST

START_TEST(af_ib_destination_is_none_of_roce)
{
	struct ib_address ib = {.family = AF_IB, .addr = {[15] = 1}};
	struct rdma_ucm_resolve_addr req = {.dst_size = sizeof(ib)};

	memcpy(&req.dst_addr, &ib, sizeof(ib));
	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &req.id), 0);
	if (_i) /* of another family */
		ck_assert_int_eq(cm_bind(0, req.id, CM_HERE, 0), 0);
	ck_assert_int_eq(cm_write(0, RDMA_USER_CM_CMD_RESOLVE_ADDR, &req, sizeof(req), 0),
			 _i ? -EINVAL : -ENODEV);
}
END_TEST

/* ---- addresses that go ---- */

START_TEST(address_that_goes_is_told_once_to_who_is_bound_to_it)
{
	const uint8_t none[16] = {0};
	struct rnic_device *dev = cm_user.rig.dev.rnic;
	const struct rnic_async gids = {.type = RNIC_EVENT_GID_CHANGE};
	struct rdma_ucm_event_resp ev;
	uint8_t other[16];
	uint32_t slot = 0, bound, wild;

	while (!rnic_gid_get(dev, (uint16_t)slot) ||
	       memcmp(rnic_gid_get(dev, (uint16_t)slot), here, 16))
		slot++;
	bound = cm_listener(0, RDMA_PS_TCP, 7471, 4);
	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &wild), 0);
	ck_assert_int_eq(cm_bind(0, wild, 0, 7472), 0);
	memcpy(other, here, 16);
	other[15] = 77;
	rnic_gid_set(dev, (uint16_t)slot + 1, other, 1);
	kernel_port_event(&cm_user.rig.dev, &gids);
	ck_assert_int_eq(cm_event(0, &ev), RNIC_CTL_WAIT); /* one more harms nobody */
	rnic_gid_set(dev, (uint16_t)slot, none, 0);
	kernel_port_event(&cm_user.rig.dev, &gids);
	kernel_port_event(&cm_user.rig.dev, &gids);
	ck_assert_uint_eq(cm_next(0, CMA_EV_ADDR_CHANGE).id, bound);
	ck_assert_int_eq(cm_event(0, &ev), RNIC_CTL_WAIT);
	rnic_gid_set(dev, (uint16_t)slot, here, 1); /* and again when it goes again */
	kernel_port_event(&cm_user.rig.dev, &gids);
	rnic_gid_set(dev, (uint16_t)slot, none, 0);
	kernel_port_event(&cm_user.rig.dev, &gids);
	cm_next(0, CMA_EV_ADDR_CHANGE);
	ck_assert_int_eq(cm_event(0, &ev), RNIC_CTL_WAIT);
}
END_TEST

/* ---- ports of many ---- */

#define USERS 4

/* An ID that shares its port with nobody asks for it. */
static int64_t port_taken_alone(void)
{
	uint32_t id;
	int64_t rc;

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), 0);
	rc = cm_bind(0, id, CM_HERE, 7474);
	ck_assert_int_eq(cm_destroy(0, id, NULL), 0);
	return rc;
}

/* As the users go in one of the 24 orders. */
static void shared_port_try(uint32_t way)
{
	const int32_t shared = 1;
	uint32_t id[USERS], order[USERS] = {0, 1, 2, 3};

	for (uint32_t i = 0; i < USERS; i++) {
		uint32_t j = i + way % (USERS - i), o = order[i];

		way /= USERS - i;
		order[i] = order[j];
		order[j] = o;
	}
	for (int i = 0; i < USERS; i++) {
		ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id[i]), 0);
		ck_assert_int_eq(cm_option(0, id[i], RDMA_OPTION_ID_REUSEADDR, &shared, 4), 0);
		ck_assert_int_eq(cm_bind(0, id[i], CM_HERE, 7474), 0);
	}
	for (int i = 0; i < USERS; i++) {
		ck_assert_int_eq(port_taken_alone(), -EADDRINUSE);
		if (i == USERS - 1) /* nobody else is there to forbid it */
			ck_assert_int_eq(cm_listen(0, id[order[i]], 1), 0);
		ck_assert_int_eq(cm_destroy(0, id[order[i]], NULL), 0);
	}
	ck_assert_int_eq(port_taken_alone(), 0);
}

START_TEST(shared_port_is_in_use_until_its_last_user_has_gone)
{
	for (uint32_t way = 0; way < 24; way++)
		shared_port_try(way);
}
END_TEST

/* ---- how many ---- */

START_TEST(process_has_so_many_ids_on_all_its_channels)
{
	uint32_t first, id;

	for (uint32_t i = 0; i < OWNER_IDS_MAX; i++)
		ck_assert_int_eq(cm_create((int)(i % 2), RDMA_PS_TCP, i ? &id : &first), 0);
	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), -ENOMEM);
	ck_assert_int_eq(cm_create(1, RDMA_PS_TCP, &id), -ENOMEM);
	ck_assert_int_eq(cm_destroy(0, first, NULL), 0);
	ck_assert_int_eq(cm_create(1, RDMA_PS_TCP, &id), 0);
	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), -ENOMEM);
}
END_TEST

START_TEST(user_has_so_many_ids_in_all_processes)
{
	struct owner *o[5], *root;
	struct owners list = {0};
	const uid_t uid = geteuid() + 1;
	uint32_t n = 0;

	for (int i = 0; i < 5; i++) {
		o[i] = owner_get(&list, (uint64_t)i, uid);
		for (uint32_t k = 0; k < OWNER_IDS_MAX; k++)
			n += owner_take(o[i]);
	}
	ck_assert_uint_eq(n, OWNER_UID_IDS_MAX);
	root = owner_get(&list, 5, 0);
	ck_assert(owner_take(root));
	owner_give(root);
	owner_put(root);
	owner_move(o[0], o[4]);
	ck_assert(!owner_take(o[0]));
	owner_give(o[4]);
	ck_assert(owner_take(o[0]));
	for (int i = 0; i < 5; i++)
		owner_put(o[i]);
	ck_assert_ptr_null(list.head);
}
END_TEST

/* ---- descriptors ---- */

static int files_open(uint64_t session, uid_t uid, uint32_t n, struct owner **o)
{
	return owner_open(cm_user.rig.kernel, session, uid, n, o);
}

START_TEST(process_has_half_of_the_descriptors_at_most)
{
	struct owners *all = &cm_user.rig.kernel->owners;
	const uint32_t half = 50, have = all->files;
	struct owner *a, *b, *c;

	all->files_max = have + 2 * half;
	ck_assert_int_eq(files_open(1001, geteuid(), all->files_max / 2, &a), 0);
	ck_assert_int_eq(owner_open_more(cm_user.rig.kernel, a, 1), -EMFILE);
	ck_assert_ptr_nonnull(strstr(cm_user.rig.last_log, "may open no more"));
	*cm_user.rig.last_log = 0;
	ck_assert_int_eq(files_open(1001, geteuid(), 1, &c), -EMFILE);
	ck_assert_str_eq(cm_user.rig.last_log, ""); /* said once */
	ck_assert_int_eq(files_open(1002, geteuid(), all->files_max - all->files, &b), 0);
	ck_assert_int_eq(files_open(1003, 0, 1, &c), -ENFILE);
	owner_close(a, all->files_max / 2);
	ck_assert_int_eq(files_open(1001, geteuid(), 1, &a), 0);
	owner_close(a, 1);
	owner_close(b, all->files - have);
	ck_assert_uint_eq(all->files, have);
}
END_TEST

START_TEST(other_user_has_half_of_the_descriptors_at_most)
{
	struct owners *all = &cm_user.rig.kernel->owners;
	const uid_t uid = geteuid() + 1;
	const uint32_t have = all->files;
	struct owner *a, *b, *c;

	all->files_max = 100;
	ck_assert_int_eq(files_open(1001, uid, 30, &a), 0);
	ck_assert_int_eq(files_open(1002, uid, 20, &b), 0);
	ck_assert_int_eq(files_open(1003, uid, 1, &c), -ENFILE);
	ck_assert_int_eq(files_open(1004, uid + 1, 1, &c), 0);
	owner_close(c, 1);
	owner_close(b, 20);
	owner_close(a, 30);
	ck_assert_uint_eq(all->files, have);
}
END_TEST

TCase *kernel_cm_rules_tcase(void)
{
	TCase *tc = tcase_create("cm_rules");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, cm_user_start, cm_user_stop);
	tcase_add_test(tc, port_below_1024_is_for_who_has_the_capability);
	tcase_add_test(tc, capability_is_read_from_the_status);
	tcase_add_test(tc, capability_of_another_program_is_not_the_clients);
	tcase_add_test(tc, af_ib_address_is_none_of_roce);
	tcase_add_loop_test(tc, af_ib_wildcard_has_the_port_of_its_service_id, 0, 9);
	tcase_add_test(tc, af_ib_wildcard_without_a_port_is_given_one);
	tcase_add_loop_test(tc, af_ib_destination_is_none_of_roce, 0, 2);
	tcase_add_test(tc, address_that_goes_is_told_once_to_who_is_bound_to_it);
	tcase_add_test(tc, shared_port_is_in_use_until_its_last_user_has_gone);
	tcase_add_test(tc, process_has_so_many_ids_on_all_its_channels);
	tcase_add_test(tc, process_has_half_of_the_descriptors_at_most);
	tcase_add_test(tc, other_user_has_half_of_the_descriptors_at_most);
	tcase_add_test(tc, user_has_so_many_ids_in_all_processes);
	return tc;
}
