# SPDX-License-Identifier: Apache-2.0
# core/mechanism/mechanisms.def names every mechanism once. The files of each mechanism follow from
# its stem, so no other list names them.

set(SHOAL_MECHANISMS_DEF ${PROJECT_SOURCE_DIR}/core/mechanism/mechanisms.def)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SHOAL_MECHANISMS_DEF})
file(STRINGS ${SHOAL_MECHANISMS_DEF} rows REGEX "^SHOAL_MECHANISM\\(")
set(SHOAL_MECHANISM_STEMS "")
set(SHOAL_MECHANISM_NAMES "")
foreach(row IN LISTS rows)
    string(REGEX REPLACE "^SHOAL_MECHANISM\\([0-9]+, ([a-z0-9_]+), .*" "\\1" stem "${row}")
    string(REGEX REPLACE ".*\"([a-z0-9-]+)\".*" "\\1" name "${row}")
    list(APPEND SHOAL_MECHANISM_STEMS ${stem})
    list(APPEND SHOAL_MECHANISM_NAMES ${name})
endforeach()

# shoal_mechanism_files(OUT BEFORE AFTER): the list of BEFORE<stem>AFTER.
function(shoal_mechanism_files out before after)
    set(files "")
    foreach(stem IN LISTS SHOAL_MECHANISM_STEMS)
        list(APPEND files ${before}${stem}${after})
    endforeach()
    set(${out} ${files} PARENT_SCOPE)
endfunction()

# The same for core/compound/compounds.def.
set(SHOAL_COMPOUNDS_DEF ${PROJECT_SOURCE_DIR}/core/compound/compounds.def)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SHOAL_COMPOUNDS_DEF})
file(STRINGS ${SHOAL_COMPOUNDS_DEF} rows REGEX "^SHOAL_COMPOUND\\(")
set(SHOAL_COMPOUND_STEMS "")
set(SHOAL_COMPOUND_NAMES "")
foreach(row IN LISTS rows)
    string(REGEX REPLACE "^SHOAL_COMPOUND\\([0-9]+, ([a-z0-9_]+), .*" "\\1" stem "${row}")
    string(REGEX REPLACE ".*\"([a-z0-9-]+)\".*" "\\1" name "${row}")
    list(APPEND SHOAL_COMPOUND_STEMS ${stem})
    list(APPEND SHOAL_COMPOUND_NAMES ${name})
endforeach()

function(shoal_compound_files out before after)
    set(files "")
    foreach(stem IN LISTS SHOAL_COMPOUND_STEMS)
        list(APPEND files ${before}${stem}${after})
    endforeach()
    set(${out} ${files} PARENT_SCOPE)
endfunction()
