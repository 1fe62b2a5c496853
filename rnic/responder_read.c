/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * READs, atomics and ATOMIC_WRITEs at the responder. Atomics are executed when they come, and their
 * results kept for duplicates; the memory of a READ is read when its responses leave, at most one
 * run a turn.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "rnic/cc_qp.h"
#include "rnic/credit.h"
#include "rnic/mw.h"
#include "rnic/responder.h"
#include "rnic/shape.h"
#include "rnic/sgl.h"
#include "rnic/transport.h"

#define ATOMIC_LEN 8

static struct resp_job *job_at(const struct responder *resp, uint32_t i)
{
	return &resp->job[(resp->job_head + i) % resp->job_room];
}

static void job_add(struct rnic_qp *qp, const struct resp_job *job)
{
	struct responder *resp = qp->resp;

	*job_at(resp, resp->n_jobs++) = *job;
	/* The response acknowledges all before. */
	if (resp->tail != TAIL_FATAL)
		resp->tail = TAIL_NONE;
	qp_activate(qp);
}

static void job_done(struct responder *resp)
{
	resp->job_head = (resp->job_head + 1) % resp->job_room;
	resp->n_jobs--;
}

static uint32_t read_packets(const struct rnic_qp *qp, uint32_t len)
{
	return len ? (uint32_t)(((uint64_t)len + qp->resp->mtu - 1) / qp->resp->mtu) : 1;
}

/*
 * Has the requester asked for more at once than it may? A response that waits to be sent once more
 * does not count: the requester may have had the first, and gone on.
 */
static bool too_many(const struct rnic_qp *qp)
{
	const struct responder *resp = qp->resp;
	uint32_t n = 0;

	if (resp->n_jobs < qp->attr.max_dest_rd_atomic)
		return false;
	for (uint32_t i = 0; i < resp->n_jobs; i++)
		n += !job_at(resp, i)->again;
	return n >= qp->attr.max_dest_rd_atomic;
}

static bool room_to_answer_again(const struct responder *resp)
{
	return resp->n_jobs < resp->job_room / 2;
}

/* IBA unverified */
static enum resp_verdict resources_check(const struct rnic_qp *qp, uint32_t access)
{
	const struct responder *resp = qp->resp;

	if (resp->msg != MSG_NONE || !(qp->attr.access_flags & access))
		return RESP_INVALID;
	if (too_many(qp))
		return RESP_INVALID;
	return RESP_OK;
}

static enum resp_verdict read_check(const struct rnic_qp *qp, const struct bth_packet *pkt)
{
	struct rnic_mem *mem;
	uint64_t vaddr;

	if (pkt->dmalen > DMALEN_MAX)
		return RESP_INVALID;
	if (rkey_check(qp, pkt->rkey, pkt->va, pkt->dmalen, RNIC_ACCESS_REMOTE_READ, &mem,
		       &vaddr) != MR_OK)
		return RESP_ACCESS;
	return RESP_OK;
}

static void read_add(struct rnic_qp *qp, const struct bth_packet *pkt, uint32_t len, bool again)
{
	struct resp_job job = {
		.kind = JOB_READ,
		.again = again,
		.psn = pkt->psn,
		.n_psn = read_packets(qp, len),
		.msn = qp->resp->msn,
		.va = pkt->va,
		.rkey = pkt->rkey,
		.len = len,
	};

	job.end = job.n_psn;
	job_add(qp, &job);
}

enum resp_verdict responder_read(struct rnic_qp *qp, const struct bth_packet *pkt)
{
	struct responder *resp = qp->resp;
	enum resp_verdict verdict = resources_check(qp, RNIC_ACCESS_REMOTE_READ);

	if (verdict == RESP_OK)
		verdict = read_check(qp, pkt);
	if (verdict != RESP_OK)
		return verdict;
	resp->psn = psn_add(resp->psn, read_packets(qp, pkt->dmalen));
	resp->msn = psn_add(resp->msn, 1);
	read_add(qp, pkt, pkt->dmalen, false);
	return RESP_OK;
}

