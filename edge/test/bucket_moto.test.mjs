// SPDX-License-Identifier: Apache-2.0
// Batches into moto, another's model of S3, with SHOAL_LONG=1: it is installed from PyPI into build/, which takes 20 s.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { blocks } from '../../tests/docs/markdown.mjs';
import { createBucketSender } from '../bucket.js';
import { createS3Bucket, failureTeller } from '../bucket_s3.js';
import { eventually, freePort, makeRecipe, multiset, newRecord } from './support.mjs';

const MOTO = '5.2.5';
const root = fileURLToPath(new URL('../..', import.meta.url));
const venv = join(root, `build/moto-${MOTO}`);
const options =
  process.env.SHOAL_LONG === '1'
    ? {}
    : { skip: 'SKIPPED: the bucket of another maker (moto) is tried with SHOAL_LONG=1 only' };

/** Runs Python against the bucket and returns what it prints, as JSON. */
function python(url, script, input = null) {
  const program = `
import boto3, json, sys
s3 = boto3.client('s3', endpoint_url='${url}', region_name='us-east-1', aws_access_key_id='a', aws_secret_access_key='b')
given = json.load(sys.stdin)
${script}
`;
  const said = execFileSync(join(venv, 'bin/python'), ['-c', program], {
    input: JSON.stringify(input),
    encoding: 'utf8',
  });
  return JSON.parse(said);
}

const LIST = `
pages = s3.get_paginator('list_objects_v2').paginate(Bucket='lake')
print(json.dumps([one['Key'] for page in pages for one in page.get('Contents', [])]))`;

const READ = `
print(json.dumps(s3.get_object(Bucket='lake', Key=given)['Body'].read().hex()))`;

const PLANT = `
print(json.dumps(s3.put_object(Bucket='lake', Key=given, Body=b'planted')['ETag']))`;

test(
  'moto: two edges put the same batches, others plant, and a rule deletes',
  options,
  async (t) => {
    if (!existsSync(join(venv, 'bin/moto_server'))) {
      execFileSync('python3', ['-m', 'venv', venv]);
      execFileSync(join(venv, 'bin/pip'), ['install', '--quiet', `moto[server]==${MOTO}`]);
    }
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const server = spawn(join(venv, 'bin/moto_server'), ['-H', '127.0.0.1', '-p', String(port)], {
      stdio: 'ignore',
    });
    t.after(() => server.kill());
    await eventually(async () =>
      assert.equal((await fetch(`${url}/lake`, { method: 'PUT' })).status, 200),
    );
    const recipe = await makeRecipe();
    const said = [];
    const say = (text) => said.push(text);
    const edge = (gzip) =>
      createBucketSender({
        bucket: createS3Bucket(
          {
            url: `${url}/lake`,
            region: 'us-east-1',
            credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
          },
          { fetch: globalThis.fetch },
        ),
        gzip,
        say,
        failed: failureTeller(say),
      });
    const batches = Array.from({ length: 20 }, () => {
      const records = Array.from({ length: 5 }, () => recipe.recordFromText(newRecord(recipe)));
      return recipe.sealBatch(Buffer.concat(records), randomBytes(16), 20_780);
    });
    const edges = [edge(false), edge(false)];
    // One after the other, because moto looks for an object and makes it in two steps.
    for (const batch of batches)
      for (const send of [...edges, ...edges])
        assert.deepEqual(await send(batch), { outcome: 'stored' });
    const idOf = (batch) => Buffer.from(recipe.openBatch(batch).id).toString('hex');
    const pathOf = (id) => `${recipe.hash}/2026-11-23/${id.slice(0, 2)}/${id}.batch`;
    const names = batches.map((batch) => pathOf(idOf(batch)));
    assert.deepEqual(multiset(python(url, LIST)), multiset(names));
    const read = (name) => new Uint8Array(Buffer.from(python(url, READ, name), 'hex'));
    for (const [i, name] of names.entries()) {
      if (i % 5 === 0) assert.deepEqual(read(name), batches[i]);
    }

    python(url, PLANT, names[0]);
    assert.deepEqual(await edges[0](batches[0]), { outcome: 'refused', isConflict: true });
    assert.equal(Buffer.from(read(names[0])).toString(), 'planted');
    assert.equal(python(url, LIST).filter((name) => name.startsWith('quarantine/')).length, 1);

    assert.deepEqual(await edge(true)(batches[1]), { outcome: 'stored' });
    assert.deepEqual(new Uint8Array(gunzipSync(read(`${names[1]}.gz`))), batches[1]);

    // The rule of docs/operate.md is one that S3 takes.
    const page = readFileSync(join(root, 'docs/operate.md'), 'utf8');
    const rule = JSON.parse(blocks(page).find(({ info }) => info[1] === 'lifecycle').text);
    const kept = python(
      url,
      `
s3.put_bucket_lifecycle_configuration(Bucket='lake', LifecycleConfiguration=given)
print(json.dumps(s3.get_bucket_lifecycle_configuration(Bucket='lake')['Rules']))`,
      rule,
    );
    assert.deepEqual(kept, rule.Rules, JSON.stringify(kept));
  },
);
