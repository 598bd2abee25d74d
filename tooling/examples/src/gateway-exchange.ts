import { tokenExchange } from '@x/auth/exchange'
import { protect } from '@x/auth/server'
import { gateway, type GatewayUpstream } from '@x/gateway'
import { connectAny } from '@x/legacy/client'
import { sealedState } from '@x/server'
import { type HttpServer, serveHttp } from '@x/transport-http/node'

/** The URLs, keys and secrets of one installation. */
export interface Installation {
  readonly resource: string
  readonly issuer: string
  readonly crmUrl: string
  readonly secret: string
  readonly keys: readonly string[]
}

export function serveCompanyGateway({ resource, issuer, crmUrl, secret, keys }: Installation): Promise<HttpServer> {
  // #region upstream
  const crm = {
    connect: ({ auth }) => connectAny(crmUrl, { http: { auth } }),
    credential: tokenExchange({ issuer, client: { id: 'gateway', secret } }),
  } satisfies GatewayUpstream
  // #endregion
  const server = gateway({ name: 'company', version: '1.0.0', state: sealedState({ keys }), upstreams: { crm } })
  return serveHttp(server, { auth: protect({ resource, issuers: [issuer] }) })
}