static void atomic_add(struct rnic_qp *qp, uint32_t psn, uint64_t orig, bool again)
{
	struct resp_job job = {
		.kind = JOB_ATOMIC,
		.again = again,
		.psn = psn,
		.n_psn = 1,
		.end = 1,
		.msn = qp->resp->msn,
		.orig = orig,
	};

	job_add(qp, &job);
}

static enum resp_verdict atomic_execute(struct rnic_qp *qp, const struct bth_packet *pkt,
					uint64_t *orig)
{
	const struct rnic_device_config *cfg = &qp->dev->cfg;
	bool cmp = bth_opcode_op(pkt->opcode) == BTH_CMP_SWAP;
	struct rnic_mem *mem;
	uint64_t vaddr;
	int ret;

	if (pkt->va % ATOMIC_LEN)
		return RESP_INVALID;
	if (rkey_check(qp, pkt->rkey, pkt->va, ATOMIC_LEN, RNIC_ACCESS_REMOTE_ATOMIC, &mem,
		       &vaddr) != MR_OK)
		return RESP_ACCESS;
	/* A region may map an aligned address to an unaligned one. */
	if (vaddr % ATOMIC_LEN)
		return RESP_INVALID;
	mem_operation_begin(qp->dev);
	ret = cfg->ops->mem_atomic(cfg->host, mem, vaddr,
				   cmp ? RNIC_ATOMIC_CMP_SWAP : RNIC_ATOMIC_FETCH_ADD,
				   pkt->swap_add, pkt->compare, orig);
	if (ret == -EINPROGRESS)
		return RESP_BUSY;
	if (ret == -ESRCH)
		return RESP_GONE;
	return ret < 0 ? RESP_OPERATIONAL : RESP_OK;
}

enum resp_verdict responder_atomic(struct rnic_qp *qp, const struct bth_packet *pkt)
{
	struct responder *resp = qp->resp;
	enum resp_verdict verdict = resources_check(qp, RNIC_ACCESS_REMOTE_ATOMIC);
	struct resp_atomic *saved;
	uint64_t orig;

	if (verdict == RESP_OK)
		verdict = atomic_execute(qp, pkt, &orig);
	if (verdict != RESP_OK)
		return verdict;
	saved = &resp->atomic[resp->atomic_next++ % resp->job_room];
	*saved = (struct resp_atomic){.psn = pkt->psn, .valid = true, .orig = orig};
	resp->psn = psn_add(resp->psn, 1);
	resp->msn = psn_add(resp->msn, 1);
	atomic_add(qp, pkt->psn, orig, false);
	return RESP_OK;
}

static enum resp_verdict atomic_write_execute(struct rnic_qp *qp, const struct bth_packet *pkt)
{
	struct iovec piece = {.iov_base = (void *)(uintptr_t)pkt->payload, .iov_len = ATOMIC_LEN};
	struct rnic_mem *mem;

	if (pkt->va % ATOMIC_LEN || pkt->dmalen != ATOMIC_LEN || pkt->payload_len != ATOMIC_LEN)
		return RESP_INVALID;
	switch (sgl_remote(qp, pkt->rkey, pkt->va, &piece, 1, SGL_WRITE, &mem)) {
	case 0:
		return RESP_OK;
	case -EINPROGRESS:
		return RESP_BUSY;
	case -ESRCH:
		return RESP_GONE;
	case -EACCES:
		return RESP_ACCESS;
	default:
		return RESP_OPERATIONAL;
	}
}

/* IBA release 1.5 (unverified): a WRITE of 8 bytes at once, answered as a READ of none. */
enum resp_verdict responder_atomic_write(struct rnic_qp *qp, const struct bth_packet *pkt)
{
	struct responder *resp = qp->resp;
	enum resp_verdict verdict = resources_check(qp, RNIC_ACCESS_REMOTE_WRITE);

	if (verdict == RESP_OK)
		verdict = atomic_write_execute(qp, pkt);
	if (verdict != RESP_OK)
		return verdict;
	resp->psn = psn_add(resp->psn, 1);
	resp->msn = psn_add(resp->msn, 1);
	read_add(qp, pkt, 0, false);
	return RESP_OK;
}

/*
 * A request has come again: the requester has gone back to its PSN and will ask again for all that
 * follows, so responses that wait from there on are not wanted any more.
 */
