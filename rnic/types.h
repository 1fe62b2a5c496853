/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Constants of the verbs (IBA vol. 1, chapter 11). Their values are those of the kernel's ABI,
 * which verbs/kernel asserts, so that no table has to translate them. */
#ifndef RNIC_TYPES_H
#define RNIC_TYPES_H

#include <stdbool.h>
#include <stdint.h>

enum rnic_qp_type { RNIC_QPT_GSI = 1, RNIC_QPT_RC = 2, RNIC_QPT_UC = 3, RNIC_QPT_UD = 4 };

#define RNIC_QPN_GSI 1
#define RNIC_QKEY_GSI 0x80010000u

enum rnic_qp_state {
	RNIC_QPS_RESET,
	RNIC_QPS_INIT,
	RNIC_QPS_RTR,
	RNIC_QPS_RTS,
	RNIC_QPS_SQD,
	RNIC_QPS_SQE,
	RNIC_QPS_ERR,
	RNIC_QPS_COUNT,
};

enum rnic_wr_op {
	RNIC_WR_WRITE = 0,
	RNIC_WR_WRITE_IMM = 1,
	RNIC_WR_SEND = 2,
	RNIC_WR_SEND_IMM = 3,
	RNIC_WR_READ = 4,
	RNIC_WR_CMP_SWAP = 5,
	RNIC_WR_FETCH_ADD = 6,
	RNIC_WR_LOCAL_INV = 7,
	RNIC_WR_BIND_MW = 8,
	RNIC_WR_SEND_INV = 9,
	RNIC_WR_ATOMIC_WRITE = 15, /* IBA release 1.5; its 8 bytes are inline */
};

enum rnic_send_flags {
	RNIC_SEND_FENCE = 1 << 0,
	RNIC_SEND_SIGNALED = 1 << 1,
	RNIC_SEND_SOLICITED = 1 << 2,
	RNIC_SEND_INLINE = 1 << 3,
};

enum rnic_access {
	RNIC_ACCESS_LOCAL_WRITE = 1 << 0,
	RNIC_ACCESS_REMOTE_WRITE = 1 << 1,
	RNIC_ACCESS_REMOTE_READ = 1 << 2,
	RNIC_ACCESS_REMOTE_ATOMIC = 1 << 3,
	RNIC_ACCESS_MW_BIND = 1 << 4,
	RNIC_ACCESS_ZERO_BASED = 1 << 5,
};

enum rnic_mw_type { RNIC_MW_TYPE_1 = 1, RNIC_MW_TYPE_2 = 2 };

enum rnic_wc_status {
	RNIC_WC_SUCCESS = 0,
	RNIC_WC_LOC_LEN_ERR = 1,
	RNIC_WC_LOC_QP_OP_ERR = 2,
	RNIC_WC_LOC_PROT_ERR = 4,
	RNIC_WC_WR_FLUSH_ERR = 5,
	RNIC_WC_MW_BIND_ERR = 6,
	RNIC_WC_BAD_RESP_ERR = 7,
	RNIC_WC_LOC_ACCESS_ERR = 8,
	RNIC_WC_REM_INV_REQ_ERR = 9,
	RNIC_WC_REM_ACCESS_ERR = 10,
	RNIC_WC_REM_OP_ERR = 11,
	RNIC_WC_RETRY_EXC_ERR = 12,
	RNIC_WC_RNR_RETRY_EXC_ERR = 13,
	RNIC_WC_REM_ABORT_ERR = 16,
	RNIC_WC_FATAL_ERR = 19,
	RNIC_WC_GENERAL_ERR = 21,
};

enum rnic_wc_opcode {
	RNIC_WC_SEND = 0,
	RNIC_WC_WRITE = 1,
	RNIC_WC_READ = 2,
	RNIC_WC_CMP_SWAP = 3,
	RNIC_WC_FETCH_ADD = 4,
	RNIC_WC_BIND_MW = 5,
	RNIC_WC_LOCAL_INV = 6,
	RNIC_WC_ATOMIC_WRITE = 9,
	RNIC_WC_RECV = 128,
	RNIC_WC_RECV_WRITE_IMM = 129,
};

enum rnic_wc_flags { RNIC_WC_GRH = 1 << 0, RNIC_WC_WITH_IMM = 1 << 1, RNIC_WC_WITH_INV = 1 << 3 };

enum rnic_event_type {
	RNIC_EVENT_CQ_ERR = 0,
	RNIC_EVENT_QP_FATAL = 1,
	RNIC_EVENT_QP_REQ_ERR = 2,
	RNIC_EVENT_QP_ACCESS_ERR = 3,
	RNIC_EVENT_COMM_EST = 4,
	RNIC_EVENT_SQ_DRAINED = 5,
	RNIC_EVENT_PATH_MIG = 6,
	RNIC_EVENT_PATH_MIG_ERR = 7,
	RNIC_EVENT_DEVICE_FATAL = 8,
	RNIC_EVENT_PORT_ACTIVE = 9,
	RNIC_EVENT_PORT_ERR = 10,
	RNIC_EVENT_SRQ_ERR = 14,
	RNIC_EVENT_SRQ_LIMIT_REACHED = 15,
	RNIC_EVENT_QP_LAST_WQE_REACHED = 16,
	RNIC_EVENT_GID_CHANGE = 18,
};

enum rnic_mtu { RNIC_MTU_256 = 1, RNIC_MTU_512, RNIC_MTU_1024, RNIC_MTU_2048, RNIC_MTU_4096 };

static inline uint32_t rnic_mtu_bytes(enum rnic_mtu mtu)
{
	return 128u << mtu;
}

#define RNIC_MAX_SGE 32
#define RNIC_MAX_INLINE 512
#define RNIC_GID_TABLE_LEN 1024

/* Where packets of a QP or an address handle go. Addresses are GIDs; IPv4 is mapped
 * (::ffff:a.b.c.d). */
struct rnic_av {
	uint8_t sgid[16]; /* as the GID table had it at sgid_index when the AV was made */
	uint8_t dgid[16];
	uint16_t sgid_index;
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint32_t flow_label; /* 20 bits */
	uint8_t sl;
	uint8_t static_rate;
	uint8_t port_num;
	uint16_t dlid;
	uint8_t src_path_bits;
	bool grh; /* always required by RoCE */
};

#endif
