// SPDX-License-Identifier: Apache-2.0
// Binary HTTP and encapsulation: the examples of RFC 9292 and RFC 9458 byte for byte, what the Rust crates bhttp and ohttp make and read
// (tests/interop/ohttp), and properties over random messages and damaged ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeRequest, encodeResponse, readResponse } from '../../bindings/binary_http.js';
import { MessageError, decodeRequest, decodeResponse } from '../../bindings/binary_http_reader.js';
import { configurationOf, keyOf } from '../../bindings/encapsulation.js';
import { encapsulate } from '../../client/hpke.js';

/** @param {string} text */
const hex = (text) => new Uint8Array(Buffer.from(text, 'hex'));
/** @param {ArrayBuffer | Uint8Array} bytes */
const hexOf = (bytes) => Buffer.from(/** @type {any} */ (bytes)).toString('hex');
const ascii = (/** @type {string} */ text) => new TextEncoder().encode(text);

// RFC 9292, figures 8, 9, 11 and 13.
const REQUEST =
  '0003474554056874747073000a2f68656c6c6f2e747874406c0a757365722d6167656e74346375726c2f372e31362e33206c69626375726c2f372e31362e33204f70656e' +
  '53534c2f302e392e376c207a6c69622f312e322e3304686f73740f7777772e6578616d706c652e636f6d0f6163636570742d6c616e677561676506656e2c206d690000';
const REQUEST_INDETERMINATE =
  '0203474554056874747073000a2f68656c6c6f2e7478740a757365722d6167656e74346375726c2f372e31362e33206c69626375726c2f372e31362e33204f70656e5353' +
  '4c2f302e392e376c207a6c69622f312e322e3304686f73740f7777772e6578616d706c652e636f6d0f6163636570742d6c616e677561676506656e2c206d690000000000' +
  '0000000000000000';
const RESPONSE_INDETERMINATE =
  '0340660772756e6e696e670a22736c65657020313522004067046c696e6b233c2f7374796c652e6373733e3b2072656c3d7072656c6f61643b2061733d7374796c65046c' +
  '696e6b243c2f7363726970742e6a733e3b2072656c3d7072656c6f61643b2061733d7363726970740040c804646174651d4d6f6e2c203237204a756c2032303039203132' +
  '3a32383a353320474d5406736572766572064170616368650d6c6173742d6d6f6469666965641d5765642c203232204a756c20323030392031393a31353a353620474d54' +
  '04657461671422333461613338372d642d3135363865623030220d6163636570742d72616e6765730562797465730e636f6e74656e742d6c656e67746802353104766172' +
  '790f4163636570742d456e636f64696e670c636f6e74656e742d747970650a746578742f706c61696e003348656c6c6f20576f726c6421204d7920636f6e74656e742069' +
  '6e636c75646573206120747261696c696e672043524c462e0d0a0000';
const RESPONSE_TRAILER =
  '0140c8001d5468697320636f6e74656e7420636f6e7461696e732043524c462e0d0a0d07747261696c65720474657874';

/** @type {import('../../bindings/binary_http.js').BinaryRequest} */
const request = {
  method: 'GET',
  scheme: 'https',
  authority: '',
  path: '/hello.txt',
  fields: [
    ['user-agent', 'curl/7.16.3 libcurl/7.16.3 OpenSSL/0.9.7l zlib/1.2.3'],
    ['host', 'www.example.com'],
    ['accept-language', 'en, mi'],
  ],
  content: new Uint8Array(0),
};

test('the requests of RFC 9292', () => {
  assert.equal(hexOf(encodeRequest(request)), REQUEST);
  for (const text of [REQUEST, REQUEST_INDETERMINATE])
    assert.deepEqual(decodeRequest(hex(text)), { ...request, trailers: [] });
});

test('the responses of RFC 9292', () => {
  const trailer = {
    informational: [],
    status: 200,
    fields: [],
    content: ascii('This content contains CRLF.\r\n'),
    trailers: /** @type {[string, string][]} */ ([['trailer', 'text']]),
  };
  assert.equal(hexOf(encodeResponse(trailer)), RESPONSE_TRAILER);
  assert.deepEqual(decodeResponse(hex(RESPONSE_TRAILER)), trailer);
  const several = decodeResponse(hex(RESPONSE_INDETERMINATE));
  assert.deepEqual(several.informational, [
    { status: 102, fields: [['running', '"sleep 15"']] },
    {
      status: 103,
      fields: [
        ['link', '</style.css>; rel=preload; as=style'],
        ['link', '</script.js>; rel=preload; as=script'],
      ],
    },
  ]);
  assert.equal(several.status, 200);
  assert.equal(several.fields.length, 8);
  assert.deepEqual(several.fields[3], ['etag', '"34aa387-d-1568eb00"']);
  assert.deepEqual(several.content, ascii('Hello World! My content includes a trailing CRLF.\r\n'));
  // Written with known lengths it is the same message.
  assert.deepEqual(decodeResponse(encodeResponse(several)), several);
});

