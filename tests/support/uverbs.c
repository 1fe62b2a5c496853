/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Each command of rdma/ib_user_verbs.h by write(), and each method of rdma/ib_user_ioctl_cmds.h.
 *
 *     uverbs
 */
#include "uverbs.h"

#include <fcntl.h>
#include <unistd.h>

/* A context by the command, as libraries did before there was the method. */
static void ask_context(void)
{
	struct ib_uverbs_get_context req = {0};
	struct ib_uverbs_get_context_resp resp = {0};
	struct session s = {.fd = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC)};

	MUST(s.fd >= 0);
	WORKS(IB_USER_VERBS_CMD_GET_CONTEXT, !DO(&s, IB_USER_VERBS_CMD_GET_CONTEXT, req, resp) &&
						     resp.num_comp_vectors &&
						     fcntl((int)resp.async_fd, F_GETFD) >= 0);
	MUST(!close((int)resp.async_fd) && !close(s.fd));
}

int main(void)
{
	static struct session s;

	ask_context();
	s.fd = raw_open();
	uverbs_ask_commands(&s);
	uverbs_ask_queue_pairs(&s);
	uverbs_ask_extended(&s);
	uverbs_ask_methods(&s);
	MUST(!close(s.fd));
	return 0;
}
