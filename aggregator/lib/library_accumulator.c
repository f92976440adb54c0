// SPDX-License-Identifier: Apache-2.0
// Accumulators of the library: making, merging, reading and writing; see shoal_aggregate.h.
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "library_call.h"

static shoal_agg_accumulator *make(agg_error *error, const shoal_agg_recipe *recipe)
{
    shoal_agg_accumulator *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return NULL;
    made->recipe = library_hold(recipe);
    made->n_threads = 1;
    return made;
}

static void drop(shoal_agg_accumulator *made)
{
    shoal_agg_recipe_free(made->recipe);
    free(made);
}

shoal_agg_code shoal_agg_accumulator_new(shoal_agg_accumulator **accumulator,
                                         const shoal_agg_recipe *recipe, shoal_agg_error *error)
{
    agg_error inner;
    if (accumulator == NULL || recipe == NULL)
        return library_refuse(error, "an accumulator and its recipe are needed");
    shoal_agg_accumulator *made = make(&inner, recipe);
    if (made == NULL) return library_fail(error, AGG_ERR_MEMORY, &inner);
    agg_err err = agg_accumulator_init(&made->acc, &inner, recipe->recipe.recipe);
    if (err == SHOAL_OK)
        *accumulator = made;
    else
        drop(made);
    return library_fail(error, err, &inner);
}

void shoal_agg_accumulator_free(shoal_agg_accumulator *accumulator)
{
    if (accumulator == NULL) return;
    agg_accumulator_release(&accumulator->acc);
    drop(accumulator);
}

void shoal_agg_accumulator_set_threads(shoal_agg_accumulator *accumulator, uint32_t n_threads)
{
    if (accumulator != NULL) accumulator->n_threads = library_threads(n_threads);
}

shoal_agg_code shoal_agg_accumulator_merge(shoal_agg_accumulator *into, shoal_agg_accumulator *from,
                                           shoal_agg_error *error)
{
    agg_error inner;
    if (into == NULL || from == NULL || into == from)
        return library_refuse(error, "two accumulators are needed");
    agg_err err = library_check(into, &inner);
    if (err == SHOAL_OK) err = library_check(from, &inner);
    if (err == SHOAL_OK) err = agg_accumulator_merge(&into->acc, &inner, &from->acc);
    return library_fail(error, err, &inner);
}

// ---- files and bytes ----

// Refuses the name that stands for a stream of the process.
static agg_err check_path(agg_error *error, const char *path)
{
    if (strcmp(path, "-") != 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "\"-\" is no file: there are calls for bytes");
}

shoal_agg_code shoal_agg_accumulator_save(shoal_agg_accumulator *accumulator, const char *path,
                                          shoal_agg_error *error)
{
    agg_error inner;
    library_call call;
    if (accumulator == NULL || path == NULL)
        return library_refuse(error, "an accumulator and a path are needed");
    agg_err err = library_check(accumulator, &inner);
    if (err == SHOAL_OK) err = check_path(&inner, path);
    if (err == SHOAL_OK) err = library_enter(&call, &inner);
    if (err != SHOAL_OK) return library_fail(error, err, &inner);
    err = agg_accumulator_save_by(&accumulator->acc, &inner, path, accumulator->n_threads);
    library_leave(&call);
    return library_fail(error, err, &inner);
}

// Writes an accumulator to memory.
static agg_err write_bytes(shoal_agg_bytes *bytes, agg_error *error, const agg_accumulator *acc)
{
    char *data = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&data, &len);
    if (stream == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    agg_err err = agg_accumulator_write(stream, error, acc);
    if (fclose(stream) != 0 && err == SHOAL_OK)
        err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    if (err == SHOAL_OK)
        *bytes = (shoal_agg_bytes){(uint8_t *)data, len};
    else
        free(data);
    return err;
}

