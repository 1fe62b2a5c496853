/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What `rnicctl link add|del|set` asks for, taken from its words. */
#ifndef TOOLS_LINKSPEC_H
#define TOOLS_LINKSPEC_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/port.h"

#define LINK_NAME_MAX 63

/* What a device is bound to: all addresses of an interface, or one address. */
struct link_where {
	bool plain; /* one address */
	uint8_t addr[16];
	char netdev[IFNAMSIZ];
};

enum link_verb { LINK_ADD, LINK_DEL, LINK_SET };

enum link_option {
	LINK_MTU = 1 << 0,
	LINK_GSO = 1 << 1,
	LINK_STATE = 1 << 2,
};

struct link_request {
	enum link_verb verb;
	char name[LINK_NAME_MAX + 1];
	struct link_where where; /* of LINK_ADD */
	uint32_t given;		 /* enum link_option */
	uint32_t mtu;		 /* bytes, one of the five of the IBA; 0: the interface's */
	enum net_gso gso;
	bool up;
};

/* "127.0.0.9", "fd00::1" or the name of an interface. False for what can be neither. */
bool link_where_parse(const char *text, struct link_where *where);
/* IPv4-mapped ones as IPv4; returns text. */
const char *link_addr_text(const uint8_t addr[16], char text[INET6_ADDRSTRLEN]);
/* "auto", "on", "off" */
bool link_gso_parse(const char *text, enum net_gso *gso);
/* argv[0] is "add", "del" or "set". 0, or -EINVAL with a line in err that says what is wrong. */
int link_parse(int argc, char **argv, struct link_request *r, char *err, size_t size);

#endif
