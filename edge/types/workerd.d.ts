// SPDX-License-Identifier: Apache-2.0
// The part of workerd's interface that worker.js uses, so that the type check needs no further package.

declare module 'cloudflare:workers' {
  export interface DurableObjectStorage {
    readonly sql: { exec(query: string, ...bindings: any[]): { toArray(): Record<string, any>[] } };
    transactionSync<T>(callback: () => T): T;
    getAlarm(): Promise<number | null>;
    setAlarm(time: number): Promise<void>;
    sync(): Promise<void>;
  }
  export interface DurableObjectState {
    readonly storage: DurableObjectStorage;
    blockConcurrencyWhile<T>(callback: () => Promise<T>): Promise<T>;
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

declare module 'shoal-client/shoal-dap.wasm' {
  const module: WebAssembly.Module;
  export default module;
}

declare module 'shoal-client/shoal-all.wasm' {
  const module: WebAssembly.Module;
  export default module;
}
