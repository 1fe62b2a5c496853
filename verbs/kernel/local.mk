# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LTLIBRARIES += verbs/kernel/libkernel.la
verbs_kernel_libkernel_la_CFLAGS = $(AM_CFLAGS) -pthread
verbs_kernel_libkernel_la_SOURCES = \
	verbs/kernel/admin.c \
	verbs/kernel/admin.h \
	verbs/kernel/afterlife.c \
	verbs/kernel/afterlife.h \
	verbs/kernel/call.c \
	verbs/kernel/capability.c \
	verbs/kernel/capability.h \
	verbs/kernel/channel.c \
	verbs/kernel/cma_addr.c \
	verbs/kernel/cma_attr.c \
	verbs/kernel/cma_conn.c \
	verbs/kernel/cma_id.c \
	verbs/kernel/cma_mcast.c \
	verbs/kernel/cma_port.c \
	verbs/kernel/cma_query.c \
	verbs/kernel/context.c \
	verbs/kernel/context.h \
	verbs/kernel/context_priv.h \
	verbs/kernel/kernel.c \
	verbs/kernel/kernel.h \
	verbs/kernel/kernel_priv.h \
	verbs/kernel/link.c \
	verbs/kernel/link.h \
	verbs/kernel/listener.c \
	verbs/kernel/netlink.c \
	verbs/kernel/netlink.h \
	verbs/kernel/passed.c \
	verbs/kernel/passed.h \
	verbs/kernel/server.c \
	verbs/kernel/session.c \
	verbs/kernel/session.h \
	verbs/kernel/tree.c \
	verbs/kernel/tree_attr.c \
	verbs/kernel/tree_node.c \
	verbs/kernel/tree_priv.h \
	verbs/kernel/ucma.c \
	verbs/kernel/ucma.h \
	verbs/kernel/ucma_file.c \
	verbs/kernel/owner.c \
	verbs/kernel/owner.h \
	verbs/kernel/ucma_priv.h \
	verbs/kernel/umem.c \
	verbs/kernel/umem_bulk.c \
	verbs/kernel/umem.h \
	verbs/kernel/umem_maps.c \
	verbs/kernel/umem_priv.h \
	verbs/kernel/umem_slow.c \
	verbs/kernel/umem_slow.h \
	verbs/kernel/wake.c \
	$(NULL)
verbs_kernel_libkernel_la_LIBADD = verbs/kernel/libuverbs.la

# The commands and the rings, apart so that their tests can stand in for sessions and processes.
noinst_LTLIBRARIES += verbs/kernel/libuverbs.la
verbs_kernel_libuverbs_la_SOURCES = \
	verbs/kernel/nldev.c \
	verbs/kernel/nldev.h \
	verbs/kernel/nldev_priv.h \
	verbs/kernel/nldev_res.c \
	verbs/kernel/nldev_stat.c \
	verbs/kernel/nlmsg.c \
	verbs/kernel/nlmsg.h \
	verbs/kernel/nodes.c \
	verbs/kernel/nodes.h \
	verbs/kernel/ring_mem.c \
	verbs/kernel/rxe.c \
	verbs/kernel/rxe.h \
	verbs/kernel/rxe_cq.c \
	verbs/kernel/rxe_recv.c \
	verbs/kernel/rxe_ring.c \
	verbs/kernel/rxe_ring.h \
	verbs/kernel/rxe_send.c \
	verbs/kernel/uobject.c \
	verbs/kernel/uverbs.h \
	verbs/kernel/uverbs_advise.c \
	verbs/kernel/uverbs_ah.c \
	verbs/kernel/uverbs_attr.c \
	verbs/kernel/uverbs_attr.h \
	verbs/kernel/uverbs_av.h \
	verbs/kernel/uverbs_cmd.c \
	verbs/kernel/uverbs_context.c \
	verbs/kernel/uverbs_cq.c \
	verbs/kernel/uverbs_device.c \
	verbs/kernel/uverbs_ioctl.c \
	verbs/kernel/uverbs_mcast.c \
	verbs/kernel/uverbs_methods.c \
	verbs/kernel/uverbs_modify_qp.c \
	verbs/kernel/uverbs_mw.c \
	verbs/kernel/uverbs_obj.h \
	verbs/kernel/uverbs_pd_mr.c \
	verbs/kernel/uverbs_priv.h \
	verbs/kernel/uverbs_qp.c \
	verbs/kernel/uverbs_srq.c \
	verbs/kernel/uverbs_write.c \
	$(NULL)
