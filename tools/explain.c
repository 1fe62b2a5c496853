/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A capture file in words: one line for each RoCEv2 packet. */
#include "config.h"

#include <arpa/inet.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bth/packet.h"
#include "bth/print.h"
#include "tools/explain.h"

#define UDP_LEN 8
#define IP_PROTO_UDP 17

struct datagram {
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	const uint8_t *payload;
	size_t len;
};

static unsigned int be16(const uint8_t *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

/* Length of the link header, or -1 if this kind of link is not known. */
static int link_len(int linktype)
{
	switch (linktype) {
	case DLT_EN10MB:
		return 14;
	case DLT_LINUX_SLL:
		return 16;
	case DLT_LINUX_SLL2:
		return 20;
	case DLT_NULL:
		return 4;
	case DLT_RAW:
		return 0;
	default:
		return -1;
	}
}

static bool udp_parse(const uint8_t *p, size_t len, struct datagram *d)
{
	if (len < UDP_LEN || be16(p + 2) != BTH_UDP_PORT)
		return false;
	if (be16(p + 4) >= UDP_LEN && be16(p + 4) < len)
		len = be16(p + 4);
	d->payload = p + UDP_LEN;
	d->len = len - UDP_LEN;
	return true;
}

static bool ip_parse(const uint8_t *p, size_t len, struct datagram *d)
{
	size_t head;

	if (len >= 40 && p[0] >> 4 == 6) {
		inet_ntop(AF_INET6, p + 8, d->src, sizeof(d->src));
		inet_ntop(AF_INET6, p + 24, d->dst, sizeof(d->dst));
		return p[6] == IP_PROTO_UDP && udp_parse(p + 40, len - 40, d);
	}
	if (len < 20 || p[0] >> 4 != 4)
		return false;
	head = (size_t)(p[0] & 15) * 4;
	if (head < 20 || head > len || p[9] != IP_PROTO_UDP)
		return false;
	inet_ntop(AF_INET, p + 12, d->src, sizeof(d->src));
	inet_ntop(AF_INET, p + 16, d->dst, sizeof(d->dst));
	return udp_parse(p + head, len - head, d);
}

static void packet_print(const struct pcap_pkthdr *h, const struct datagram *d)
{
	struct bth_packet pkt;
	char line[256] = "too short for a BTH and an ICRC";

	/* A capture that cut packets short still has their headers. */
	if (d->len >= BTH_LEN + BTH_ICRC_LEN &&
	    bth_decode(d->payload, d->len - BTH_ICRC_LEN, &pkt) == BTH_OK)
		bth_print(line, sizeof(line), &pkt);
	else if (d->len >= BTH_LEN + BTH_ICRC_LEN)
		snprintf(line, sizeof(line), "malformed, or cut short by the capture");
	printf("%lld.%06ld %s > %s  %s\n", (long long)h->ts.tv_sec, (long)h->ts.tv_usec, d->src,
	       d->dst, line);
}

int explain_capture(const char *path)
{
	char err[PCAP_ERRBUF_SIZE];
	pcap_t *cap = pcap_open_offline(path, err);
	struct pcap_pkthdr *h;
	const uint8_t *data;
	int skip, rc;

	if (!cap) {
		fprintf(stderr, "rnicctl: %s\n", err);
		return -1;
	}
	skip = link_len(pcap_datalink(cap));
	if (skip < 0) {
		fprintf(stderr, "rnicctl: %s: link type %s is not known\n", path,
			pcap_datalink_val_to_name(pcap_datalink(cap)));
		pcap_close(cap);
		return -1;
	}
	while ((rc = pcap_next_ex(cap, &h, &data)) == 1) {
		struct datagram d;

		if (h->caplen > (unsigned int)skip &&
		    ip_parse(data + skip, h->caplen - (unsigned int)skip, &d))
			packet_print(h, &d);
	}
	if (rc == -1)
		fprintf(stderr, "rnicctl: %s: %s\n", path, pcap_geterr(cap));
	pcap_close(cap);
	return rc == -1 ? -1 : 0;
}
