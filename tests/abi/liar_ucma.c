/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands of rdma_cm, nearly right: IDs that listen, connect to one another, and go. */
#include <errno.h>
#include <rdma/rdma_user_cm.h>
#include <string.h>

#include "liar.h"
#include "rig.h"

#define CMD(name, fields, room)                                                                    \
	{                                                                                          \
		RDMA_USER_CM_CMD_##name, fields, room                                              \
	}
#define PARAM "xxPbb" /* struct rdma_ucm_conn_param */

static const struct liar_command commands[] = {
	CMD(CREATE_ID, "URpz", 4),
	CMD(CREATE_ID, "URpz", 4),
	CMD(CREATE_ID, "URpz", 4),
	CMD(BIND_IP, "RSh", 0),
	CMD(BIND, "hzT", 0),
	CMD(RESOLVE_IP, "SShn", 0),
	CMD(RESOLVE_IP, "SShn", 0),
	CMD(RESOLVE_ADDR, "hnzzTT", 0),
	CMD(RESOLVE_ROUTE, "hn", 0),
	CMD(RESOLVE_ROUTE, "hn", 0),
	CMD(QUERY_ROUTE, "Rhz", 272),
	CMD(QUERY, "Rhf", 288),
	CMD(CONNECT, PARAM "hzzz", 0),
	CMD(CONNECT, PARAM "hzzz", 0),
	CMD(LISTEN, "hn", 0),
	CMD(LISTEN, "hn", 0),
	CMD(ACCEPT, "U" PARAM "hzzz", 0),
	CMD(ACCEPT, "U" PARAM "hzzz", 0),
	CMD(REJECT, "hbP", 0),
	CMD(DISCONNECT, "h", 0),
	CMD(INIT_QP_ATTR, "Rhf", 144),
	CMD(GET_EVENT, "R", 328),
	CMD(GET_EVENT, "R", 328),
	CMD(GET_EVENT, "R", 328),
	CMD(GET_EVENT, "R", 328),
	CMD(SET_OPTION, "Ahffn", 0),
	CMD(GET_OPTION, "Rhffn", 4),
	CMD(NOTIFY, "hf", 0),
	CMD(JOIN_IP_MCAST, "RUSh", 4),
	CMD(JOIN_MCAST, "RUhzT", 4),
	CMD(LEAVE_MCAST, "Rhz", 4),
	CMD(MIGRATE_ID, "Rhd", 4),
	CMD(DESTROY_ID, "Rhz", 4),
};

void liar_ucma(int channel)
{
	_Alignas(8) uint8_t buf[sizeof(struct rdma_ucm_cmd_hdr) + LIAR_ROOM];
	const struct liar_command *c = &commands[liar_rnd(sizeof(commands) / sizeof(commands[0]))];
	size_t len = liar_fill(c->fields, buf + sizeof(struct rdma_ucm_cmd_hdr));
	struct rdma_ucm_cmd_hdr hdr = {c->number, (uint16_t)len, c->room};
	int64_t rc;

	liar_spoil(buf + sizeof(hdr), len);
	if (liar_now(20))
		hdr.in = (uint16_t)liar_value();
	if (liar_now(20))
		hdr.out = (uint16_t)liar_value();
	memcpy(buf, &hdr, sizeof(hdr));
	rc = liar_write(channel, buf, sizeof(hdr) + len);
	MUST(rc != -EIO && rc != -EPIPE);
	liar_done += rc >= 0;
}
