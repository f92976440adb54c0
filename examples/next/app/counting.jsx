// SPDX-License-Identifier: Apache-2.0
'use client';
import { useEffect, useRef, useState } from 'react';
import { start } from 'shoal-client/loader';
import { observeRoutes } from 'shoal-client/routes';
import views from '../views.json';

/** Asks for consent, counts page views by their routes, and shows what has left the device. */
export function Counting() {
    const client = useRef(null);
    const [state, setState] = useState('');
    const [sent, setSent] = useState([]);

    const show = async () => {
        const shoal = client.current;
        setState(shoal.consent.state);
        setSent(await shoal.reports());
    };

    useEffect(() => {
        // In an effect, because a server has nobody to ask. The layout keeps this component over routes.
        client.current ??= start({ endpoint: 'http://127.0.0.1:8787/', recipes: [views] });
        void show();
        return observeRoutes(views.parameters.values, async (route) => {
            await client.current.record('views', route);
            await client.current.flush(); // so that the list says what came of it
            await show();
        });
    }, []);

    const decide = (decision) => async () => {
        await client.current.consent[decision]();
        await show();
    };

    return (
        <>
            <section aria-labelledby="ask">
                <h2 id="ask">May we count which pages are read?</h2>
                <p>
                    Your device changes each answer at random before it sends it, so nobody can be
                    sure which page you read. Many answers together still show which pages are read
                    most.
                </p>
                <p className="choices">
                    <button id="yes" onClick={decide('grant')}>
                        Yes, count them
                    </button>
                    <button id="no" onClick={decide('withdraw')}>
                        No
                    </button>
                </p>
                <p role="status">{state && `Consent: ${state}`}</p>
            </section>
            <section aria-labelledby="left">
                <h2 id="left">What has left this device</h2>
                <ul id="sent">
                    {sent.map(({ at, state: what, report }, i) => (
                        <li
                            key={`${at} ${i}`}
                        >{`${report.key}: record ${report.records[0]}, ${what}`}</li>
                    ))}
                </ul>
            </section>
        </>
    );
}
