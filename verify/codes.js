// SPDX-License-Identifier: Apache-2.0
// Everything that can be wrong with an installation: a code, what is wrong, and how to mend it.
// Names in braces are filled in. docs/verify.md shows this table, which scripts/verify-table.mjs
// writes there; verify/test/forty.test.mjs breaks an installation in each of these ways.

/** @typedef {{what: string, mend: string}} Meaning */

/** The parties that answer over HTTP, as sentences call them. @type {Record<string, string>} */
export const PARTIES = {
  page: 'the page',
  edge: 'the edge worker',
  aggregator: 'the aggregator',
  relay: 'the relay',
  issuer: 'the issuer of tokens',
  log: 'the log',
};

/** What can be wrong with each party's address. @type {Record<string, Meaning>} */
const OF_PARTIES = {
  dns: {
    what: 'the name of {party} does not resolve: {detail}',
    mend: 'correct the name in the address, or add a DNS record for it',
  },
  refused: {
    what: '{party} does not answer: {detail}',
    mend: 'start it, and look whether it listens where the address says (its `listen`, the proxy in front)',
  },
  timeout: {
    what: '{party} takes too long: {detail}',
    mend: 'look at its load, and at what the proxy and the firewall in front of it do',
  },
  tls: {
    what: 'browsers refuse the certificate of {party}: {detail}',
    mend: 'get a certificate of a known authority for this name: `certbot certonly -d {host}`, or let Caddy do it',
  },
  certificate: {
    what: 'the certificate of {party} ends soon: {detail}',
    mend: 'renew it: `certbot renew`, and see that this happens by itself',
  },
  http: {
    what: '{party} is reached without TLS: {detail}',
    mend: 'put a TLS proxy in front, and write https in the address',
  },
  redirect: {
    what: '{party} sends elsewhere: {detail}',
    mend: 'write the address it sends to, since the client follows no redirect: {target}',
  },
  path: {
    what: 'there is no {service} at this address: {detail}',
    mend: 'correct the path in the address, or the path that the proxy hands on',
  },
  html: {
    what: 'something else answers in place of {party}: {detail}',
    mend: 'let the proxy hand requests on to {service}; its own pages and its 404 must not answer here',
  },
  clock: {
    what: 'the clock of {party} is wrong: {detail}',
    mend: 'set it by NTP on that machine: `timedatectl set-ntp true`',
  },
  token: {
    what: '{party} refuses the admin token: {detail}',
    mend: 'give the first line of the file that its `admin_token_file` names',
  },
};