// RFC 9458, appendix A.
const EXAMPLE = {
  secret: '3c168975674b2fa8e465970b79c8dcf09f1c741626480bd4c6162fc5b6a98e1a',
  configuration:
    '01002031e1f05a740102115220e9af918f738674aec95f54db6e04eb705aae8e79815500080001000100010003',
  request: '00034745540568747470730b6578616d706c652e636f6d012f',
  ephemeral: 'bc51d5e930bda26589890ac7032f70ad12e4ecb37abb1b65b1256c9c48999c73',
  encapsulated:
    '010020000100014b28f881333e7c164ffc499ad9796f877f4e1051ee6d31bad19dec96c208b4726374e469135906992e1268c594d2a10c695d858c40a026e7965e7d86b8' +
    '3dd440b2c0185204b4d63525',
  response: '0140c8',
  answer: 'c789e7151fcba46158ca84b04464910d86f9013e404feea014e7be4a441f234f857fbd',
};

/** The pair of the example's ephemeral key. @param {string} secret */
async function pairOf(secret) {
  const pkcs8 = hex(`302e020100300506032b656e04220420${secret}`);
  const privateKey = await crypto.subtle.importKey('pkcs8', pkcs8, 'X25519', true, ['deriveBits']);
  const { d: _, key_ops: __, ...jwk } = await crypto.subtle.exportKey('jwk', privateKey);
  const publicKey = await crypto.subtle.importKey('jwk', jwk, 'X25519', true, []);
  return { privateKey, publicKey };
}

test("the client's half of RFC 9458's example", async () => {
  const key = keyOf(hex(EXAMPLE.configuration));
  assert.ok(key);
  assert.equal(key.id, 1);
  const whole = encodeRequest({
    method: 'GET',
    scheme: 'https',
    authority: 'example.com',
    path: '/',
    fields: [],
    content: ascii(''),
  });
  // The example leaves out the three empty sections at the end, as a writer may.
  const message = whole.subarray(0, -3);
  assert.equal(hexOf(whole), `${EXAMPLE.request}000000`);
  assert.equal(hexOf(message), EXAMPLE.request);
  const { body, open } = await encapsulate(key, message, await pairOf(EXAMPLE.ephemeral));
  assert.equal(hexOf(body), EXAMPLE.encapsulated);
  const response = await open(hex(EXAMPLE.answer));
  assert.equal(hexOf(response), EXAMPLE.response);
  assert.equal(decodeResponse(response).status, 200);
});

test('key configurations', () => {
  const key = keyOf(hex(EXAMPLE.configuration));
  assert.ok(key);
  assert.equal(hexOf(configurationOf(key)), EXAMPLE.configuration.slice(0, 70) + '000400010001');
  assert.deepEqual(keyOf(configurationOf(key)), key);
  const whole = EXAMPLE.configuration;
  for (const bad of [
    '',
    whole.slice(0, -2),
    whole + '00',
    whole.replace('010020', '010010'), // P-256
    whole.replace('0008000100010001', '0008000100020001'), // AES-256 and ChaCha20
    whole.slice(0, 70) + '0000',
    whole.slice(0, 70) + '0003000100',
  ])
    assert.equal(keyOf(hex(bad)), null, bad);
});

// ---- properties ----

