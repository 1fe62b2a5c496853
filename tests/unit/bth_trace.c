/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads a classic pcap file of Ethernet frames and picks out what goes to UDP port 4791. */
#include "config.h"

#include <check.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

#include "bth/packet.h"
#include "bth/wire.h"
#include "bth_trace.h"

const char *const trace_names[] = {
	"bad_rkey",  "bad_rkey_read", "cm_mcast",    "cm_reject",
	"cm_rping",  "cm_rping_ipv6", "cm_ucmatose", "lost_ack",
	"lost_all",  "lost_first",    "lost_last",   "lost_middle",
	"no_access", "out_of_range",  "rc_all_1024", "rc_all_4096",
	"rc_atomic", "rc_ce",	      "rc_imm",	     "rc_inline",
	"rc_ipv6",   "rc_long",	      "rc_send_inv", "rc_small",
	"rc_tclass", "rc_window",     "rc_zero",     "recv_too_small",
	"rnr",	     "uc_all",	      "ud_all",	     NULL,
};

static const uint8_t *udp_find(const uint8_t *eth, size_t caplen, struct trace_packet *pkt)
{
	const uint8_t *ip = eth + 14;
	uint16_t type;

	if (caplen < 14 + 20 + 8)
		return NULL;
	type = wire_get16(eth + 12);
	memset(&pkt->flow, 0, sizeof(pkt->flow));
	pkt->ip_id = 0;
	if (type == 0x0800 && ip[0] == 0x45 && ip[9] == 17) {
		ck_assert_uint_eq(wire_get16(ip + 6), 0x4000);
		pkt->ip_id = wire_get16(ip + 4);
		memcpy(pkt->flow.src, ip + 12, 4);
		memcpy(pkt->flow.dst, ip + 16, 4);
		return ip + 20;
	}
	if (type == 0x86dd && ip[6] == 17 && caplen >= 14 + 40 + 8) {
		pkt->flow.ipv6 = true;
		memcpy(pkt->flow.src, ip + 8, 16);
		memcpy(pkt->flow.dst, ip + 24, 16);
		return ip + 40;
	}
	return NULL;
}

static bool packet_parse(const uint8_t *eth, size_t caplen, struct trace_packet *pkt)
{
	const uint8_t *udp = udp_find(eth, caplen, pkt);

	if (!udp || wire_get16(udp + 2) != BTH_UDP_PORT)
		return false;
	pkt->flow.sport = wire_get16(udp);
	pkt->flow.dport = wire_get16(udp + 2);
	pkt->bth = udp + 8;
	pkt->len = wire_get16(udp + 4) - 8u;
	ck_assert_uint_ge(pkt->len, BTH_LEN + BTH_ICRC_LEN);
	ck_assert_uint_le((size_t)(pkt->bth - eth) + pkt->len, caplen);
	return true;
}

void trace_for_each(const char *name, void (*each)(const struct trace_packet *pkt, void *ctx),
		    void *ctx)
{
	char path[512], err[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *hdr;
	struct trace_packet pkt;
	const uint8_t *data;
	unsigned found = 0;
	pcap_t *pcap;

	snprintf(path, sizeof(path), "%s/%s.pcap", GOLDEN_DIR, name);
	pcap = pcap_open_offline(path, err);
	ck_assert_msg(pcap, "%s", err);
	ck_assert_int_eq(pcap_datalink(pcap), DLT_EN10MB);
	while (pcap_next_ex(pcap, &hdr, &data) == 1) {
		if (!packet_parse(data, hdr->caplen, &pkt))
			continue;
		pkt.time = (uint64_t)hdr->ts.tv_sec * 1000000000 + (uint64_t)hdr->ts.tv_usec * 1000;
		each(&pkt, ctx);
		found++;
	}
	pcap_close(pcap);
	ck_assert_msg(found > 0, "%s has no RoCEv2 packet", path);
}

uint32_t trace_icrc(const struct trace_packet *pkt, uint16_t ip_id)
{
	return icrc_finish(icrc_begin(&pkt->flow, pkt->len, ip_id), pkt->bth,
			   pkt->len - BTH_ICRC_LEN);
}
