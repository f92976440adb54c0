// SPDX-License-Identifier: Apache-2.0
// Exports what the reports of a recipe with permanent coins cost. The verdict itself is in
// wasm/client/verdict.js, so that no page loads it before its first event. See exports.h.
#include "exports.h"
#include "recipe.h"
#include "verdict.h"

// Returns: the epsilon of a finished recipe's life from `today` on, in millionths, as verdict.h
// defines it; 0 without such a recipe.
EXPORT(recipe_life) uint64_t export_recipe_life(uint32_t handle, uint32_t today)
{
    const shoal_recipe *r = ready_recipe(handle);
    shoal_promise promise;
    if (!r) return 0;
    shoal_promise_of(&promise, r, today);
    return promise.life.eps_micro;
}

// Returns: the epsilon of a UTC day of a finished recipe, as recipe_life.
EXPORT(recipe_window) uint64_t export_recipe_window(uint32_t handle)
{
    const shoal_recipe *r = ready_recipe(handle);
    shoal_promise promise;
    if (!r) return 0;
    shoal_promise_of(&promise, r, 0);
    return promise.window.eps_micro;
}
