/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What rdma_cm owes to the kernel's rules beside its commands: who may have what, and how much. */
#include "config.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
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

START_TEST(port_below_1024_is_for_who_has_the_capability)
{
	uint32_t id;

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), 0);
	if (capability_has(getpid(), getuid(), CAP_NET_BIND_SERVICE)) {
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
	static const char status[] = "Name:\tCapEff:\nCapPrm:\t0000000000000400\n"
				     "CapEff:\t0000004000000400\nCapBnd:\tffffffffffffffff\n";

	ck_assert(capability_in_status(status, 10));
	ck_assert(capability_in_status(status, 38));
	ck_assert(!capability_in_status(status, 9));
	ck_assert(!capability_in_status(status, 64));
	ck_assert(!capability_in_status("Name:\tx\n", 10));
}
END_TEST

TCase *kernel_cm_rules_tcase(void)
{
	TCase *tc = tcase_create("cm_rules");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, cm_user_start, cm_user_stop);
	tcase_add_test(tc, port_below_1024_is_for_who_has_the_capability);
	tcase_add_test(tc, capability_is_read_from_the_status);
	return tc;
}
