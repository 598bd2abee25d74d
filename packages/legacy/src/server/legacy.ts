import type { ServerExtension } from '@x/schema'
import { createDeps } from './deps.ts'
import { createHttpAdapter } from './http/http-adapter.ts'
import { type LegacyOptions, resolveLegacySettings } from './options.ts'
import { createStreamAdapter } from './stdio/stream-adapter.ts'

const localOnlyMessage =
  'legacy() seals session ids with a random key of this process: give it `codec`, with the same keys at every instance'

/** The member that {@link legacy} adds to its server. */
export interface LegacyApi {
  /**
   * The answers that came without the `state` of their question (SEP-1685): 0 for long enough, with `canAdvance` in the
   * report of a `migratingState` codec, says that the fallback is not needed any more.
   */
  readonly missingEchoCount: number
}

/**
 * Serves clients of revisions 2025-11-25, 2025-06-18 and 2025-03-26 beside those of 2026-07-28, at the same endpoint
 * and over the same streams. The definitions of the server stay as they are; handlers that ask run again from the top
 * for older clients too.
 *
 * @example
 * const state = sealedState({ keys: [process.env.STATE_KEY] })
 * const server = createServer({ name: 'demo', version: '1.0.0', state, tools, extensions: [legacy({ codec: state })] })
 *
 * @throws TypeError for a revision that is not known, and RangeError for a number that makes no sense.
 */
export function legacy(options: LegacyOptions = {}): ServerExtension<'legacy', LegacyApi> {
  const settings = resolveLegacySettings(options)
  return {
    side: 'server',
    name: 'legacy',
    identifier: 'x/legacy',
    ...(options.codec === undefined && { localOnly: localOnlyMessage }),
    start(host) {
      const deps = createDeps(host, settings)
      const httpAdapter = createHttpAdapter(deps)
      const streamAdapter = createStreamAdapter(deps)
      return {
        api: {
          get missingEchoCount() {
            return deps.questionStates?.missingEchoCount ?? 0
          },
        },
        adapters: { http: httpAdapter.adapter, stream: streamAdapter.adapter },
        drain: () => httpAdapter.drain(),
        async close() {
          httpAdapter.close()
          streamAdapter.close()
        },
      }
    },
  }
}
