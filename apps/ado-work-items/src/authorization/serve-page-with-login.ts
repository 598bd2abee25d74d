import { type PageHandler, servePage } from '@apps/front/serve-page'
import { documentHandler } from '@x/transport-http/node'
import type { Authorization } from '../configuration.ts'

/**
 * Creates the handler of the page in `folder`, if there is one. It also serves `/login.json`, from which the page reads
 * the authorization server.
 */
export function servePageWithLogin(folder: string | undefined, authorization?: Authorization): PageHandler {
  const serveLogin = documentHandler({
    documents: { '/login.json': { body: describeLogin(authorization), maxAge: 0 } },
  })
  if (folder === undefined) return serveLogin
  const serveFile = servePage(folder, authorization?.issuers)
  return (request, response) => serveLogin(request, response) || serveFile(request, response)
}

/** Returns the issuer and the client id of the page. Returns an empty object for a server without a login. */
function describeLogin({ issuers: [issuer] = [], pageClient: client }: Partial<Authorization> = {}) {
  return issuer !== undefined && client !== undefined ? { issuer, client } : {}
}
