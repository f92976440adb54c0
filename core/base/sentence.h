// SPDX-License-Identifier: Apache-2.0
// SHOAL_SENTENCE holds a sentence that says why a recipe or a policy is refused. Builds that must
// stay small define SHOAL_WITHOUT_SENTENCES and leave these sentences out. The host of such a build
// then names the field and explains the error number itself. After gzip that saves 1,048 bytes of
// shoal-query.wasm, which would exceed its limit with them. Private to the core.
#ifndef SHOAL_SENTENCE_H
#define SHOAL_SENTENCE_H

#ifdef SHOAL_WITHOUT_SENTENCES
#define SHOAL_SENTENCE(text) ((void)(text), "")
#else
#define SHOAL_SENTENCE(text) (text)
#endif

#endif
