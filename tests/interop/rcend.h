/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One end of a connection between two verbs devices: an RC QP, memory, and TCP to the other end. */
#ifndef INTEROP_RCEND_H
#define INTEROP_RCEND_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define AREA_SIZE (1u << 19)
#define INLINE_MAX 64

struct peer {
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint32_t mtu;
	uint64_t addr;
	union ibv_gid gid;
};

struct end {
	bool client;
	bool shared;
	uint32_t with_inv; /* the bit of wc_flags */
	int fd;
	int gid_index;
	uint32_t mtu_max; /* enum ibv_mtu */
	bool late;	  /* receives are posted when their message is under way */
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_srq *srq; /* or NULL */
	struct ibv_qp *qp;
	uint32_t window_key;
	uint8_t *area;
	struct peer self;
	struct peer peer;
};

/* These end the program when something fails. */
void fail(const char *what, int error);
void *must(void *object, const char *what);
void swap_over_tcp(const struct end *end, const void *out, void *in, size_t size);
/* Wait for the other end to be here too. */
void barrier(const struct end *end);
void end_create(struct end *end, const char *device);
/* address NULL: the server. */
void end_connect(struct end *end, const char *address, uint16_t port);

#endif
