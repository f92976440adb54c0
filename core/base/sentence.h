// SPDX-License-Identifier: Apache-2.0
// Sentences that say why a recipe or a policy is refused. A module that pays for bytes carries none
// (SHOAL_WITHOUT_SENTENCES): its host then names the field and says what the error's number means.
// Private to the core.
#ifndef SHOAL_SENTENCE_H
#define SHOAL_SENTENCE_H

#ifdef SHOAL_WITHOUT_SENTENCES
#define SHOAL_SENTENCE(text) ((void)(text), "")
#else
#define SHOAL_SENTENCE(text) (text)
#endif

#endif
