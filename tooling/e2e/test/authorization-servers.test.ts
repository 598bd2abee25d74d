import { memoryAuthStore, oauth, type OAuth } from '@x/auth/client'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { callback, type LoginService, serveOfficialDemo, serveOidcProvider } from './authorization-servers.ts'
import { serveBetterAuth } from './better-auth-server.ts'

const code = 'authorization_code'
const refresh = 'refresh_token'
const isNewClient = expect.stringContaining('the program has a new client id there, so its earlier login has ended')
const hour = 3_600_000

/** A program with a store, and what it has sent and shown. */
function installProgram(service: LoginService) {
  const store = memoryAuthStore()
  /** The grant types of its token requests, and `register`. */
  const sent: unknown[] = []
  const shown: unknown[] = []
  let now = Date.now()
  const start = (): OAuth => {
    const auth = oauth({
      client: { name: 'Items' },
      store,
      runtime: { now: () => now },
      fetch: async (address, request) => {
        const response = await fetch(address, request)
        const body = String(request.body)
        if (body.includes('redirect_uris')) sent.push('register')
        else if (body.includes('grant_type=')) sent.push(new URLSearchParams(body).get('grant_type'))
        return response
      },
      redirect: { applicationType: 'native', open: async () => listener },
    })
    const visit = (page: URL): Promise<URL> => {
      shown.push(auth.pendingLogin(service.url)?.message)
      return service.visit(page)
    }
    const listener = { uri: callback, visit, close: async () => {} }
    return auth
  }
  const call = async (auth = start()): Promise<unknown> => {
    await using client = createClient(connectHttp(service.url, { auth }), { name: 'test', version: '1.0.0' })
    return (await client.callTool('greet')).content[0]
  }
  return { start, call, sent, shown, wait: (ms: number) => (now += ms) }
}

const hello = { type: 'text', text: 'hello' }

test.each([
  ['oidc-provider', serveOidcProvider],
  ['better-auth with mcp()', serveBetterAuth],
])(
  'a program logs in at %s, refreshes, registers again when it is forgotten, and logs out [AUT-001 AUT-031 AUT-101 AUT-103]',
  async (_title, serve) => {
    const service = await serve()
    const program = installProgram(service)
    expect([await program.call(), await program.call()]).toEqual([hello, hello])
    program.wait(hour)
    expect(await program.call()).toEqual(hello)
    expect([program.sent.splice(0), program.shown.length]).toEqual([['register', code, refresh], 1])
    await service.forgetClients()
    program.wait(hour)
    const auth = program.start()
    expect(await program.call(auth)).toEqual(hello)
    expect(program.sent.splice(0)).toEqual([refresh, 'register', code])
    expect(program.shown).toEqual([expect.stringContaining('open in the browser'), isNewClient])
    await auth.logout(service.url)
    expect(await program.call()).toEqual(hello)
    expect([program.sent, program.shown.length]).toEqual([['register', code], 3])
    await service.close()
  },
)

test('a program logs in at the demo of the official SDK, and again when a restart of it has forgotten everything [AUT-001 AUT-031 AUT-101 AUE-010]', async () => {
  const service = await serveOfficialDemo()
  const program = installProgram(service)
  expect([await program.call(), await program.call()]).toEqual([hello, hello])
  expect([program.sent.splice(0), program.shown.length]).toEqual([['register', code], 1])
  await service.forgetClients()
  // It says so in the browser alone, which then redirects nowhere.
  await expect(program.call()).rejects.toThrow('invalid_client')
  const auth = program.start()
  expect(await program.call(auth)).toEqual(hello)
  await auth.logout(service.url)
  expect(await program.call()).toEqual(hello)
  expect([program.sent, program.shown.length]).toEqual([['register', code, 'register', code], 4])
  await service.close()
})
