/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A QP whose source address leaves the GID table. */
#include "config.h"

#include <string.h>

#include "rnic_lone.h"

static const uint8_t none[16];
static struct lone l;

static struct rnic_device *device(void)
{
	return l.world.node[0].dev;
}

static void source_goes(void)
{
	rnic_gid_set(device(), 0, none, 0);
}

START_TEST(request_without_its_source_address_is_loc_qp_op_err)
{
	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	source_goes();
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_silent(&l);
	lone_completion(&l.end.send_ring, 0, RNIC_WC_LOC_QP_OP_ERR);
	lone_completion(&l.end.send_ring, 1, RNIC_WC_WR_FLUSH_ERR);
	lone_state(&l, RNIC_QPS_ERR);
	lone_end(&l);
}
END_TEST

START_TEST(read_without_its_source_address_is_loc_qp_op_err)
{
	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	source_goes();
	lone_post(&l, RNIC_WR_READ, 8);
	lone_kick(&l);
	lone_silent(&l);
	lone_completion(&l.end.send_ring, 0, RNIC_WC_LOC_QP_OP_ERR);
	lone_end(&l);
}
END_TEST

START_TEST(request_under_way_fails_when_it_would_be_sent_again)
{
	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_next(&l, BTH_SEND_ONLY, LONE_SQ_PSN);
	source_goes();
	lone_work(&l);
	lone_done(&l.end.send_ring);
	lone_until_timer(&l);
	lone_silent(&l);
	lone_completion(&l.end.send_ring, 0, RNIC_WC_LOC_QP_OP_ERR);
	lone_end(&l);
}
END_TEST

START_TEST(source_address_that_returns_in_another_slot_serves)
{
	uint8_t gid[16];

	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	memcpy(gid, rnic_gid_get(device(), 0), sizeof(gid));
	source_goes();
	rnic_gid_set(device(), 7, gid, 1);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_next(&l, BTH_SEND_ONLY, LONE_SQ_PSN);
	lone_end(&l);
}
END_TEST

START_TEST(slot_that_another_address_took_does_not_serve)
{
	static const uint8_t other[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 99};

	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	rnic_gid_set(device(), 0, other, 1);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_silent(&l);
	lone_completion(&l.end.send_ring, 0, RNIC_WC_LOC_QP_OP_ERR);
	lone_end(&l);
}
END_TEST

START_TEST(datagram_without_its_source_address_is_loc_qp_op_err)
{
	struct sim_end_config cfg = sim_end_default;
	struct rnic_send_wr *wr;

	cfg.type = RNIC_QPT_UD;
	lone_begin(&l, &cfg, RNIC_QPS_RTS);
	wr = lone_post(&l, RNIC_WR_SEND, 8);
	wr->av = sim_av(&l.world, 0, 1);
	memcpy(wr->av.sgid, rnic_gid_get(device(), 0), 16);
	source_goes();
	lone_kick(&l);
	lone_silent(&l);
	lone_completion(&l.end.send_ring, 0, RNIC_WC_LOC_QP_OP_ERR);
	lone_end(&l);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		request_without_its_source_address_is_loc_qp_op_err,
		read_without_its_source_address_is_loc_qp_op_err,
		request_under_way_fails_when_it_would_be_sent_again,
		source_address_that_returns_in_another_slot_serves,
		slot_that_another_address_took_does_not_serve,
		datagram_without_its_source_address_is_loc_qp_op_err,
	};

	return fixture_run("rnic source", tests, sizeof(tests) / sizeof(tests[0]));
}
