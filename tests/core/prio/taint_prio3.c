// SPDX-License-Identifier: Apache-2.0
// Run under valgrind: the measurement is uninitialised memory, so that memcheck reports every
// branch and every index that depends on it while it is sharded, in the library that ships. What is
// made public with the report is declared so: the seed of the joint randomness, which the linker
// hands through this file (-Wl,--wrap=shoal_prio3_joint_seed). With the argument "leak" the program
// branches on the measurement, and valgrind must report it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

#include "prio3_private.h"
#include "vdaf08.h"

enum { MOST = 1 << 14 };

void __real_shoal_prio3_joint_seed(uint8_t *seed, const shoal_prio3 *prio3, shoal_prio3_bytes ctx,
                                   const uint8_t *parts);
void __wrap_shoal_prio3_joint_seed(uint8_t *seed, const shoal_prio3 *prio3, shoal_prio3_bytes ctx,
                                   const uint8_t *parts);

static unsigned n_public;

void __wrap_shoal_prio3_joint_seed(uint8_t *seed, const shoal_prio3 *prio3, shoal_prio3_bytes ctx,
                                   const uint8_t *parts)
{
    __real_shoal_prio3_joint_seed(seed, prio3, ctx, parts);
    uint8_t undefined[SHOAL_XOF_SEED] = {0};
    VALGRIND_GET_VBITS(seed, undefined, sizeof undefined);
    n_public += undefined[0] == 0xff; // it did depend on the measurement
    VALGRIND_MAKE_MEM_DEFINED(seed, SHOAL_XOF_SEED);
}

typedef shoal_err initializer(shoal_prio3 *prio3, const shoal_prio3_parameters *parameters);

static int shard_secret(initializer *init, shoal_prio3_parameters parameters, int leak)
{
    static uint8_t leader[MOST], parts[SHOAL_PRIO3_SHARES_MAX * SHOAL_XOF_SEED], rand[MOST];
    static uint64_t scratch[MOST];
    const uint8_t nonce[SHOAL_PRIO3_NONCE] = {1};
    uint64_t measurement[64] = {1, 1};
    prio3_seeds seeds = {.prove = rand};
    shoal_prio3 prio3;
    if (init(&prio3, &parameters) != SHOAL_OK || shoal_prio3_scratch_words(&prio3) > MOST) return 1;
    for (uint32_t i = 0; i < prio3.shares; i++) {
        seeds.shares[i] = rand + 64 * i;
        seeds.blinds[i] = rand + 64 * i + 32;
    }
    VALGRIND_MAKE_MEM_UNDEFINED(measurement, sizeof measurement);
    if (leak && measurement[0] == 1) puts("leaked");
    prio3_sharder *sharder =
        prio3.element == 8 ? shoal_field64_prio3_shard : shoal_field128_prio3_shard;
    uint64_t is_valid =
        sharder(leader, parts, &prio3, (shoal_prio3_bytes){rand, prio3.ctx_max > 0 ? 9 : 0},
                measurement, nonce, &seeds, scratch);
    VALGRIND_MAKE_MEM_DEFINED(&is_valid, sizeof is_valid); // the one thing that may show
    return !is_valid;
}

int main(int argc, char **argv)
{
    static const shoal_prio3_parameters cases[] = {
        {.circuit = SHOAL_CIRCUIT_COUNT, .shares = 2, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_SUM, .max = 1000, .shares = 3, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_SUM_VEC,
         .length = 5,
         .max = 9,
         .chunk = 4,
         .shares = 2,
         .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_SUM_VEC,
         .length = 5,
         .max = 9,
         .chunk = 4,
         .shares = 2,
         .proofs = 3},
        {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 40, .chunk = 6, .shares = 4, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC,
         .length = 40,
         .max = 5,
         .chunk = 6,
         .shares = 2,
         .proofs = 1},
    };
    static const shoal_prio3_parameters cases_08[] = {
        {.circuit = SHOAL_CIRCUIT_COUNT, .shares = 2, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_SUM, .max = 1023, .shares = 3, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_SUM_VEC,
         .length = 5,
         .max = 15,
         .chunk = 4,
         .shares = 2,
         .proofs = 3},
        {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 40, .chunk = 6, .shares = 4, .proofs = 1},
    };
    int leak = argc > 1 && strcmp(argv[1], "leak") == 0, n_failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        n_failed += shard_secret(shoal_prio3_init, cases[i], leak);
    for (size_t i = 0; i < sizeof cases_08 / sizeof cases_08[0]; i++)
        n_failed += shard_secret(shoal_vdaf08_init, cases_08[i], leak);
    printf("%d failed; %u seeds depended on a measurement and are public\n", n_failed, n_public);
    return n_failed > 0 || (RUNNING_ON_VALGRIND && n_public != 4 + 3);
}
