// SPDX-License-Identifier: Apache-2.0
import Link from 'next/link';
import { Counting } from './counting';
import './style.css';

export const metadata = { title: 'Next', icons: 'data:,' };

export default function Layout({ children }) {
    return (
        <html lang="en">
            <body>
                <nav>
                    <Link href="/">Start</Link>
                    <Link href="/products/7">A product</Link>
                    <Link href="/about">About</Link>
                </nav>
                <main>
                    {children}
                    <Counting />
                </main>
            </body>
        </html>
    );
}