/** mulberry32. @param {number} seed */
function generator(seed) {
  let state = seed >>> 0;
  return (/** @type {number} */ below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** A message, of the lengths at which integers grow too. @param {(below: number) => number} draw */
function messageOf(draw) {
  const text = (/** @type {number} */ n, /** @type {string} */ letters) =>
    Array.from({ length: n }, () => letters[draw(letters.length)]).join('');
  const fields = () =>
    Array.from(
      { length: draw(4) },
      () =>
        /** @type {[string, string]} */ ([
          text(1 + draw(70), 'abz09-_!'),
          text(draw(80), 'aZ0"=\u00e9;'),
        ]),
    );
  const size = [0, 1, 63, 64, 65, 300, 16_383, 16_384, 70_000][draw(9)];
  return {
    method: text(1 + draw(9), 'GETPOST'),
    scheme: 'https',
    authority: text(draw(70), 'a.b:1'),
    path: `/${text(draw(90), 'a/?=%')}`,
    fields: fields(),
    content: Uint8Array.from({ length: size }, () => draw(256)),
    trailers: fields(),
  };
}

const SEEDS = [1, Date.now() % 2 ** 31];
for (const seed of SEEDS) {
  test(`what is written is read again, padded and cut, seed ${seed}`, () => {
    const draw = generator(seed);
    for (let i = 0; i < 300; i++) {
      const wanted = messageOf(draw);
      const bytes = encodeRequest(wanted);
      const padded = encodeRequest(wanted, bytes.length + draw(100));
      assert.deepEqual(decodeRequest(bytes), wanted);
      assert.deepEqual(decodeRequest(padded), wanted);
      const answer = { informational: [], status: 200 + draw(400), ...wanted };
      const { fields, content, trailers, status } = answer;
      assert.deepEqual(decodeResponse(encodeResponse(answer)), {
        informational: [],
        status,
        fields,
        content,
        trailers,
      });
      assert.deepEqual(readResponse(encodeResponse(answer)), { status, fields, content });
      assert.throws(() => decodeResponse(bytes), MessageError, 'a request is no response');
      // A message that is cut is refused, or says what is left of it: whole sections.
      for (let cut = 1; cut < Math.min(bytes.length, 40); cut++) {
        const short = bytes.subarray(0, bytes.length - cut);
        try {
          const left = decodeRequest(short);
          const same = encodeRequest(left);
          assert.deepEqual(same.subarray(0, short.length), short);
          assert.ok(
            same.subarray(short.length).every((byte) => byte === 0),
            'empty sections',
          );
          assert.deepEqual([left.path, left.method], [wanted.path, wanted.method]);
        } catch (error) {
          assert.ok(error instanceof MessageError, String(error));
        }
      }
    }
  });

  test(`damaged and random bytes are read or refused, never anything else, seed ${seed}`, () => {
    const draw = generator(seed + 7);
    const seen = { read: 0, refused: 0 };
    for (let i = 0; i < 3000; i++) {
      const from = hex(
        [REQUEST, REQUEST_INDETERMINATE, RESPONSE_INDETERMINATE, RESPONSE_TRAILER][draw(4)],
      );
      const bytes = draw(4) ? from : Uint8Array.from({ length: draw(60) }, () => draw(256));
      for (let n = draw(3); n >= 0 && bytes.length; n--) bytes[draw(bytes.length)] = draw(256);
      const cut = draw(3) ? bytes : bytes.subarray(0, draw(bytes.length + 1));
      for (const decode of [decodeRequest, decodeResponse, readResponse]) {
        try {
          const read = decode(cut);
          seen.read++;
          if (decode === readResponse) continue; // what it returns goes to Headers, which checks it
          for (const [name, value] of read.fields)
            assert.ok(!/[\r\n\0]/.test(name + value) && name === name.toLowerCase());
        } catch (error) {
          assert.ok(error instanceof MessageError, String(error));
          seen.refused++;
        }
      }
    }
    assert.ok(seen.read > 100 && seen.refused > 1000, JSON.stringify(seen));
  });
}

test('messages that would be read in two ways are refused', () => {
  const field = (/** @type {string} */ name, /** @type {string} */ value) =>
    encodeRequest({ ...request, fields: [[name, value]] });
  for (const [name, value] of [
    ['', 'x'],
    ['Host', 'x'],
    ['a b', 'x'],
    [':path', '/'],
    ['a', ' x'],
    ['a', 'x\r\nb: y'],
    ['a', 'x\0'],
  ])
    assert.throws(
      () => decodeRequest(field(name, value)),
      MessageError,
      JSON.stringify([name, value]),
    );
  assert.throws(() => decodeRequest(hex(`${REQUEST}01`)), MessageError, 'padding that is not zero');
  assert.throws(() => decodeRequest(hex('00ffffffffffffffff')), MessageError);
  assert.throws(() => decodeResponse(hex('014063')), MessageError, 'status 99');
  assert.throws(() => decodeResponse(hex('01425800')), MessageError, 'status 600');
});
