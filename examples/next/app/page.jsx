// SPDX-License-Identifier: Apache-2.0
export default function Start() {
    return <h1>Start</h1>;
}
