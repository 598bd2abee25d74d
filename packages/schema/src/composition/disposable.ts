// TypeScript's lib `es2022` lacks these two, which the language itself (`await using`) and Node 20 have. The declarations are the
// ones of lib `esnext.disposable`, with which they merge.
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol
  }
}

/** A resource that `await using` closes at the end of its scope. */
export interface AsyncResource {
  [Symbol.asyncDispose](): Promise<void>
}
