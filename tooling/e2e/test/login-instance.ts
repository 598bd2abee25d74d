import type { RequestListener } from 'node:http'
import { connectRedis } from '@tooling/real-servers/redis'
import { userLogin } from '@x/auth/login'
import { loginPages } from '@x/auth/node'
import { protect } from '@x/auth/server'
import { gateway, type GatewayOptions } from '@x/gateway'
import { toolSearch } from '@x/gateway/tool-search'
import { connectAny } from '@x/legacy/client'
import { sealedState } from '@x/state-codec'
import { redisStore } from '@x/state-codec/redis'
import { nodeHandler } from '@x/transport-http/node'

/** The settings that all instances of a gateway share. */
export interface LoginSettings {
  readonly origin: string
  readonly issuer: string
  readonly upstreamUrl: string
  readonly redisPath: string
  readonly keys: readonly string[]
  readonly log: NonNullable<GatewayOptions['log']>
}

/** An instance of a gateway whose users log in at its upstream. */
export interface LoginInstance {
  readonly handle: RequestListener
  close(): Promise<void>
}

export async function createLoginInstance(settings: LoginSettings): Promise<LoginInstance> {
  const { origin, issuer, upstreamUrl, redisPath, keys, log } = settings
  const client = await connectRedis(redisPath)
  const protection = protect({ resource: `${origin}/mcp`, issuers: [issuer], scopes: ['use'] })
  const logins = userLogin({
    url: `${origin}/login`,
    protection,
    client: { name: 'Company gateway' },
    store: redisStore(client),
    keys,
    log,
  })
  const server = gateway({
    name: 'company',
    version: '1.0.0',
    state: sealedState({ keys }),
    upstreams: {
      crm: {
        connect: ({ auth }) => connectAny(upstreamUrl, { http: { auth } }),
        credential: logins.credentialFor(upstreamUrl),
      },
    },
    toolSearch: toolSearch({ directFor: [] }),
    log,
  })
  const [servePages, serveCalls] = [loginPages(logins), nodeHandler(server, { auth: protection })]
  return {
    handle: (request, response) => {
      if (!servePages(request, response)) serveCalls(request, response)
    },
    close: async () => {
      await server.close()
      client.destroy()
    },
  }
}
