import { type PageHandler, servePage } from '@apps/front/serve-page'
import { documentHandler } from '@x/transport-http/node'
import type { Authorization } from '../configuration.ts'

/** Serves the built page of a folder, if there is one, and the document from which the page reads where users log in. */
export function servePageWithLogin(folder: string | undefined, authorization?: Authorization): PageHandler {
  const serveLogin = documentHandler({
    documents: { '/login.json': { body: describeLogin(authorization), maxAge: 0 } },
  })
  if (folder === undefined) return serveLogin
  const serveFile = servePage(folder, authorization?.issuers)
  return (request, response) => serveLogin(request, response) || serveFile(request, response)
}

/** Returns the login server and the client of the page, and an empty object for a server without a login. */
function describeLogin({ issuers: [issuer] = [], pageClient: client }: Partial<Authorization> = {}) {
  return issuer !== undefined && client !== undefined ? { issuer, client } : {}
}
