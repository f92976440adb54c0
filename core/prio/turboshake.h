// SPDX-License-Identifier: Apache-2.0
// TurboSHAKE128 (RFC 9861 section 2): an extendable output function, the sponge of FIPS 202 over
// twelve rounds of Keccak-p[1600].
//
// Absorb the message, end it with the domain byte, then squeeze any number of bytes. The split of a
// message or an output into calls does not matter.
// Timing: depends on lengths only.
#ifndef SHOAL_TURBOSHAKE_H
#define SHOAL_TURBOSHAKE_H

#include <stddef.h>
#include <stdint.h>

#define SHOAL_TURBOSHAKE128_RATE 168 // bytes absorbed or squeezed by one permutation

typedef struct shoal_turboshake {
    uint64_t lanes[25];
    uint32_t used; // bytes of the rate absorbed or squeezed since the last permutation
    uint32_t cpu;  // instruction set (prio_cpu.h); _init chooses the machine's best
} shoal_turboshake;

// Starts an empty message.
void shoal_turboshake_init(shoal_turboshake *sponge);
// Appends len bytes to the message. Only before _end.
void shoal_turboshake_absorb(shoal_turboshake *sponge, const uint8_t *bytes, size_t len);

// Ends the message.
//   domain: 0x01 .. 0x7f, RFC 9861's D
void shoal_turboshake_end(shoal_turboshake *sponge, uint8_t domain);

// Writes the next len bytes of the output. Only after _end.
void shoal_turboshake_squeeze(uint8_t *out, size_t len, shoal_turboshake *sponge);

#endif
