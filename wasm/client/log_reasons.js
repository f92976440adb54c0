// SPDX-License-Identifier: Apache-2.0
// The sentence of each code with which a device refuses a log. No sentence holds a value.

/** @type {{[code: string]: string}} */
export const LOG_REASONS = {
  'log-key':
    'The verifier key of the log is not one of Ed25519, so nothing of the log is believed.',
  'log-no-ed25519':
    'This browser cannot check the signature of the log (Ed25519), so nothing of the log is believed.',
  'log-missing': 'A file of the log could not be fetched.',
  'log-malformed': 'A file of the log has not the form that it should have.',
  'log-truncated': 'A tile of the log is cut off.',
  'log-signature': "The log's head is not signed by the log's key.",
  'log-tampered': "A tile or an entry of the log is not what the log's head says.",
  'log-rolled-back': "The log's head is older than one that this device saw before.",
  'log-fork': "The log's head contradicts one that this device saw before; the cause holds both.",
  'log-serial': 'The key list of the log is older than one that this device saw before.',
  'log-no-keys': 'The log has no key list for today.',
  'not-logged': 'The query is not in the log, so it is not answered.',
};
