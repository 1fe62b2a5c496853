/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* uverbs without libibverbs' help: commands by write() and by INVOKE_WRITE, methods by ioctl. */
#ifndef ABI_RAW_H
#define ABI_RAW_H

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stddef.h>
#include <stdint.h>

#include "rig.h"

#define RAW_ATTRS_MAX 20
#define RAW_ARRAY(a) (a), (uint16_t)(sizeof(a) / sizeof((a)[0]))

/* An opened device with its context, and nothing of libibverbs. */
int raw_open(void);

/* 0, or the errno. Attributes come back as the kernel leaves them. */
int raw_ioctl(int fd, uint16_t object, uint16_t method, struct ib_uverbs_attr *attrs, uint16_t n);
int raw_invoke(int fd, uint32_t command, const void *req, size_t len, void *resp, size_t room);
/* req begins with the address of the response where the command has one. */
int raw_write(int fd, uint32_t command, void *req, size_t len, void *resp, size_t room);

/* All are mandatory; a value of up to 8 bytes, user memory, an object or descriptor. */
struct ib_uverbs_attr raw_value(uint16_t id, uint64_t value, uint16_t len);
struct ib_uverbs_attr raw_ptr(uint16_t id, const void *p, size_t len);
struct ib_uverbs_attr raw_object(uint16_t id, uint64_t number);

uint32_t raw_pd(int fd);
/* 0 or the errno. */
int raw_reg_mr(int fd, uint32_t pd, void *addr, uint64_t len, uint32_t access,
	       struct ib_uverbs_reg_mr_resp *resp);

/* The errno that it is to be, with the line that asked. */
#define IS(expected, what) raw_is(__FILE__, __LINE__, #what, (what), (expected))
void raw_is(const char *file, int line, const char *what, int got, int expected);

#endif