static void jobs_cut(struct rnic_qp *qp, uint32_t psn)
{
	struct responder *resp = qp->resp;

	for (uint32_t i = 0; i < resp->n_jobs; i++) {
		struct resp_job *job = job_at(resp, i);
		uint32_t into = (psn - job->psn) & BTH_PSN_MASK;

		if (psn_diff(psn, job->psn) > 0 && into >= job->end)
			continue;
		if (psn_diff(psn, job->psn) > 0 && into > job->sent) {
			job->end = into;
			i++;
		}
		resp->n_jobs = i;
	}
	if (resp->n_jobs == 0 && resp->wait_mem) {
		resp->wait_mem = NULL;
		resp->pend_n = 0;
		transport_wait_update(qp);
	}
}

/* The very same response waits still, untouched: the network has doubled the request. */
static bool job_waits(const struct responder *resp, uint32_t psn)
{
	for (uint32_t i = 0; i < resp->n_jobs; i++)
		if (job_at(resp, i)->psn == psn && job_at(resp, i)->sent == 0)
			return true;
	return false;
}

void responder_read_again(struct rnic_qp *qp, const struct bth_packet *pkt)
{
	struct responder *resp = qp->resp;
	uint32_t done = (resp->psn - pkt->psn) & BTH_PSN_MASK;

	if (read_check(qp, pkt) != RESP_OK || read_packets(qp, pkt->dmalen) > done ||
	    job_waits(resp, pkt->psn))
		return;
	jobs_cut(qp, pkt->psn);
	if (room_to_answer_again(resp))
		read_add(qp, pkt, pkt->dmalen, true);
}

void responder_atomic_again(struct rnic_qp *qp, const struct bth_packet *pkt)
{
	struct responder *resp = qp->resp;

	if (job_waits(resp, pkt->psn))
		return;
	for (uint32_t i = 1; i <= resp->job_room; i++) {
		const struct resp_atomic *saved =
			&resp->atomic[(resp->atomic_next - i) % resp->job_room];

		if (!saved->valid || saved->psn != pkt->psn)
			continue;
		jobs_cut(qp, pkt->psn);
		if (room_to_answer_again(resp))
			atomic_add(qp, pkt->psn, saved->orig, true);
		return;
	}
}

/* It has been executed, and must not be again: other writes may have come since. */
void responder_atomic_write_again(struct rnic_qp *qp, const struct bth_packet *pkt)
{
	struct responder *resp = qp->resp;

	if (job_waits(resp, pkt->psn))
		return;
	jobs_cut(qp, pkt->psn);
	if (room_to_answer_again(resp))
		read_add(qp, pkt, 0, true);
}

static enum bth_op read_op_at(const struct resp_job *job, uint32_t k)
{
	if (job->n_psn == 1)
		return BTH_READ_RESPONSE_ONLY;
	if (k == 0)
		return BTH_READ_RESPONSE_FIRST;
	return k + 1 == job->n_psn ? BTH_READ_RESPONSE_LAST : BTH_READ_RESPONSE_MIDDLE;
}

static uint32_t payload_at(const struct rnic_qp *qp, const struct resp_job *job, uint32_t k)
{
	return k + 1 < job->n_psn ? qp->resp->mtu : job->len - k * qp->resp->mtu;
}

static uint32_t packet_len(const struct rnic_qp *qp, const struct resp_job *job, uint32_t k)
{
	uint8_t opcode = BTH_OPCODE(BTH_RC, read_op_at(job, k));
	uint32_t payload = payload_at(qp, job, k);

	return bth_opcode_info(opcode)->headers_len + payload + bth_pad(payload) + BTH_ICRC_LEN;
}

/* How many responses may leave now. What was pending is to be read by the same access. */
static uint32_t responses_allowed(struct rnic_qp *qp, const struct resp_job *job, uint64_t now)
{
	uint32_t left = job->end - job->sent;

	if (qp->resp->pend_n)
		return qp->resp->pend_n < left ? qp->resp->pend_n : left;
	return cc_limited(qp) ? cc_grant(qp, left, packet_len(qp, job, job->sent), now) : left;
}

