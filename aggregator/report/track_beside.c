// SPDX-License-Identifier: Apache-2.0
// Reads the data that is printed beside a series; see track_beside.h.
#include "track_beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"
#include "epoch_counts.h"
#include "json_walk.h"
#include "track_simulation.h"

#define SIMULATION_MAX ((size_t)1 << 24) // the largest simulation.json, in bytes

agg_err agg_track_load_truth(double **truth, agg_error *error, const agg_track *track,
                             const char *path)
{
    epoch_counts counts;
    if (agg_track_is_heavy(&track->law))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--truth is for means, which are runs of thresh");
    agg_err err = epoch_counts_load(&counts, error, path);
    if (err != SHOAL_OK) return err;
    *truth = agg_alloc(error, track->n_rows, sizeof **truth);
    err = *truth == NULL ? AGG_ERR_MEMORY
                         : track_truth(*truth, error, &track->recipe, &counts,
                                       track->law.plan.users, (uint32_t)track->n_rows);
    epoch_counts_release(&counts);
    return err;
}

static size_t read_list(double *out, size_t most, const cJSON *array)
{
    size_t n = 0;
    for (const cJSON *item = cJSON_IsArray(array) ? array->child : NULL; item != NULL && n < most;
         item = item->next)
        out[n++] = item->valuedouble;
    return n;
}

// Takes the data that `shoal simulate` wrote beside the epochs; ignores a file of another run.
static agg_err take_simulated(agg_track_simulated *out, double **numbers, agg_error *error,
                              const agg_track *track, const cJSON *root)
{
    size_t n = track->n_rows;
    const char *run = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "run_hash"));
    double devices = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(root, "devices"));
    if (run == NULL || strcmp(run, track->run_hex) != 0 || !(devices >= 1 && devices < 1e15))
        return SHOAL_OK;
    *numbers = agg_alloc(error, 2 * n, sizeof **numbers);
    if (*numbers == NULL) return AGG_ERR_MEMORY;
    out->n_epochs = read_list(*numbers, n, cJSON_GetObjectItemCaseSensitive(root, "votes_spent"));
    size_t n_privacy =
        read_list(*numbers + n, n, cJSON_GetObjectItemCaseSensitive(root, "privacy"));
    out->devices = (uint64_t)devices;
    out->votes_spent = *numbers;
    out->privacy_max = n_privacy > 0 ? (*numbers)[n + n_privacy - 1] : 0;
    return SHOAL_OK;
}

agg_err agg_track_load_simulated(agg_track_simulated *out, double **numbers, agg_error *error,
                                 const agg_track *track, const char *folder)
{
    agg_error unread;
    agg_bytes bytes;
    size_t size = strlen(folder) + sizeof "/simulation.json";
    char *file = agg_alloc(error, size, 1);
    if (file == NULL) return AGG_ERR_MEMORY;
    snprintf(file, size, "%s/simulation.json", folder);
    agg_err err = agg_file_read(&bytes, &unread, file, SIMULATION_MAX);
    if (err == SHOAL_OK) {
        cJSON *root = agg_json_parse(error, (const char *)bytes.data, bytes.len);
        err = root != NULL ? take_simulated(out, numbers, error, track, root)
                           : agg_json_refusal(error);
        if (root == NULL) agg_error_prefix(error, "%s", file);
        cJSON_Delete(root);
        free(bytes.data);
    } else {
        err = SHOAL_OK; // without the file the run is not a simulation
    }
    free(file);
    return err;
}
