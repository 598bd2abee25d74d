import { once } from 'node:events'
import { createServer } from 'node:http'
import { nodeHandler, type RequestView } from '@x/transport-http/node'
import { expect, test, vi } from 'vitest'
import { createOfferingServer } from '../testing/offering-server.ts'
import { runCommand } from '../testing/run-command.ts'

test('a server that is used under its own name is no longer waited for under the other one', async ({
  onTestFinished,
}) => {
  const renamed = createServer().listen(0, '127.0.0.1')
  await once(renamed, 'listening')
  const { port } = Object(renamed.address())
  const [url, ownUrl] = [`http://127.0.0.1:${port}/mcp`, `http://localhost:${port}/mcp`]
  const authenticate = async ({ header }: RequestView) => {
    if (header('host')?.startsWith('127.0.0.1') === true) return { status: 401, message: 'no' }
    // More than the time after which a command says what it waits for.
    await vi.advanceTimersByTimeAsync(3000)
    return undefined
  }
  const documents = { '/.well-known/oauth-protected-resource/mcp': { body: { resource: ownUrl } } }
  renamed.on('request', nodeHandler(createOfferingServer(), { auth: { authenticate, documents } }))
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const { code, err } = await runCommand(['call', url, 'fail'])
  renamed.close()
  expect([code, err]).toEqual([5, `mcpx: ${url} calls itself ${ownUrl}, which is used for the login\n`])
})
