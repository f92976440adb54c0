// SPDX-License-Identifier: Apache-2.0
// Oblivious HTTP and binary HTTP by the Rust crates, one command a line of standard input, one line of
// answer each. Keys follow from a seed (the `ikm` of DeriveKeyPair of RFC 9180), so that both sides
// have the same.
//
//   config IKM         the key configuration with key id 1
//   seal CONFIG PATH   as a client: an encapsulated POST of PATH with the content "sealed by rust"
//   opened ANSWER      as that client: status and content of the answer to the last request
//   answer IKM REQUEST as a gateway: "method scheme authority path content" of the request, and after
//                      a space the encapsulated answer, 202 with the content "answered by rust"
use bhttp::{Message, Mode, StatusCode};
use ohttp::{
    hpke::{Aead, Kdf, Kem},
    ClientRequest, ClientResponse, KeyConfig, Server, SymmetricSuite,
};
use std::io::{stdin, BufRead, Cursor};

fn key(ikm: &str) -> KeyConfig {
    let suites = vec![SymmetricSuite::new(Kdf::HkdfSha256, Aead::Aes128Gcm)];
    KeyConfig::derive(1, Kem::X25519Sha256, suites, &hex::decode(ikm).unwrap()).unwrap()
}

fn text(bytes: Option<&[u8]>) -> String {
    String::from_utf8(bytes.unwrap_or_default().to_vec()).unwrap()
}

fn encoded(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.write_bhttp(Mode::KnownLength, &mut bytes).unwrap();
    bytes
}

fn decoded(bytes: &[u8]) -> Message {
    Message::read_bhttp(&mut Cursor::new(bytes)).unwrap()
}

fn main() {
    ohttp::init();
    let mut waiting: Option<ClientResponse> = None;
    for line in stdin().lock().lines().map(Result::unwrap) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["config", ikm] => println!("{}", hex::encode(key(ikm).encode().unwrap())),
            ["seal", config, path] => {
                let host = b"edge.example".to_vec();
                let post = b"POST".to_vec();
                let mut message = Message::request(post, b"https".to_vec(), host, path.into());
                message.put_header("content-type", "text/plain");
                message.write_content(b"sealed by rust");
                let config = hex::decode(config).unwrap();
                let client = ClientRequest::from_encoded_config(&config).unwrap();
                let (request, response) = client.encapsulate(&encoded(&message)).unwrap();
                waiting = Some(response);
                println!("{}", hex::encode(request));
            }
            ["opened", answer] => {
                let client = waiting.take().expect("seal comes first");
                let bytes = client.decapsulate(&hex::decode(answer).unwrap()).unwrap();
                let message = decoded(&bytes);
                let status = message.control().status().unwrap().code();
                println!("{status} {}", text(Some(message.content())));
            }
            ["answer", ikm, request] => {
                let server = Server::new(key(ikm)).unwrap();
                let (bytes, response) = server.decapsulate(&hex::decode(request).unwrap()).unwrap();
                let message = decoded(&bytes);
                let control = message.control();
                let parts = [control.method(), control.scheme(), control.authority(), control.path()];
                let said = parts.map(text).join(" ") + " " + &text(Some(message.content()));
                let mut answer = Message::response(StatusCode::try_from(202u64).unwrap());
                answer.put_header("content-type", "text/plain");
                answer.write_content(b"answered by rust");
                let sealed = response.encapsulate(&encoded(&answer)).unwrap();
                println!("{said} {}", hex::encode(sealed));
            }
            _ => panic!("no such command: {line}"),
        }
    }
}
