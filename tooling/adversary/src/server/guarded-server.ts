import { startScriptedAuthServer } from '@tooling/auth-server/scripted'
import { protect, type Protection } from '@x/auth/server'
import { createLedger } from '@x/core'
import { createServer, type ServerDefinition, tool } from '@x/server'
import { setTimeout as sleep } from 'node:timers/promises'
import { guardedResource, maxProofs } from './endpoints.ts'

/** A server that requires tokens, with its authorization server. */
interface GuardedServer {
  readonly server: ReturnType<typeof createServer>
  readonly auth: Protection
  /** Signs a token that is bound to the key of a thumbprint. */
  readonly sign: (jkt: string) => Promise<string>
}

/** The duration of an introspection of a token that begins with `slow`. */
const slowIntrospectionMs = 100

/** Creates a server that requires tokens. Opaque tokens that begin with `good` are active. */
export async function createGuardedServer(about: Pick<ServerDefinition, 'log'>): Promise<GuardedServer> {
  const common = { aud: guardedResource, sub: 'ada', client_id: 'cli', scope: 'items:read' }
  const [opaque, signing] = await Promise.all([startScriptedAuthServer(common), startScriptedAuthServer(common)])
  opaque.answer('/introspect', (request, response) => {
    const { body = '' } = opaque.requests.at(-1) ?? {}
    const isGood = body.includes('token=good')
    // A growing list of requests would look like a memory leak of the server.
    for (const { requests } of [opaque, signing]) (requests as unknown[]).length = 0
    void sleep(body.includes('token=slow') ? slowIntrospectionMs : 0).then(() => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isGood ? { active: true, ...common } : { active: false }))
    })
    request.resume()
  })
  const protection = protect({
    resource: guardedResource,
    issuers: [{ issuer: opaque.issuer, introspection: { client: { id: 'items', secret: 'secret' } } }, signing.issuer],
    scopes: ['items:read'],
    dpop: 'accepted',
  })
  const proofs = createLedger({}, { proofs: { perCaller: maxProofs, total: 10 * maxProofs } })
  const answer = tool('answer', { description: 'Answers', run: () => 'yes' })
  return {
    server: createServer({ ...about, name: 'guarded', version: '1.0.0', tools: [answer] }),
    auth: {
      ...protection,
      authenticate: (request, context) => {
        if (context === undefined) throw new TypeError('the transport passes a context')
        // To sign the ten thousand proofs of the default limit would take minutes, so this server has a smaller limit.
        const hasProof = request.headerValues('dpop').length > 0
        return protection.authenticate(request, hasProof ? { ...context, ledger: proofs } : context)
      },
    },
    sign: (jkt) => signing.sign({ claims: { cnf: { jkt } } }),
  }
}
