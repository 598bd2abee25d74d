import { once } from 'node:events'
import { createServer } from 'node:net'
import type { ServerExtension } from '@x/exchange'
import { sealedState } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { openLogin } from '../src/authorization/open-login.ts'
import { protectWorkItems, requireWriteScope } from '../src/authorization/protect-work-items.ts'
import { servePageWithLogin } from '../src/authorization/serve-page-with-login.ts'
import { readConfiguration } from '../src/configuration.ts'
import { createWorkItemsServer } from '../src/server/create-work-items-server.ts'
import { emulated } from '../src/testing/emulated.ts'
import type { ServedPage } from './served-page.ts'

/** Serves a built page beside a server that requires a token of its own authorization server. */
export async function serveProtected(root: string): Promise<ServedPage> {
  const azure = await emulated()
  // The address is part of the tokens, so it has to be known before there is anything to serve.
  const port = await findFreePort()
  const login = await openLogin(`http://127.0.0.1:${port}/mcp`, { dpop: false })
  const { authorization } = readConfiguration(login.environment)
  if (authorization?.pageClient === undefined) throw new Error('the page should have a client')
  const state = sealedState({ keys: [crypto.getRandomValues(new Uint8Array(32))] })
  const server = createWorkItemsServer(azure.azureDevOps, { state, extensions: [requireWriteScope(), showCaller] })
  const http = await serveHttp(server, {
    port,
    onRequest: servePageWithLogin(root, authorization),
    auth: protectWorkItems(authorization, { state }),
  })
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: async () => {
      await http.close()
      await login.stop()
      await azure[Symbol.asyncDispose]()
    },
  }
}

/** Names the caller in the result of each tool, for tests. */
const showCaller: ServerExtension<'caller', undefined> = {
  extends: 'server',
  name: 'caller',
  identifier: 'dev.x/caller',
  middleware: (next) => async (request, call) => {
    const response = await next(request, call)
    if (request.method !== 'tools/call' || !('result' in response)) return response
    const text = `for ${call.principal?.subject ?? 'nobody'}`
    const content = Array.isArray(response.result['content']) ? response.result['content'] : []
    return { ...response, result: { ...response.result, content: [...content, { type: 'text', text }] } }
  },
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return address !== null && typeof address === 'object' ? address.port : 0
}
