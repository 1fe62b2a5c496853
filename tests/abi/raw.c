/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* uverbs without libibverbs' help. */
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_user_ioctl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void raw_is(const char *file, int line, const char *what, int got, int expected)
{
	if (got != expected)
		rig_fail("%s:%d: %s is \"%s\", not \"%s\"", file, line, what, strerror(got),
			 strerror(expected));
}

int raw_open(void)
{
	struct ib_uverbs_attr async = raw_object(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
	int fd = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);

	MUST(fd >= 0);
	IS(0, raw_ioctl(fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, NULL, 0));
	IS(0, raw_ioctl(fd, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, &async, 1));
	MUST((int64_t)async.data > fd);
	return fd;
}

int raw_ioctl(int fd, uint16_t object, uint16_t method, struct ib_uverbs_attr *attrs, uint16_t n)
{
	_Alignas(8) uint8_t buf[sizeof(struct ib_uverbs_ioctl_hdr) +
				RAW_ATTRS_MAX * sizeof(struct ib_uverbs_attr)];
	struct ib_uverbs_ioctl_hdr hdr = {
		.length = (uint16_t)(sizeof(hdr) + n * sizeof(*attrs)),
		.object_id = object,
		.method_id = method,
		.num_attrs = n,
		.driver_id = RDMA_DRIVER_RXE,
	};
	int rc;

	MUST(n <= RAW_ATTRS_MAX);
	memcpy(buf, &hdr, sizeof(hdr));
	if (n)
		memcpy(buf + sizeof(hdr), attrs, n * sizeof(*attrs));
	rc = ioctl(fd, RDMA_VERBS_IOCTL, buf) ? errno : 0;
	if (n)
		memcpy(attrs, buf + sizeof(hdr), n * sizeof(*attrs));
	return rc;
}

int raw_invoke(int fd, uint32_t command, const void *req, size_t len, void *resp, size_t room)
{
	struct ib_uverbs_attr a[3] = {
		raw_value(UVERBS_ATTR_WRITE_CMD, command, 8),
		raw_ptr(UVERBS_ATTR_CORE_IN, req, len),
		raw_ptr(UVERBS_ATTR_CORE_OUT, resp, room),
	};

	if (len <= sizeof(a[1].data)) { /* then it lies in the attribute */
		a[1].data = 0;
		memcpy(&a[1].data, req, len);
	}
	return raw_ioctl(fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, a, resp ? 3 : 2);
}

int raw_write(int fd, uint32_t command, void *req, size_t len, void *resp, size_t room)
{
	_Alignas(8) uint8_t buf[512];
	struct ib_uverbs_cmd_hdr hdr = {command, (uint16_t)((sizeof(hdr) + len) / 4),
					(uint16_t)(room / 4)};
	uint64_t response = (uintptr_t)resp;
	ssize_t n;

	MUST(len <= sizeof(buf) - sizeof(hdr));
	if (resp)
		memcpy(req, &response, sizeof(response));
	memcpy(buf, &hdr, sizeof(hdr));
	memcpy(buf + sizeof(hdr), req, len);
	n = write(fd, buf, sizeof(hdr) + len);
	if (n < 0)
		return errno;
	MUST(n == (ssize_t)(sizeof(hdr) + len));
	return 0;
}

struct ib_uverbs_attr raw_value(uint16_t id, uint64_t value, uint16_t len)
{
	return (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = value};
}

struct ib_uverbs_attr raw_ptr(uint16_t id, const void *p, size_t len)
{
	return raw_value(id, (uintptr_t)p, (uint16_t)len);
}

struct ib_uverbs_attr raw_object(uint16_t id, uint64_t number)
{
	return raw_value(id, number, 0);
}

uint32_t raw_pd(int fd)
{
	struct ib_uverbs_alloc_pd req = {0};
	struct ib_uverbs_alloc_pd_resp resp;

	IS(0, raw_write(fd, IB_USER_VERBS_CMD_ALLOC_PD, &req, sizeof(req), &resp, sizeof(resp)));
	return resp.pd_handle;
}

int raw_reg_mr(int fd, uint32_t pd, void *addr, uint64_t len, uint32_t access,
	       struct ib_uverbs_reg_mr_resp *resp)
{
	struct ib_uverbs_reg_mr req = {
		.start = (uintptr_t)addr,
		.length = len,
		.hca_va = (uintptr_t)addr,
		.pd_handle = pd,
		.access_flags = access,
	};

	return raw_invoke(fd, IB_USER_VERBS_CMD_REG_MR, &req, sizeof(req), resp, sizeof(*resp));
}
