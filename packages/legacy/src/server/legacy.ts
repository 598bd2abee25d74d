import type { ServerExtension } from '@x/exchange'
import { createCallDeps } from './call/call-deps.ts'
import { createHttpAdapter } from './http/http-adapter.ts'
import { createDeps } from './session/deps.ts'
import { resolveLegacyOptions, type LegacyOptions, resolveLegacySettings } from './session/options.ts'
import { createStreamAdapter } from './stdio/stream-adapter.ts'

/** The member that {@link legacy} adds to its server. */
export interface LegacyApi {
  /**
   * The number of answers that came without the `state` of their question (SEP-1685). If it stays 0 for long enough,
   * and the report of a `migratingState` codec has `canAdvance`, the fallback is not needed any more.
   */
  readonly missingEchoCount: number
}

const singleProcessMessage =
  'legacy() seals session ids with a random key of this process: give the server a `state`, with the same keys at every ' +
  'instance'

/**
 * Serves clients of revisions 2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05, on the same endpoint and the same
 * streams as clients of 2026-07-28. Your definitions need no change: handlers that ask their client run again from the
 * top for older clients too. Session ids are sealed with the server's `state`.
 *
 * @example
 * const state = sealedState({ keys: (process.env.STATE_KEYS ?? '').split(',') })
 * const server = createServer({ name: 'demo', version: '1.0.0', state, tools, extensions: [legacy()] })
 *
 * @throws TypeError for an unknown revision, and RangeError for an invalid number of milliseconds.
 */
export function legacy(options: LegacyOptions = {}): ServerExtension<'legacy', LegacyApi> {
  resolveLegacyOptions(options)
  return {
    extends: 'server',
    name: 'legacy',
    identifier: 'x/legacy',
    start(host) {
      const deps = createCallDeps(createDeps(host, resolveLegacySettings(options, host)))
      const httpAdapter = createHttpAdapter(deps)
      const streamAdapter = createStreamAdapter(deps)
      return {
        api: {
          get missingEchoCount() {
            return deps.stateRounds?.missingEchoCount ?? 0
          },
        },
        ...(host.state === undefined && { singleProcess: singleProcessMessage }),
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
