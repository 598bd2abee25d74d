import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { interactionPolicy, Provider } from 'oidc-provider'

/**
 * Starts an authorization server for one resource. `scope` has its scopes, with spaces between them. A user has no
 * password and consents to every request. With several `users`, the login page has a button for each.
 */
export async function startIssuer({ port, resource, scope, users = ['ada'] }) {
  const issuer = `http://localhost:${port}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: [randomUUID()] },
    // Some clients register with the scope of the resource.
    scopes: ['openid', 'offline_access', ...scope.split(' ')],
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    ttl: { AccessToken: 3600, Grant: 3600, IdToken: 300, Interaction: 600, RefreshToken: 3600, Session: 3600 },
    pkce: { required: () => true },
    interactions: { url: (_, { uid }) => `/login/${uid}`, policy: interactionPolicy.base() },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope, audience: resource, accessTokenFormat: 'jwt' }),
      },
    },
  })

  // A real authorization server asks for a password here, and for consent.
  const logIn = async (request, response) => {
    const { params } = await provider.interactionDetails(request, response)
    const chosen = new URL(request.url, issuer).searchParams.get('user')
    const accountId = users.length === 1 ? users[0] : users.find((user) => user === chosen)
    if (accountId === undefined) {
      const buttons = users.map((user) => `<button name="user" value="${user}">${user}</button>`).join(' ')
      return response.setHeader('content-type', 'text/html').end(`<form>Log in as ${buttons}</form>`)
    }
    const grant = new provider.Grant({ accountId, clientId: params.client_id })
    grant.addOIDCScope(`offline_access ${params.scope}`)
    grant.addResourceScope(resource, params.scope)
    const consent = { grantId: await grant.save() }
    await provider.interactionFinished(request, response, { login: { accountId }, consent })
  }
  const handle = provider.callback()
  const server = createServer((request, response) => {
    if (request.url.startsWith('/login/'))
      logIn(request, response).catch(({ message }) => response.writeHead(400).end(message))
    else handle(request, response)
  })
  await new Promise((resolve) => server.listen(port, 'localhost', resolve))
  return { issuer, close: () => server.close().closeAllConnections() }
}
