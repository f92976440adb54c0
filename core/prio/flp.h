// SPDX-License-Identifier: Apache-2.0
// Fully linear proofs (draft-irtf-cfrg-vdaf section "FLP Specification"; Boneh, Boneh,
// Corrigan-Gibbs, Gilboa, Ishai, CRYPTO 2019). This file describes each measurement type as a
// circuit over field elements and gives the lengths that follow. Private to the core; other code
// uses Prio3.
//
// A circuit accepts a measurement if all of its outputs are zero. It is affine except for calls of
// one gadget, which is always a sum of products of wire pairs:
//
//     Count               Mul                a pair (x, x), called once
//     Sum                 PolyEval(x^2 - x)  a pair (x, x - 1) of which only x is a wire,
//                                            called for every bit
//     SumVec, Histogram,  ParallelSum(Mul)   `chunk` pairs (r^(j+1) x_j, x_j - 1), called for
//     MultihotCountVec                       every chunk of the encoding, each call with its
//                                            own r of the joint randomness
//
// Every gadget has degree two. A proof is therefore the wires' seeds and a polynomial given by 2p-1
// values, where p, a power of two, is above the number of calls. The code computes, uses and drops
// one pair of wires at a time, so the scratch grows with p and not with the measurement.
#ifndef SHOAL_FLP_H
#define SHOAL_FLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shoal_err.h"

// Circuits; the numbers are the draft's algorithm identifiers.
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
    uint32_t bits;   // field elements of a range-checked integer; 0 without one
    uint64_t max; // Sum, SumVec: the largest integer; MultihotCountVec: the largest weight; else 0
    // The derived fields are numbers of field elements, except `calls` and `outputs`.
    uint32_t meas_len, output_len;
    uint32_t calls, wire_len; // calls of the gadget; p, a power of two above calls
    uint32_t arity;           // wires of the gadget; also elements of prover randomness
    uint32_t outputs;         // outputs of the circuit
    uint32_t joint_rand_len, query_rand_len, proof_len, verifier_len;
    // The following fields are 0 in draft 18; VDAF-08 sets them (vdaf08.h).
    bool has_coefficients; // a proof gives the gadget's polynomial by its 2 p - 1
                           // coefficients, not by values
    bool has_powers;       // all calls share one r, whose powers continue from call to call, and
                           // the outputs are reduced by powers of the last element of the joint
                           // randomness, not by the query randomness
} shoal_flp;

// Fills *flp with a circuit and its lengths.
//   length: 1 .. SHOAL_FLP_MEAS_MAX; ignored by Count and Sum
//   max: 1 .. 2^63 - 1 for Sum and SumVec, 1 .. length for MultihotCountVec; ignored by the others
//   chunk: 1 .. meas_len; the proof is shortest near the square root of meas_len; ignored by Count
//   and Sum
// Returns: SHOAL_ERR_ARGUMENT for an unknown circuit; SHOAL_ERR_RANGE for a number outside its
// range, or an encoding above SHOAL_FLP_MEAS_MAX.
shoal_err shoal_flp_init(shoal_flp *flp, shoal_circuit circuit, uint32_t length, uint64_t max,
                         uint32_t chunk) SHOAL_MUST_CHECK;

// Returns: the chunk length whose proof is shortest, among those that use every call for which a
// wire polynomial has room; the largest of several. All parties of a task must use the same chunk
// length; it is part of the task's configuration.
//   meas_len: 1 .. SHOAL_FLP_MEAS_MAX: length (Histogram), length times bits of max (SumVec),
//   length plus bits of max (MultihotCountVec)
uint32_t shoal_flp_best_chunk(uint32_t meas_len);

// Returns: the field elements of scratch that proving or querying needs.
size_t shoal_flp_scratch(const shoal_flp *flp);

#endif
