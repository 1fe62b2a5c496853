/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An MPI program that looks at each byte it gets: messages of 1 B to 1 MiB around a ring and from
 * all to all, sums, and one-sided access. Compiled by the mpicc of the MPI under test. */
#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGEST (1 << 20)
#define ADDS 50

static int rank, ranks;

static unsigned char byte_of(int sender, int size, int i)
{
	return (unsigned char)(sender * 131 + size * 7 + i + i / 251);
}

static void fill(unsigned char *data, int sender, int size)
{
	for (int i = 0; i < size; i++)
		data[i] = byte_of(sender, size, i);
}

static bool is_from(const unsigned char *data, int sender, int size)
{
	for (int i = 0; i < size; i++)
		if (data[i] != byte_of(sender, size, i))
			return false;
	return true;
}

static bool ring(unsigned char *out, unsigned char *in)
{
	int before = (rank + ranks - 1) % ranks;
	bool good = true;

	for (int size = 1; size <= LARGEST; size *= 2) {
		fill(out, rank, size);
		MPI_Sendrecv(out, size, MPI_BYTE, (rank + 1) % ranks, size, in, size, MPI_BYTE,
			     before, size, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		good = good && is_from(in, before, size);
	}
	return good;
}

static bool all_to_all(unsigned char *out, unsigned char *in)
{
	bool good = true;

	for (int size = 1; size * ranks <= LARGEST; size *= 4) {
		for (int i = 0; i < ranks; i++)
			fill(out + i * size, rank, size);
		MPI_Alltoall(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
		for (int i = 0; i < ranks; i++)
			good = good && is_from(in + i * size, i, size);
	}
	return good;
}

static bool sums(void)
{
	long mine[1000], sum[1000];
	bool good = true;

	for (int i = 0; i < 1000; i++)
		mine[i] = rank + i;
	MPI_Allreduce(mine, sum, 1000, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < 1000; i++)
		good = good && sum[i] == (long)ranks * (ranks - 1) / 2 + (long)ranks * i;
	return good;
}

/* Each writes into its neighbour's memory, and all add to rank 0's counter. */
static bool one_sided(unsigned char *out)
{
	int before = (rank + ranks - 1) % ranks, half = LARGEST / 2;
	long *counter, one = 1, old;
	unsigned char *mine;
	MPI_Win window, counters;
	bool good;

	MPI_Win_allocate(half, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
	MPI_Win_allocate(sizeof(*counter), sizeof(*counter), MPI_INFO_NULL, MPI_COMM_WORLD,
			 &counter, &counters);
	*counter = 0;
	fill(out, rank, half);
	MPI_Win_fence(0, window);
	MPI_Put(out, half, MPI_BYTE, (rank + 1) % ranks, 0, half, MPI_BYTE, window);
	MPI_Win_fence(0, window);
	good = is_from(mine, before, half);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, counters);
	for (int i = 0; i < ADDS; i++) {
		MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, counters);
		MPI_Win_flush(0, counters);
	}
	MPI_Win_unlock_all(counters);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, counters);
		good = good && *counter == (long)ranks * ADDS;
		MPI_Win_unlock(0, counters);
	}
	MPI_Win_free(&counters);
	MPI_Win_free(&window);
	return good;
}

int main(int argc, char **argv)
{
	unsigned char *out = malloc(LARGEST), *in = malloc(LARGEST);
	static const char *const names[] = {"ring", "all to all", "sums", "one-sided"};
	int good[4], all[4];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	good[0] = ring(out, in);
	good[1] = all_to_all(out, in);
	good[2] = sums();
	good[3] = one_sided(out);
	MPI_Allreduce(good, all, 4, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	for (int i = 0; rank == 0 && i < 4; i++)
		printf("%s %s\n", names[i], all[i] ? "good" : "BAD");
	if (rank == 0)
		printf("%d ranks done\n", ranks);
	MPI_Finalize();
	free(in);
	free(out);
	return !(all[0] && all[1] && all[2] && all[3]);
}
