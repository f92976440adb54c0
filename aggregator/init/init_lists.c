// SPDX-License-Identifier: Apache-2.0
// Lists to begin with. Results are asked for by these; the person replaces them by their own.
#include "init_files.h"

static const char words[] =
    "the\nof\nand\nto\na\nin\nis\nit\nyou\nthat\nhe\nwas\nfor\non\nare\nwith\nas\ni\nhis\nthey\n"
    "be\nat\none\nhave\nthis\nfrom\nor\nhad\nby\nnot\nbut\nwhat\nall\nwere\nwe\nwhen\nyour\ncan\n"
    "said\nthere\nuse\nan\neach\nwhich\nshe\ndo\nhow\ntheir\nif\nwill\nup\nother\nabout\nout\n"
    "many\nthen\nthem\nthese\nso\nsome\nher\nwould\nmake\nlike\nhim\ninto\ntime\nhas\nlook\ntwo\n"
    "more\nwrite\ngo\nsee\nno\nway\ncould\npeople\nmy\nthan\nfirst\nbeen\ncall\nwho\nits\nnow\n"
    "find\nlong\ndown\nday\ndid\nget\ncome\nmade\nmay\npart\nhello\nthanks\nplease\nhelp\nprice\n"
    "order\nsearch\nhome\nopen\nsend\nnew\nbest\nfree\nyes\n";

static const char sites[] =
    "wikipedia.org\nw3.org\nexample.com\nexample.org\nexample.net\ngithub.com\nmozilla.org\n"
    "archive.org\ndebian.org\npython.org\nnodejs.org\nietf.org\neuropa.eu\nwho.int\nun.org\n"
    "bbc.co.uk\nopenstreetmap.org\ncreativecommons.org\narxiv.org\nduckduckgo.com\ngoogle.com\n"
    "youtube.com\nfacebook.com\ninstagram.com\nreddit.com\nlinkedin.com\namazon.com\napple.com\n"
    "microsoft.com\nstackoverflow.com\n";

const char *init_dictionary(init_what what)
{
    return what == INIT_WORDS ? words : what == INIT_SITES ? sites : NULL;
}