/** @type {Record<string, Meaning>} */
const OTHERS = {
  'local-clock': {
    what: 'the clock of this machine is wrong: {detail}',
    mend: 'set it by NTP: `timedatectl set-ntp true`',
  },
  'csp-missing': {
    what: 'the page has no Content-Security-Policy, so a script that is smuggled in could read what people do',
    mend: 'Content-Security-Policy: {csp}',
  },
  'csp-script': {
    what: 'the policy of the page refuses the client: {detail}',
    mend: 'Content-Security-Policy: {csp}',
  },
  'csp-wasm': {
    what: 'the policy of the page refuses WebAssembly',
    mend: 'Content-Security-Policy: {csp}',
  },
  'csp-connect': {
    what: 'the policy of the page refuses requests to {detail}',
    mend: 'Content-Security-Policy: {csp}',
  },
  'mixed-content': {
    what: 'the page is https, but asks for something without TLS, which browsers refuse: {detail}',
    mend: 'write https in that address',
  },
  'client-missing': {
    what: 'files of the client are not there: {detail}',
    mend: 'copy the whole folder node_modules/shoal-client/dist to where the page loads it from',
  },
  'client-changed': {
    what: 'files of the client are not the published ones: {detail}',
    mend: 'copy node_modules/shoal-client/dist again; nothing may minify or rewrite it on the way',
  },
  'client-old': {
    what: 'the client is of another version: {detail}',
    mend: 'install `./shoal-client-{version}.tgz` of a release and copy its dist again, or run the shoal-verify of that version',
  },
  'client-html': {
    what: 'a page answers in place of a module of the client: {detail}',
    mend: 'let the server answer 404 for files that are not there, and copy node_modules/shoal-client/dist',
  },
  'mime-js': {
    what: 'modules have a type that browsers refuse: {detail}',
    mend: 'Content-Type: text/javascript for .js (nginx: `include mime.types;`)',
  },
  'mime-wasm': {
    what: 'WebAssembly has a type that browsers do not compile while it loads: {detail}',
    mend: 'Content-Type: application/wasm for .wasm (nginx: `types { application/wasm wasm; }`)',
  },
  'wasm-blocked': {
    what: 'the browser refuses to compile WebAssembly on the page: {detail}',
    mend: 'Content-Security-Policy: {csp}; also look at policies of the browser (enterprise, lockdown mode)',
  },
  'client-failed': {
    what: 'the client does not start on the page: {detail}',
    mend: 'open the page with the console of the browser; the first error names the file',
  },
  'recipe-missing': {
    what: 'the page names a recipe that is not there: {detail}',
    mend: 'put the file there, or give the address at the edge: {edge}v1/recipes/HASH',
  },
  'recipe-invalid': {
    what: 'what the page names is no recipe: {detail}',
    mend: '`shoal recipe check FILE` says what is wrong; a server that answers with a page sends 404 instead',
  },
  'recipe-hash-page': {
    what: 'the recipe that the page fetches has not the hash that it pins: {detail}',
    mend: '`shoal recipe hash FILE`; write this hash into the page, or restore the file',
  },
  'recipe-hash-edge': {
    what: 'the edge worker collects another recipe of this id: {detail}',
    mend: 'one file for page, edge and aggregator: pin {hash} in `recipes` of edge.json and restart',
  },
  'recipe-not-at-edge': {
    what: 'the edge worker does not collect the recipe: {detail}',
    mend: 'add {"file": "FILE", "hash": "{hash}"} to `recipes` of edge.json and restart',
  },
  'recipe-hash-aggregator': {
    what: 'the aggregator folds another recipe of this id: {detail}',
    mend: 'one file for page, edge and aggregator: name it in `recipes` of aggregator.json and restart',
  },
  'recipe-not-at-aggregator': {
    what: 'the aggregator does not know the recipe: {detail}',
    mend: 'add the file to `recipes` of aggregator.json and restart',
  },
  'recipe-expired': {
    what: 'the last day of the recipe has passed: {detail}',
    mend: '`shoal recipe new` draws up its successor; pin its hash on the page and at the edge',
  },
  'recipe-expires': {
    what: 'the recipe ends soon: {detail}',
    mend: '`shoal recipe new` draws up its successor; pin its hash on the page and at the edge',
  },
  'set-refused': {
    what: "the site's recipe set is not there, or is not the one that the page pins: {detail}",
    mend: '`shoal recipe hash FILE`; write this hash into the page, or restore the file',
  },
  'dictionary-missing': {
    what: 'the aggregator has no dictionary for the recipe, so it shows no result: {detail}',
    mend: 'add {"{recipe}": "FILE.tsv"} to `dictionaries` of aggregator.json and restart',
  },
  'cors-origin': {
    what: 'the edge worker takes no reports from pages of this origin: {detail}',
    mend: 'add "{origin}" to `origins` of edge.json and restart',
  },
  'cors-preflight': {
    what: 'the preflight request of browsers is refused: {detail}',
    mend: 'let the proxy hand OPTIONS on to the edge worker, without asking for a login',
  },
  'cors-headers': {
    what: 'headers are lost on the way from the edge worker to the browser: {detail}',
    mend: 'let the proxy pass Access-Control-* and set none of its own',
  },
  'header-stripped': {
    what: 'headers of reports do not reach the edge worker: {detail}',
    mend: 'let the proxy pass Content-Type and Idempotency-Key (nginx: `proxy_pass_request_headers on;`)',
  },
  'body-limit': {
    what: 'something in front of the edge worker refuses bodies of the size of a report: {detail}',
    mend: 'allow {bytes} bytes at the proxy (nginx: `client_max_body_size 64k;`)',
  },
  'rate-limit': {
    what: 'requests are refused as too many: {detail}',
    mend: 'raise `rate` in edge.json, or the limit of the proxy; set `address_header` behind a proxy, which else is one address for all',
  },
  'edge-full': {
    what: 'the edge worker has no room for reports: {detail}',
    mend: 'free the disk of its `spool`, or raise `store_bytes`; then see why batches are not forwarded. It also takes at most 240 probes an hour: try again in the next',
  },
  'edge-store': {
    what: 'the edge worker cannot store reports: {detail}',
    mend: 'look at the disk and the permissions of its `spool`: `df -h`, `ls -ld`',
  },
  'edge-quarantine': {
    what: 'the aggregator refused batches of the edge worker, which keeps them aside: {detail}',
    mend: "mend the recipe's hash at the aggregator, then: curl -X POST -H 'Authorization: Bearer TOKEN' {edge}v1/quarantine/retry",
  },
  'edge-cannot-forward': {
    what: 'the edge worker cannot deliver batches to the aggregator: {detail}',
    mend: 'look at `aggregator` and `batch_secret_file` of edge.json, and whether that address is reached from its machine',
  },
  'secret-differs': {
    what: 'edge worker and aggregator have different batch secrets: {detail}',
    mend: 'copy the file that `batch_secret_file` of edge.json names to the aggregator, and restart it',
  },
  'secret-unreadable': {
    what: 'the batch secret cannot be used: {detail}',
    mend: '`head -c 24 /dev/urandom | base64 > FILE && chmod 600 FILE`, the same at edge and aggregator',
  },
  'aggregator-damaged': {
    what: 'the store of the aggregator is damaged',
    mend: '`shoal serve --check --config FILE` names the files; docs/operate.md, "Damage"',
  },
  'aggregator-fold-failing': {
    what: 'the aggregator cannot fold what it received: its disk is full, or its store cannot be written',
    mend: '`df -h` and `ls -ld` of the folder `store`; it goes on by itself once there is room',
  },
  'aggregator-store': {
    what: 'the aggregator cannot keep batches: {detail}',
    mend: '`df -h` and `ls -ld` of the folder `store`: it must have room and belong to the user of shoal serve',
  },
  'minimum-batch': {
    what: 'the minimum of a batch is not reached with these visitors: {detail}',
    mend: 'a smaller batch.minimum or a larger batch.max_age_s in a new recipe: `shoal plan` weighs them',
  },
  'minimum-cohort': {
    what: 'the minimum cohort is not reached before the recipe ends: {detail}',
    mend: 'a smaller cohort.minimum or a later last day in a new recipe: `shoal plan` weighs them',
  },
  'relay-gateway': {
    what: 'the relay does not reach the gateway: {detail}',
    mend: 'correct `gateway` in `routes` of relay.json: {edge}ohttp',
  },
  'relay-origin': {
    what: 'the relay takes nothing from pages of this origin: {detail}',
    mend: 'add "{origin}" to `origins` of the route in relay.json and restart',
  },
  'gateway-missing': {
    what: 'the edge worker is no gateway, so nothing comes through the relay',
    mend: '`shoal-edge gateway-key gateway.keys`, then "gateway": {"keys_file": "gateway.keys", ...} in edge.json',
  },
  'gateway-key-log': {
    what: "the log does not list the gateway's key: {detail}",
    mend: '`shoal-edge gateway-key FILE --list` prints the keys; list them in the next `shoal log keys`',
  },
  'log-untrusted': {
    what: 'the log is refused by the client: {detail}',
    mend: '`shoal log check URL` says what is wrong; the key in the page must be that of the log',
  },
  'log-expired': {
    what: 'the key list of the log is over: {detail}',
    mend: '`shoal log keys` with days to come, then publish the folder',
  },
  'issuer-keys': {
    what: 'the issuer has no key for a recipe and today: {detail}',
    mend: '`shoal-issuer keys --keys FILE --recipe HASH:PER_DAY --days 30`, then log the list',
  },
  'config-edge': {
    what: "the edge worker's configuration: {detail}",
    mend: '{mend}',
  },
  'config-aggregator': {
    what: "the aggregator's configuration: {detail}",
    mend: '{mend}',
  },
  'config-relay': {
    what: "the relay's configuration: {detail}",
    mend: '{mend}',
  },
  'probe-refused': {
    what: "the edge worker refuses the probe's report: {detail}",
    mend: 'pin the same probe recipe at edge and page; the answer names what it refuses',
  },
  'probe-not-sent': {
    what: 'the client does not send the probe: {detail}',
    mend: 'the sentence of the client says why',
  },
  'probe-not-taken': {
    what: 'the report was acknowledged, but the edge worker did not count it: {detail}',
    mend: 'another server answers in its place: look where the proxy sends POST /v1/reports',
  },
  'probe-not-forwarded': {
    what: 'the edge worker took the probe and does not forward it: {detail}',
    mend: 'look at `aggregator`, `batch_secret_file` and failures_in_a_row in {edge}metrics',
  },
  'probe-not-folded': {
    what: 'the edge worker forwarded the probe, and the aggregator did not fold it: {detail}',
    mend: 'look at the log of shoal serve; another aggregator may have got it (`aggregator` in edge.json)',
  },
  'probe-no-result': {
    what: 'the probe was folded, and no block with it closed: {detail}',
    mend: 'look at block.tick_s of the probe recipe and at `period` of aggregator.json',
  },
};

