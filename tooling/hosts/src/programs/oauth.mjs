// What a program adds to a library whose servers need a login: where tokens are kept, and a page that the browser of the
// user comes back to.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'

/** Connects, and after a login once more. Without a login, the server is called without a provider. */
export async function withLogin({ needsLogin, url }, auth, connect) {
  if (!needsLogin) return connect()
  const { provider, callback } = await createProvider()
  try {
    return await connect(provider)
  } catch {
    const answer = await callback
    await auth(provider, { serverUrl: url, authorizationCode: answer.get('code'), iss: answer.get('iss') })
    return connect(provider)
  }
}

async function createProvider() {
  const page = createServer()
  page.listen(0, '127.0.0.1')
  await once(page, 'listening')
  const redirectUrl = `http://127.0.0.1:${page.address().port}/callback`
  const callback = once(page, 'request').then(([request, response]) => {
    response.end('You can close this page.')
    page.close()
    return new URL(request.url, redirectUrl).searchParams
  })
  const kept = {}
  const provider = {
    redirectUrl,
    clientMetadata: {
      client_name: 'a program',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    codeVerifier: () => kept.verifier,
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    authorizationServerInformation: () => kept.server,
    saveAuthorizationServerInformation: (server) => void (kept.server = server),
    discoveryState: () => kept.discovery,
    saveDiscoveryState: (discovery) => void (kept.discovery = discovery),
    redirectToAuthorization: (page) => void execFile('xdg-open', [String(page)]),
  }
  return { provider, callback }
}
