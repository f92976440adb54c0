// SPDX-License-Identifier: Apache-2.0
// The part of workerd's interface that worker.js uses, so that the type check needs no further package.

declare module 'cloudflare:workers' {
  export interface DurableObjectStorage {
    get(key: string): Promise<unknown>;
    put(key: string, value: unknown): Promise<void>;
    deleteAll(): Promise<void>;
    setAlarm(time: number): Promise<void>;
    sync(): Promise<void>;
  }
  export interface DurableObjectState {
    readonly storage: DurableObjectStorage;
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
