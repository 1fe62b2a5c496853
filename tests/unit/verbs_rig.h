/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A process, its session and an open device, all in the test: uverbs commands read and write the
 * rig's `user` array as the process's memory. Everything outside it is not mapped, and its last
 * page cannot be written.
 */
#ifndef VERBS_RIG_H
#define VERBS_RIG_H

#include <check.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/rdma_user_rxe.h>
#include <stdbool.h>
#include <stdint.h>

#include "rnic/host.h"
#include "verbs/kernel/context_priv.h"
#include "verbs/kernel/uverbs.h"
#include "verbs/kernel/uverbs_obj.h"

#define USER_SIZE 65536
#define USER_READONLY (USER_SIZE - 4096)
#define RECORDS_MAX 64

struct channel { /* the rig's */
	struct channel *next;
	uint32_t record_size, refs, n_records, n_read;
	uint64_t id;
	bool client_gone, finished;
	struct {
		uint64_t word[2];
		const void *owner;
	} record[RECORDS_MAX];
};

struct session {
	uint32_t umem_refs;
	bool root;
};

struct rig {
	struct context context;
	struct kdevice dev;
	struct session session, paged; /* the same memory, paged on demand */
	struct call call;
	uint8_t *user;
	uint64_t brk;	     /* offset of the next free byte of user */
	uint32_t n_reads;    /* call_read has been called so often in this command */
	uint32_t pending_at; /* it answers EINPROGRESS once at this count; 0: never */
	bool check_pending;  /* the next check answers EINPROGRESS */
	uint32_t n_restarts; /* commands that were run again */
	struct channel *channels;
	uint64_t next_channel;
	uint32_t n_channels;
	char log[512];
	uint32_t n_logs;
};

extern struct rig rig; /* of the test under way: a process each */

void rig_start(void); /* before GET_CONTEXT */
void rig_start_with(const struct rnic_ops *core_ops);
void rig_get_context(void);
void rig_start_context(void);
void rig_stop(void); /* checks that nothing is left */

/* Memory of the process: address of `len` zeroed or copied bytes. */
uint64_t user_alloc(size_t len);
uint64_t user_put(const void *data, size_t len);
void *user_at(uint64_t addr);

/* write(): the header and `req`; response is put at req's first 8 bytes if out_len. */
int64_t do_write(uint32_t number, const void *req, size_t len, void *resp, size_t out_len);
/* The same by INVOKE_WRITE. */
int64_t do_invoke(uint32_t number, const void *req, size_t len, void *resp, size_t out_len,
		  void *uhw, size_t uhw_len);
/* RDMA_VERBS_IOCTL with attributes; those come back. */
int64_t do_ioctl(uint16_t object, uint16_t method, struct ib_uverbs_attr *attrs, uint16_t n);

struct ib_uverbs_attr attr_in(uint16_t id, uint64_t value, uint16_t len);
struct ib_uverbs_attr attr_ptr(uint16_t id, uint64_t addr, uint16_t len);
struct ib_uverbs_attr attr_object(uint16_t id, uint64_t handle);

/* Objects made by commands; the handle. */
uint32_t make_pd(void);
uint32_t make_cq(uint32_t cqe, int32_t channel_fd, struct mminfo *mi);
void qp_request(uint32_t pd, uint32_t cq, struct ib_uverbs_create_qp *req);
int64_t make_qp(const struct ib_uverbs_create_qp *req, struct ib_uverbs_create_qp_resp *resp,
		struct rxe_create_qp_resp *uhw);
int64_t make_mr(uint32_t pd, uint64_t addr, uint64_t len, uint32_t access,
		struct ib_uverbs_reg_mr_resp *resp);
int64_t make_ah(uint32_t pd, uint8_t sgid_index, struct ib_uverbs_create_ah_resp *resp,
		struct rxe_create_ah_resp *uhw);
int64_t make_srq(uint32_t pd, uint32_t wr, uint32_t sge, uint32_t limit,
		 struct ib_uverbs_create_srq_resp *resp, struct rxe_create_srq_resp *uhw);
int64_t destroy(uint32_t number, uint32_t handle);

struct channel *channel_of_fd(int32_t fd);
void *object_of(enum uobject_kind kind, uint32_t handle);

TCase *verbs_device_tcase(void);
TCase *verbs_memory_tcase(void);
TCase *verbs_objects_tcase(void);
TCase *verbs_ioctl_tcase(void);
TCase *verbs_qp_tcase(void);
TCase *verbs_ring_tcase(void);
TCase *verbs_netlink_tcase(void);
TCase *verbs_fuzz_tcase(void);
TCase *verbs_gone_tcase(void);

#endif
