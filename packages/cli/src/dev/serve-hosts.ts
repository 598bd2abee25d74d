import { proxy } from '@x/gateway'
import { legacy } from '@x/legacy'
import { nodeHandler } from '@x/transport-http/node'
import type { DevSession } from './session.ts'

/** Serves hosts of every revision. Their connections are of the newest revision that the server speaks. */
export function serveHosts({ target, calls }: DevSession): {
  readonly handler: ReturnType<typeof nodeHandler>
  close(): Promise<void>
} {
  const server = proxy(
    { connect: () => target.connect('probe') },
    { name: 'mcpx-dev', version: '1.0.0', extensions: [legacy()], use: [calls.hostCalls] },
  )
  return { handler: nodeHandler(server), close: () => server.close() }
}
