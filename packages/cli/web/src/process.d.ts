/** The parts of Node that packages look for on any platform. A browser has none of them. */
// oxlint-disable-next-line no-var -- only a var is a property of globalThis
declare var process:
  | {
      readonly stderr?: { on?(event: 'error', listener: () => void): unknown }
      readonly versions?: { readonly node: string }
      getBuiltinModule?(name: 'node:crypto'): {
        hash(algorithm: 'sha256', value: string | Uint8Array, encoding: 'base64url' | 'hex'): string
      }
      getBuiltinModule?(name: 'node:async_hooks'): {
        AsyncLocalStorage: { snapshot(): <T>(run: () => T) => T }
      }
    }
  | undefined
