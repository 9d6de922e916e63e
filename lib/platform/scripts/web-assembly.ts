/** The part of WebAssembly that is used here; the Node types declare only its modules, the browser types the rest. */
interface Api {
  compile(bytes: Uint8Array): Promise<WebAssembly.Module>;
  readonly RuntimeError: new () => Error;
}

export interface WasmMemory {
  readonly buffer: { readonly byteLength: number };
}

export const wasmApi = Reflect.get(globalThis, "WebAssembly") as unknown as Api;
