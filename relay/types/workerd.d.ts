// SPDX-License-Identifier: Apache-2.0
// The part of workerd's interface that worker.js uses, so that the type check needs no further package.

declare module 'cloudflare:workers' {
  export interface DurableObjectState {
    readonly storage: { setAlarm(time: number): Promise<void> };
  }
  export class DurableObject {
    constructor(ctx: DurableObjectState, env: unknown);
    protected readonly ctx: DurableObjectState;
  }
  export interface DurableObjectNamespace<T> {
    idFromName(name: string): object;
    get(id: object): T;
  }
}
