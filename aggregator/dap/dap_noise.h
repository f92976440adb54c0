// SPDX-License-Identifier: Apache-2.0
// Noise of the two servers: each adds the full noise to its share of a batch, so that a released
// sum is differentially private while one of the two is honest, whichever it is. The sum has both
// noises. Reports are exchanged for others in the definition of neighbours: how many there are is
// released exactly.
//
// A batch is given out once, by one kept answer, so its noise is drawn once: asking again shows
// nothing new. A server that lies can leave its own noise out, or add more; it cannot take the
// other's away.
#ifndef DAP_NOISE_H
#define DAP_NOISE_H

#include <stdio.h>

#include "dap_task.h"
#include "dap_vdaf.h"
#include "json_object.h"

#define AGG_DAP_LABEL_MAX 160

// What a task's noise promises and costs.
typedef struct agg_dap_noise_claim {
    const char *type;      // as task files name it
    double epsilon, delta; // of one report in a batch, if one server is honest; delta 0: Laplace
    double standard_error; // of a released sum
    int64_t reach;         // a released sum is within so much of the true one in 95 % of batches
} agg_dap_noise_claim;

// Takes the member `noise` of a task file, whose VDAF was read before. Refuses a member of another
// form, and measurements whose noise would not fit 63 bits.
//   delta: the delta that Gaussian noise states its epsilon for; 0 otherwise
void agg_dap_noise_read(double *delta, agg_object *task_object, shoal_dap_task *task);

// Computes what the noise promises. The epsilon of Laplace noise is the stated one, exactly. That
// of Gaussian noise follows from its concentrated privacy, rho = d^2/(2 variance) with the largest
// Euclidean distance d that one report can move the sums by, at the stated delta, rounded up.
//   task: with noise
void agg_dap_noise_claim_of(agg_dap_noise_claim *claim, const agg_dap_task *task);

// Writes the label that stands beside every figure of a task file.
void agg_dap_noise_label(char label[AGG_DAP_LABEL_MAX], const agg_dap_task *task);

// Prints the label, in red where the sums have no noise at all and the stream is a terminal.
void agg_dap_noise_print_label(FILE *stream, const agg_dap_task *task);

// Adds this server's noise to its share of a batch; nothing for a task without noise.
//   share: agg_dap_output_len bytes
// Returns: AGG_ERR_IO when the system gives no randomness.
agg_err agg_dap_noise_add(uint8_t *share, agg_error *error,
                          const agg_dap_vdaf *vdaf) SHOAL_MUST_CHECK;

// Checks that sums of n reports with noise are possible: none is further outside what n reports add
// up to than noise ever is.
bool agg_dap_noise_is_possible(const shoal_dap_task *task, const int64_t *sums, size_t n_sums,
                               uint64_t n);

#endif