static void run_shape(const struct rnic_qp *qp, const struct resp_job *job, uint32_t max,
		      struct tx_shape *s)
{
	while (s->n < max && shape_add(s, packet_len(qp, job, job->sent + s->n)))
		;
}

static void headers_write(const struct rnic_qp *qp, const struct resp_job *job, uint32_t k,
			  uint8_t *buf, struct iovec *payload)
{
	struct bth_packet pkt = {
		.opcode = BTH_OPCODE(BTH_RC, read_op_at(job, k)),
		.migreq = true,
		.pkey = 0xffff,
		.dqpn = qp->attr.dest_qpn,
		.psn = psn_add(job->psn, k),
		.syndrome = aeth_syndrome(AETH_ACK, credit_code(qp)),
		.msn = job->msn,
		.payload_len = payload_at(qp, job, k),
	};

	payload->iov_base = bth_encode_frame(&pkt, buf);
	payload->iov_len = pkt.payload_len;
}

/*
 * A duplicate that cannot be answered any more is dropped: it may be a late copy of a READ that its
 * requester has long had, and that was the last to use a key which is gone since.
 */
static void read_failed(struct rnic_qp *qp, const struct resp_job *job, int ret)
{
	uint32_t psn = psn_add(job->psn, job->sent);

	if (job->again)
		job_done(qp->resp);
	else if (ret == -ESRCH)
		responder_refuse_read(qp, psn, RESP_GONE);
	else
		responder_refuse_read(qp, psn, ret == -EACCES ? RESP_ACCESS : RESP_OPERATIONAL);
}

static bool read_work(struct rnic_qp *qp, struct resp_job *job, uint64_t now)
{
	const struct rnic_device_config *cfg = &qp->dev->cfg;
	struct rnic_tx tx = {.av = &qp->attr.av,
			     .traffic_class = cc_traffic_class(qp),
			     .qpn = qp->qpn,
			     .flow = qp->resp->flow};
	uint32_t max = responses_allowed(qp, job, now);
	struct tx_shape s = {0};
	struct iovec piece[RNIC_TX_SEGS_MAX];
	struct rnic_mem *mem;
	int ret;

	if (max == 0)
		return false;
	run_shape(qp, job, max, &s);
	tx.len = s.len;
	tx.seg = s.seg;
	tx.head = s.head;
	tx.tail = s.tail;
	tx.data = cfg->ops->tx_alloc(cfg->host, tx.len);
	for (uint32_t i = 0; i < s.n; i++)
		headers_write(qp, job, job->sent + i, tx.data + shape_offset(&s, i), &piece[i]);
	ret = sgl_remote(qp, job->rkey, job->va + (uint64_t)job->sent * qp->resp->mtu, piece, s.n,
			 SGL_READ, &mem);
	qp->resp->pend_n = ret == -EINPROGRESS ? s.n : 0;
	if (ret == -EINPROGRESS) {
		qp->resp->wait_mem = mem;
		transport_wait_update(qp);
		return true;
	}
	if (ret < 0) {
		read_failed(qp, job, ret);
		return true;
	}
	cfg->ops->tx_send(cfg->host, &tx);
	qp->dev->counters.sent_pkts += s.n;
	qp->dev->counters.sent_bytes += tx.len;
	cc_sent(qp, s.n, s.len, now);
	job->sent += s.n;
	if (job->sent == job->end)
		job_done(qp->resp);
	return true;
}

bool responder_job_work(struct rnic_qp *qp, uint64_t now)
{
	struct resp_job *job = job_at(qp->resp, 0);
	struct bth_packet pkt = {
		.opcode = BTH_OPCODE(BTH_RC, BTH_ATOMIC_ACKNOWLEDGE),
		.migreq = true,
		.pkey = 0xffff,
		.dqpn = qp->attr.dest_qpn,
		.psn = job->psn,
		.syndrome = aeth_syndrome(AETH_ACK, credit_code(qp)),
		.msn = job->msn,
		.orig = job->orig,
	};

	if (job->kind == JOB_READ)
		return read_work(qp, job, now);
	responder_packet(qp, &pkt);
	job_done(qp->resp);
	return true;
}