shoal_agg_code shoal_agg_accumulator_to_bytes(shoal_agg_accumulator *accumulator,
                                              shoal_agg_bytes *bytes, shoal_agg_error *error)
{
    agg_error inner;
    if (accumulator == NULL || bytes == NULL)
        return library_refuse(error, "an accumulator and room for bytes are needed");
    agg_err err = library_check(accumulator, &inner);
    if (err == SHOAL_OK) err = write_bytes(bytes, &inner, &accumulator->acc);
    return library_fail(error, err, &inner);
}

static agg_err read_bytes(agg_accumulator *acc, agg_error *error, const uint8_t *bytes, size_t len)
{
    static const char name[] = "accumulator";
    if (len == 0)
        return agg_fail(error, SHOAL_ERR_TRUNCATED, AGG_EXIT_RUNTIME, "%s: has no bytes", name);
    FILE *stream = fmemopen((void *)(uintptr_t)bytes, len, "rb"); // it is only read
    if (stream == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    agg_err err = agg_accumulator_read(acc, error, name, stream);
    fclose(stream);
    return err;
}

// Reads an accumulator from a file, or from bytes where `path` is NULL.
static agg_err load(shoal_agg_accumulator *made, agg_error *error, const char *path,
                    const uint8_t *bytes, size_t len)
{
    library_call call;
    agg_err err = library_enter(&call, error);
    if (err != SHOAL_OK) return err;
    err = path != NULL ? check_path(error, path) : SHOAL_OK;
    if (err == SHOAL_OK)
        err = path != NULL ? agg_accumulator_load(&made->acc, error, path)
                           : read_bytes(&made->acc, error, bytes, len);
    library_leave(&call);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_check_recipe(&made->acc, error, made->recipe->recipe.recipe);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_error_prefix(error, "%s", path != NULL ? path : "accumulator");
    agg_accumulator_release(&made->acc);
    return err;
}

static shoal_agg_code open_accumulator(shoal_agg_accumulator **accumulator,
                                       const shoal_agg_recipe *recipe, const char *path,
                                       const uint8_t *bytes, size_t len, shoal_agg_error *error)
{
    agg_error inner;
    shoal_agg_accumulator *made = make(&inner, recipe);
    if (made == NULL) return library_fail(error, AGG_ERR_MEMORY, &inner);
    agg_err err = load(made, &inner, path, bytes, len);
    if (err == SHOAL_OK)
        *accumulator = made;
    else
        drop(made);
    return library_fail(error, err, &inner);
}

shoal_agg_code shoal_agg_accumulator_load(shoal_agg_accumulator **accumulator,
                                          const shoal_agg_recipe *recipe, const char *path,
                                          shoal_agg_error *error)
{
    if (accumulator == NULL || recipe == NULL || path == NULL)
        return library_refuse(error, "an accumulator, its recipe and a path are needed");
    return open_accumulator(accumulator, recipe, path, NULL, 0, error);
}

shoal_agg_code shoal_agg_accumulator_from_bytes(shoal_agg_accumulator **accumulator,
                                                const shoal_agg_recipe *recipe,
                                                const uint8_t *bytes, size_t len,
                                                shoal_agg_error *error)
{
    if (accumulator == NULL || recipe == NULL || (bytes == NULL && len > 0))
        return library_refuse(error, "an accumulator, its recipe and bytes are needed");
    return open_accumulator(accumulator, recipe, NULL, bytes, len, error);
}

// ---- what it counts ----

uint64_t shoal_agg_accumulator_n(const shoal_agg_accumulator *accumulator)
{
    return accumulator != NULL ? accumulator->acc.n : 0;
}

uint64_t shoal_agg_accumulator_n_claims(const shoal_agg_accumulator *accumulator)
{
    return accumulator != NULL ? accumulator->acc.claims.n : 0;
}

const uint8_t *shoal_agg_accumulator_claims(const shoal_agg_accumulator *accumulator)
{
    return accumulator != NULL && accumulator->acc.claims.n > 0 ? accumulator->acc.claims.ids[0]
                                                                : NULL;
}

uint32_t shoal_agg_accumulator_is_claimed(const shoal_agg_accumulator *accumulator)
{
    return accumulator != NULL && agg_accumulator_is_claimed(&accumulator->acc);
}
