import type { Call, OpenExtension } from './exchange.ts'

/**
 * The same call, with something that handlers find under the identifier of an extension. For functions from exchange to
 * exchange that have more to give than the answer.
 *
 * @example
 * const timed: Exchange = (request, call) => server(request, extendCall(call, 'com.example/deadline', () => deadline))
 */
export function extendCall(call: Call, identifier: string, open: OpenExtension): Call {
  return { ...call, extensions: new Map([...(call.extensions ?? []), [identifier, open]]) }
}

/** What is seen of a call's extensions: a handler's context has it, and what decides who may see a definition. */
export interface ExtensionView {
  /** What an extension gives, by its identifier; undefined without it. The extension's package has a typed way to it. */
  extension(identifier: string): unknown
}

/** The extensions of a call, each opened when it is first asked for. */
export function extensionView({ extensions }: Pick<Call, 'extensions'>): ExtensionView {
  if (extensions === undefined) return noExtensions
  const opened = new Map<string, unknown>()
  return {
    extension(identifier) {
      if (!opened.has(identifier)) opened.set(identifier, extensions.get(identifier)?.())
      return opened.get(identifier)
    },
  }
}

// Hardly any call has an extension, and those that have none share this.
const noExtensions: ExtensionView = { extension: () => undefined }
