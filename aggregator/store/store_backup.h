// SPDX-License-Identifier: Apache-2.0
// Backups of a store, and what is restored from them.
//
// A backup holds what never changes again: closed blocks, the recipes, and the ids of all batches.
// It leaves out the open blocks and the batches that wait. A restored store starts new blocks of
// its own, with numbers that the lost store never gave.
//
// Privacy. After a backup, the lost store may have closed the open block with more reports in it,
// and answered from it. If the restored store closed the same reports in another block, the two
// answers would differ by fewer reports than the minimum. So no report that was in an open block at
// the time of a backup is ever in a block of the restored store: the blocks of both are the same,
// up to the backup, and share no acknowledged batch after it.
//
// One thing remains: a batch that the lost store took after the backup, and whose sender never
// heard so. It is sent again, and the restored store does not know it. Two answers, one of each
// store, may then differ by whole batches, each of at least batch.minimum reports.
#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "store.h"

typedef struct agg_backed_up {
    int64_t time_s; // when the backup began
    uint64_t recipes, blocks, records;
} agg_backed_up;

// Writes a backup of the store in a folder, whose server may run. The copy is of one moment.
//   path: must not exist; it appears when it is complete and on the disk, with mode 0600
//   now_s: seconds since 1970
// Returns: SHOAL_ERR_VERSION for a store of another version; AGG_ERR_IO also for a damaged store.
// Cost: reads every closed block once. For the time in which the database is read, the write-ahead
// log is not emptied, and the server's folds may wait for some seconds.
agg_err agg_store_backup(agg_backed_up *about, agg_error *error, const char *folder,
                         const char *path, int64_t now_s) SHOAL_MUST_CHECK;

// A restore under way, in "FOLDER.restoring".
typedef struct agg_restore {
    agg_backed_up about;
    agg_store *store; // opened and checked; the caller may remove collections
    char *partial;    // its folder
    const char *folder;
} agg_restore;

// Unpacks a backup beside the folder and checks all of it. What a killed restore left there goes.
//   folder: must not exist, or be empty; outlives the restore
// End with agg_restore_finish or, also after an error, with agg_restore_abandon.
agg_err agg_restore_begin(agg_restore *restore, agg_error *error, const char *path,
                          const char *folder) SHOAL_MUST_CHECK;

// Counts what the store holds, closes it and gives it its name. It appears whole, or not at all.
agg_err agg_restore_finish(agg_restore *restore, agg_error *error) SHOAL_MUST_CHECK;

// Removes everything of an unfinished restore.
void agg_restore_abandon(agg_restore *restore);

#endif
