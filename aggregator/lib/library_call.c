// SPDX-License-Identifier: Apache-2.0
// What the files of the library share; see library_call.h.
#include "library_call.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"

agg_err library_enter(library_call *call, agg_error *error)
{
    *call = (library_call){.before = NULL};
    call->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (call->locale == (locale_t)0)
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    call->locale_before = uselocale(call->locale);
    call->before = agg_call_enter(&call->call);
    (void)ERR_set_mark();
    return SHOAL_OK;
}

void library_leave(library_call *call)
{
    (void)ERR_pop_to_mark(); // the thread's list of errors of libcrypto is the caller's
    (void)agg_call_enter(call->before);
    (void)uselocale(call->locale_before);
    freelocale(call->locale);
}

shoal_agg_code library_fail(shoal_agg_error *to, agg_err err, const agg_error *error)
{
    if (err == SHOAL_OK || to == NULL) return err;
    to->code = err;
    to->exit_code = (uint32_t)error->exit_code;
    memcpy(to->text, error->text, sizeof to->text);
    return err;
}

shoal_agg_code library_refuse(shoal_agg_error *to, const char *text)
{
    agg_error error;
    return library_fail(to, agg_fail(&error, SHOAL_ERR_ARGUMENT, AGG_EXIT_USAGE, "%s", text),
                        &error);
}

shoal_agg_recipe *library_hold(const shoal_agg_recipe *recipe)
{
    shoal_agg_recipe *held = (shoal_agg_recipe *)(uintptr_t)recipe; // only its count changes
    atomic_fetch_add(&held->n_users, 1);
    return held;
}

unsigned library_threads(uint32_t n_threads)
{
    if (n_threads == 0) return agg_parallel_cores();
    return n_threads < AGG_THREADS_MAX ? n_threads : AGG_THREADS_MAX;
}

agg_err library_check(const shoal_agg_accumulator *accumulator, agg_error *error)
{
    if (!accumulator->is_broken) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                    "memory ended while records were added to this accumulator: make it anew");
}

const char *shoal_agg_error_name(shoal_agg_code code)
{
    if (code == SHOAL_AGG_OK) return "ok";
    return code == SHOAL_AGG_VERDICT ? "verdict" : agg_err_name(code);
}

void shoal_agg_bytes_free(shoal_agg_bytes *bytes)
{
    if (bytes == NULL) return;
    free(bytes->data);
    *bytes = (shoal_agg_bytes){NULL, 0};
}

const char *shoal_agg_version(void)
{
    return SHOAL_VERSION;
}
