import { connectTarget } from './connect-any.ts'
import type { AnyConnection, ConnectAnyOptions } from './options.ts'
import type { ServerTarget } from './target.ts'

/**
 * Connects to a server of 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26 or 2024-11-05, and detects its revision
 * (basic/versioning, backward compatibility). Give a URL, or an entry of a host's configuration: `{ url, headers }` or
 * `{ command, args, env, cwd }`. Calls, questions and subscriptions are the same for all revisions.
 *
 * Only the first request loads the transport and starts the process of a command. Throws a `TypeError` for a target or
 * an option that does not exist. The exchange rejects with `HttpError` or `StdioError` when no response arrives.
 *
 * @example
 * await using connection = connectAny({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] })
 * const client = createClient(connection, { name: 'host', version: '1.0.0', elicit, roots })
 */
export function connectAny(target: ServerTarget, options: ConnectAnyOptions = {}): AnyConnection {
  return connectTarget(target, options, () => import('./stdio/stdio-transport.ts'))
}
