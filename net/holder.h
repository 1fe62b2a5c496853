/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who holds a UDP port that we cannot have? */
#ifndef NET_HOLDER_H
#define NET_HOLDER_H

#include <stddef.h>

#include "net/sockaddr.h"

/* Fills in text such as "rnicd (pid 123)"; says so if it cannot be found out. */
void net_holder_find(const union net_sockaddr *sa, char *text, size_t size);

#endif
