import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { clientSessionKey, type Middleware } from '@x/exchange'
import { createServer, sealedState, tool } from '@x/server'
import { httpHandler } from '@x/transport-http'
import { serveStdio } from '@x/transport-stdio'
import { expect, test } from 'vitest'
import { createRpcRequest, createScriptedClient } from '../testing/scripted-client.ts'
import { legacy } from './legacy.ts'

function serve() {
  const sessions: unknown[] = []
  const noting: Middleware = (next) => (request, call) => {
    if (request.method === 'tools/call') sessions.push(call.context.get(clientSessionKey))
    return next(request, call)
  }
  const look = tool('look', { description: 'Returns nothing', run: () => '' })
  const server = createServer({
    name: 'server',
    version: '1.0.0',
    state: sealedState({ keys: [randomBytes(32)] }),
    tools: [look],
    use: [noting],
    extensions: [legacy()],
  })
  return { server, sessions }
}

const callLook = () => createRpcRequest('tools/call', { name: 'look', arguments: {} })

test('the calls of an older session carry its digest, which is neither its id nor that of another session', async () => {
  const { server, sessions } = serve()
  const [ada, grace] = [createScriptedClient(httpHandler(server)), createScriptedClient(httpHandler(server))]
  await ada.initialize()
  await grace.initialize()
  for (const client of [ada, grace, ada]) await client.post(callLook())
  const [first, second, third] = sessions
  expect(first).toMatch(/^[0-9a-f]{64}$/)
  expect([first === second, first === third]).toEqual([false, true])
  expect([ada.sessionId, grace.sessionId]).not.toContain(first)
})

test('each pair of streams is a session', async () => {
  const { server, sessions } = serve()
  for (let index = 0; index < 2; index += 1) {
    const [input, output] = [new PassThrough(), new PassThrough()]
    await using service = serveStdio(server, { input, output })
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'host', version: '1.0.0' } }
    for (const message of [createRpcRequest('initialize', params), callLook(), callLook()]) {
      input.write(`${JSON.stringify(message)}\n`)
      await new Promise((resolve) => output.once('data', resolve))
    }
    await service.close()
    if (index === 0) server.attachHost()
  }
  const [first, second, third] = sessions
  expect([typeof first, first === second, first === third]).toEqual(['string', true, false])
})
