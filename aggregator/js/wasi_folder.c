// SPDX-License-Identifier: Apache-2.0
// The working folder of the WASI command. WASI has none: wasi-libc keeps a path that it puts before
// relative names, "/" at first. A host that shares its whole file system says in SHOAL_FOLDER where
// the command was called. WASI builds only.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void enter_folder(void)
{
    const char *folder = getenv("SHOAL_FOLDER");
    if (folder == NULL || chdir(folder) == 0) return;
    perror("shoal: working folder");
    _Exit(5); // input/output
}
