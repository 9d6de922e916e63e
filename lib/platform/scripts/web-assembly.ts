/** The part of WebAssembly that is used here: the Node types know only its modules, the rest comes with browser types. */
interface Api {
  compile(bytes: Uint8Array): Promise<WebAssembly.Module>;
  readonly RuntimeError: new () => Error;
}

export interface WasmMemory {
  readonly buffer: { readonly byteLength: number };
}

export const wasmApi: Api = Reflect.get(globalThis, "WebAssembly");
