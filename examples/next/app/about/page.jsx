// SPDX-License-Identifier: Apache-2.0
export default function About() {
    return <h1>About</h1>;
}
