// SPDX-License-Identifier: Apache-2.0
// The table of setters; see builder_setters.h.
#include "builder_setters.h"

#include "carried_rows.h"

#define SHOAL_FIELD(...)
#define SHOAL_OWN(tag, modules, path, stem, ...) extern const shoal_setter shoal_##stem##_setter;
#include "recipe_fields.def"
#undef SHOAL_OWN

static const struct {
    const char *path;
    const shoal_setter *setter;
} table[] = {
#define SHOAL_OWN(tag, modules, path, stem, ...)                                                   \
    SHOAL_CARRIED(modules, {path, &shoal_##stem##_setter}, )
#include "recipe_fields.def"
#undef SHOAL_OWN
};
#define TABLE_LEN (sizeof table / sizeof table[0])

const shoal_setter *shoal_setter_of(const char *path, size_t path_len)
{
    for (size_t i = 0; i < TABLE_LEN; i++) {
        size_t n = text_len(table[i].path);
        if (path_len >= n && memcmp(table[i].path, path, n) == 0 &&
            (path_len == n || path[n] == '.'))
            return table[i].setter;
    }
    return NULL;
}

shoal_err shoal_setters_close(shoal_recipe_builder *builder)
{
    shoal_err err = SHOAL_OK;
    for (size_t i = 0; i < TABLE_LEN && err == SHOAL_OK; i++)
        if (table[i].setter->close != NULL) err = table[i].setter->close(builder);
    return err;
}

shoal_err shoal_setters_check(shoal_recipe_builder *builder)
{
    shoal_err err = SHOAL_OK;
    for (size_t i = 0; i < TABLE_LEN && err == SHOAL_OK; i++)
        if (table[i].setter->check != NULL) err = table[i].setter->check(builder);
    return err;
}
