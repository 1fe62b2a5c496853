/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Control calls that are disturbed: no answer may be lost, nor come to another call.
 *
 *     storm signals    many threads at once, each interrupted every 100 us
 *     storm cancel     threads that are cancelled in the midst of calls
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

#define THREADS 6
#define ROUNDS 150
#define CANCELS 300 /* more than librnic keeps connections */
#define STORM_NS 100000

static struct rig rig;
static _Atomic uint32_t next_qkey = 1000, interrupted, strays;
static _Thread_local volatile bool in_call;

static void signalled(int sig)
{
	(void)sig;
	interrupted++;
}

/* Some calls whose answers tell to whom they belong. */
static void calls_make(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1}, got;
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp = rig_qp(&rig, IBV_QPT_UD);

	attr.qkey = next_qkey++;
	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	MUST(!ibv_query_qp(qp, &got, IBV_QP_QKEY, &init));
	MUST(got.qkey == attr.qkey);
	MUST(!ibv_destroy_qp(qp));
}

static timer_t storm_begin(void)
{
	struct itimerspec every = {{0, STORM_NS}, {0, STORM_NS}};
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
	timer_t timer;

	ev._sigev_un._tid = (int)syscall(SYS_gettid);
	MUST(!timer_create(CLOCK_MONOTONIC, &ev, &timer));
	MUST(!timer_settime(timer, 0, &every, NULL));
	return timer;
}

static void *stormed(void *arg)
{
	timer_t timer = storm_begin();

	for (int i = 0; i < ROUNDS; i++)
		calls_make();
	MUST(!timer_delete(timer));
	return arg;
}

static void by_signals(void)
{
	struct sigaction action = {.sa_handler = signalled}; /* without SA_RESTART */
	pthread_t thread[THREADS];

	MUST(!sigaction(SIGALRM, &action, NULL));
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(&thread[i], NULL, stormed, NULL));
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_join(thread[i], NULL));
	MUST(interrupted > THREADS);
}

static void cancelled(void *arg)
{
	(void)arg;
	strays += in_call;
}

static void *calls_for_ever(void *arg)
{
	pthread_barrier_wait(arg);
	pthread_cleanup_push(cancelled, NULL);
	for (;;) {
		in_call = true;
		calls_make();
		in_call = false;
		pthread_testcancel();
	}
	pthread_cleanup_pop(0);
	return NULL;
}

static void by_cancel(void)
{
	pthread_barrier_t both;
	unsigned int seed = 1;

	MUST(!pthread_barrier_init(&both, NULL, 2));
	for (int i = 0; i < CANCELS; i++) {
		const struct timespec while_ns = {.tv_nsec = rand_r(&seed) % 400000};
		pthread_t thread;
		void *result;

		MUST(!pthread_create(&thread, NULL, calls_for_ever, &both));
		pthread_barrier_wait(&both);
		nanosleep(&while_ns, NULL); /* to hit another place each time */
		MUST(!pthread_cancel(thread) && !pthread_join(thread, &result));
		MUST(result == PTHREAD_CANCELED);
	}
	MUST(!strays);
	calls_make();
}

int main(int argc, char **argv)
{
	MUST(argc == 2);
	rig_open(&rig);
	if (!strcmp(argv[1], "signals"))
		by_signals();
	else
		by_cancel();
	rig_close(&rig);
	puts("done");
	return 0;
}
