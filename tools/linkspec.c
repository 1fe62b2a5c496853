/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The words of `rnicctl link add|del|set`. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/sockaddr.h"
#include "tools/linkspec.h"
#include "verbs/kernel/link.h"

struct parse {
	struct link_request *r;
	char *err;
	size_t size;
	bool has_where;
};

static int refuse(struct parse *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int refuse(struct parse *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->err, p->size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static bool addr_parse(const char *text, uint8_t addr[16])
{
	memset(addr, 0, 16);
	addr[10] = addr[11] = 0xff;
	return inet_pton(AF_INET, text, addr + 12) == 1 || inet_pton(AF_INET6, text, addr) == 1;
}

static bool netdev_parse(const char *text, char netdev[IFNAMSIZ])
{
	size_t len = strlen(text);

	if (!len || len >= IFNAMSIZ || strchr(text, '/') || strchr(text, ' '))
		return false;
	memcpy(netdev, text, len + 1);
	return true;
}

bool link_where_parse(const char *text, struct link_where *where)
{
	memset(where, 0, sizeof(*where));
	where->plain = addr_parse(text, where->addr);
	return where->plain || netdev_parse(text, where->netdev);
}

const char *link_addr_text(const uint8_t addr[16], char text[INET6_ADDRSTRLEN])
{
	if (net_addr_is_v4(addr))
		inet_ntop(AF_INET, addr + 12, text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, addr, text, INET6_ADDRSTRLEN);
	return text;
}

bool link_gso_parse(const char *text, enum net_gso *gso)
{
	static const char *const names[] = {
		[NET_GSO_AUTO] = "auto", [NET_GSO_ON] = "on", [NET_GSO_OFF] = "off"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			*gso = (enum net_gso)i;
			return true;
		}
	return false;
}

static int take_netdev(struct parse *p, const char *text)
{
	if (p->has_where)
		return refuse(p, "one interface or one address is wanted");
	p->has_where = true;
	return netdev_parse(text, p->r->where.netdev)
		       ? 0
		       : refuse(p, "%s is not the name of an interface", text);
}

static int take_addr(struct parse *p, const char *text)
{
	if (p->has_where)
		return refuse(p, "one interface or one address is wanted");
	p->has_where = p->r->where.plain = true;
	return addr_parse(text, p->r->where.addr) ? 0 : refuse(p, "%s is not an address", text);
}

static int take_type(struct parse *p, const char *text)
{
	return strcmp(text, "rxe") ? refuse(p, "type %s: only rxe is known", text) : 0;
}

static int take_mtu(struct parse *p, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	p->r->given |= LINK_MTU;
	if (!strcmp(text, "auto"))
		return 0;
	if (*end || n < 256 || n > 4096 || (n & (n - 1)))
		return refuse(p, "mtu %s: 256, 512, 1024, 2048, 4096 or auto is wanted", text);
	p->r->mtu = (uint32_t)n;
	return 0;
}

static int take_gso(struct parse *p, const char *text)
{
	p->r->given |= LINK_GSO;
	return link_gso_parse(text, &p->r->gso)
		       ? 0
		       : refuse(p, "gso %s: auto, on or off is wanted", text);
}

static int take_state(struct parse *p, const char *text)
{
	p->r->given |= LINK_STATE;
	p->r->up = !strcmp(text, "up");
	return p->r->up || !strcmp(text, "down")
		       ? 0
		       : refuse(p, "state %s: up or down is wanted", text);
}

static const struct word {
	const char *name;
	int (*take)(struct parse *p, const char *value);
	bool add, set; /* belongs to it */
} words[] = {
	{"netdev", take_netdev, .add = true},
	{"addr", take_addr, .add = true},
	{"type", take_type, .add = true},
	{"mtu", take_mtu, .add = true, .set = true},
	{"gso", take_gso, .add = true, .set = true},
	{"state", take_state, .set = true},
};

static int take_pair(struct parse *p, const char *name, const char *value)
{
	enum link_verb verb = p->r->verb;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct word *w = &words[i];

		if (strcmp(w->name, name) ||
		    !(verb == LINK_ADD ? w->add : verb == LINK_SET && w->set))
			continue;
		return value ? w->take(p, value) : refuse(p, "%s wants a value", name);
	}
	return refuse(p, "%s is not known here", name);
}

static int verb_parse(struct parse *p, const char *text)
{
	static const char *const names[] = {
		[LINK_ADD] = "add", [LINK_DEL] = "del", [LINK_SET] = "set"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			p->r->verb = (enum link_verb)i;
			return 0;
		}
	return refuse(p, "link %s: add, del, set or show is wanted", text);
}

static int name_parse(struct parse *p, const char *text)
{
	if (!kernel_link_name_valid(text))
		return refuse(p,
			      "a name has 1 to %d printable characters without '/', '%%' and "
			      "blanks",
			      LINK_NAME_MAX);
	snprintf(p->r->name, sizeof(p->r->name), "%s", text);
	return 0;
}

int link_parse(int argc, char **argv, struct link_request *r, char *err, size_t size)
{
	struct parse p = {.r = r, .err = err, .size = size};
	int rc;

	memset(r, 0, sizeof(*r));
	rc = argc ? verb_parse(&p, argv[0]) : refuse(&p, "add, del, set or show is wanted");
	if (!rc)
		rc = argc > 1 ? name_parse(&p, argv[1])
			      : refuse(&p, "the name of a device is wanted");
	for (int i = 2; !rc && i < argc; i += 2)
		rc = take_pair(&p, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
	if (!rc && r->verb == LINK_ADD && !p.has_where)
		rc = refuse(&p, "netdev INTERFACE or addr ADDRESS is wanted");
	if (!rc && r->verb == LINK_SET && !r->given)
		rc = refuse(&p, "mtu, gso or state is wanted");
	return rc;
}
