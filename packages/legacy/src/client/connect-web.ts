import { connectTarget } from './connect-any.ts'
import type { AnyConnection, ConnectAnyOptions } from './options.ts'
import type { ServerTarget } from './target.ts'

/**
 * Connects to a server of 2026-07-28, 2025-11-25, 2025-06-18 or 2025-03-26, and detects its revision (basic/versioning,
 * backward compatibility). Give a URL, or the entry `{ url, headers }` of a host's configuration. Calls, questions and
 * subscriptions are the same for all revisions.
 *
 * Only the first request loads the transport. Throws a `TypeError` for a target or an option that does not exist, and
 * for a command, because this platform starts no processes. The exchange rejects with `HttpError` when no response
 * arrives.
 *
 * @example
 * await using connection = connectAny('https://example.com/mcp')
 * const client = createClient(connection, { name: 'host', version: '1.0.0', elicit, roots })
 */
export function connectAny(target: ServerTarget, options: ConnectAnyOptions = {}): AnyConnection {
  return connectTarget(target, options, undefined)
}
