import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AuthServer, startAuthServer } from '@tooling/auth-server'
import { protect } from '@x/auth/server'
import { nodeHandler } from '@x/transport-http/node'
import { createItemsServer } from '../src/protect.ts'

/** The items server of the guide on a socket, and the authorization server that it trusts. */
export interface ProtectedItems extends AsyncDisposable {
  readonly url: string
  readonly as: AuthServer
}

export async function serveProtectedItems(options: { readonly pages?: boolean } = {}): Promise<ProtectedItems> {
  const http = createHttpServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  const as = await startAuthServer({
    ...options,
    resources: [{ resource: url, scopes: ['items:read', 'items:write'] }],
  })
  http.on(
    'request',
    nodeHandler(createItemsServer(), {
      auth: protect({ resource: url, issuers: [as.issuer], scopes: ['items:read'] }),
    }),
  )
  return {
    url,
    as,
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
      await as.close()
    },
  }
}