/** What the service of a party is called. @type {Record<string, string>} */
export const SERVICES = {
  page: 'page',
  edge: 'shoal-edge',
  aggregator: 'shoal serve',
  relay: 'shoal-relay',
  issuer: 'shoal-issuer',
  log: 'log',
};

/** Codes of one party that make no sense. */
const NEVER = [
  'page-token',
  'issuer-token',
  'log-token',
  'log-clock',
  'issuer-clock',
  'relay-token',
];

/** Every code. @type {Record<string, Meaning>} */
export const CODES = { ...Object.fromEntries(ofParties()), ...OTHERS };

/** @returns {[string, Meaning][]} */
function ofParties() {
  return Object.entries(PARTIES).flatMap(([party, name]) =>
    Object.entries(OF_PARTIES)
      .map(([kind, { what, mend }]) => {
        const vars = { party: name, service: SERVICES[party] };
        const meaning = { what: filled(what, vars), mend: filled(mend, vars) };
        return /** @type {[string, Meaning]} */ ([`${party}-${kind}`, meaning]);
      })
      .filter(([code]) => !NEVER.includes(code)),
  );
}

/**
 * Fills in the names in braces that are given.
 * @param {string} text
 * @param {Record<string, string | number | undefined>} vars
 */
export function filled(text, vars) {
  return text.replace(/\{([a-z]+)\}/g, (whole, name) => String(vars[name] ?? whole));
}
