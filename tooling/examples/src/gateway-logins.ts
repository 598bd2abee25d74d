import { userLogin } from '@x/auth/login'
import { loginPages } from '@x/auth/node'
import { protect } from '@x/auth/server'
import { gateway, type GatewayUpstream } from '@x/gateway'
import { connectAny } from '@x/legacy/client'
import { sealedState } from '@x/server'
import { type RedisClient, redisStore } from '@x/state-codec/redis'
import { type HttpServer, serveHttp } from '@x/transport-http/node'

/** The URLs, the keys and the Redis client of one installation. */
export interface Installation {
  readonly origin: string
  readonly port: number
  readonly issuer: string
  readonly crmUrl: string
  readonly redis: RedisClient
  readonly keys: readonly string[]
}

export async function serveCompanyGateway(installation: Installation): Promise<HttpServer> {
  const { origin, port, issuer, crmUrl, redis, keys } = installation
  // #region logins
  const protection = protect({ resource: `${origin}/mcp`, issuers: [issuer], scopes: ['mcp'] })
  const logins = userLogin({
    url: `${origin}/login`,
    protection,
    client: { name: 'Company gateway' },
    store: redisStore(redis),
    keys,
  })
  const crm = {
    connect: ({ auth }) => connectAny(crmUrl, { http: { auth } }),
    credential: logins.credentialFor(crmUrl),
  } satisfies GatewayUpstream
  const server = gateway({ name: 'company', version: '1.0.0', state: sealedState({ keys }), upstreams: { crm } })
  const http = await serveHttp(server, { port, auth: protection, onRequest: loginPages(logins) })
  // #endregion
  return http
}
