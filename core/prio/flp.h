// SPDX-License-Identifier: Apache-2.0
// Fully linear proofs (draft-irtf-cfrg-vdaf section "FLP Specification"; Boneh, Boneh,
// Corrigan-Gibbs, Gilboa, Ishai, CRYPTO 2019): what is measured, as a circuit over field elements,
// and the lengths that follow. Private to the core; Prio3 is the door.
//
// A circuit accepts a measurement where all of its outputs are zero. It is affine but for calls of
// one gadget, which here is always a sum of products of wire pairs:
//
//   Count               Mul                    a pair (x, x), called once
//   Sum                 PolyEval(x^2 - x)      a pair (x, x - 1) of which only x is a wire, called
//   for every bit SumVec, Histogram,  ParallelSum(Mul)       `chunk` pairs (r^(j+1) x_j, x_j - 1),
//   called for every chunk of the encoding, MultihotCountVec                           each call
//   with its own r of the joint randomness
//
// Every gadget has degree two, so a proof is the wires' seeds and a polynomial given by 2 p - 1
// values, where p, a power of two, is above the number of calls. Nobody holds all wires at once: a
// pair is made, used and forgotten, so that the scratch grows with p and not with the measurement.
#ifndef SHOAL_FLP_H
#define SHOAL_FLP_H

#include <stddef.h>
#include <stdint.h>

#include "shoal_err.h"

// The numbers are the draft's algorithm identifiers.
typedef enum shoal_circuit {
    SHOAL_CIRCUIT_COUNT = 1,
    SHOAL_CIRCUIT_SUM = 2,
    SHOAL_CIRCUIT_SUM_VEC = 3,
    SHOAL_CIRCUIT_HISTOGRAM = 4,
    SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC = 5
} shoal_circuit;

#define SHOAL_FLP_MEAS_MAX (1u << 20) // field elements of an encoded measurement

typedef struct shoal_flp {
    shoal_circuit circuit;
    uint32_t length; // elements of a measurement's vector; 1 for Count and Sum
    uint32_t chunk;  // pairs of wires of the gadget; 1 for Count and Sum
    uint32_t bits;   // field elements of a range-checked integer; 0 where there is none
    uint64_t max; // Sum, SumVec: the largest integer; MultihotCountVec: the largest weight; else 0
    // What follows from them: numbers of field elements, but `calls` and `outputs`.
    uint32_t meas_len, output_len;
    uint32_t calls, wire_len; // of the gadget; p, a power of two above calls
    uint32_t arity;           // wires of the gadget, and so prover randomness
    uint32_t outputs;         // of the circuit
    uint32_t joint_rand_len, query_rand_len, proof_len, verifier_len;
    // What VDAF-08 does otherwise (vdaf08.h); 0 in draft 18.
    uint32_t has_coefficients; // 1: a proof gives the gadget's polynomial by its 2 p - 1
                               // coefficients, not by values
    uint32_t has_powers; // 1: r is one for all calls, its powers run on from call to call, and the
                         // outputs are reduced by powers of the last element of the joint
                         // randomness, not by the query's
} shoal_flp;

// Fills *flp.
//   length: 1 .. SHOAL_FLP_MEAS_MAX; ignored by Count and Sum
//   max: 1 .. 2^63 - 1 for Sum and SumVec, 1 .. length for MultihotCountVec; ignored by the others
//   chunk: 1 .. meas_len; near the square root of meas_len the proof is shortest; ignored by Count
//   and Sum
// Returns: SHOAL_ERR_ARGUMENT for an unknown circuit; SHOAL_ERR_RANGE for a number outside, or an
// encoding above the limit
shoal_err shoal_flp_init(shoal_flp *flp, shoal_circuit circuit, uint32_t length, uint64_t max,
                         uint32_t chunk) SHOAL_MUST_CHECK;

// Returns: a chunk length whose proof is shortest, the greatest of several: one that fills the
// calls a wire polynomial has room for. All parties of a task must use one and the same; it is part
// of the task's configuration.
//   meas_len: 1 .. SHOAL_FLP_MEAS_MAX: length (Histogram), length times bits of max (SumVec),
//   length plus bits of max
//             (MultihotCountVec)
uint32_t shoal_flp_best_chunk(uint32_t meas_len);

// Returns: field elements of scratch that proving or querying takes.
size_t shoal_flp_scratch(const shoal_flp *flp);

#endif
