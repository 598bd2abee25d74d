import { expect, test } from 'vitest'
import { TokenError } from '../server.ts'
import { createProtectedServer } from '../testing/protected.ts'

test('a principal may be made in a way of one’s own', async () => {
  await using server = await createProtectedServer({
    scopes: [],
    toPrincipal: ({ oid, roles }, issuer) => ({ subject: String(oid), issuer, scopes: (roles ?? []) as string[] }),
  })
  await server.send(await server.issuer.sign({ claims: { oid: 'o-1', roles: ['admin'] } }))
  expect(server.principals).toMatchObject([{ subject: 'o-1', issuer: server.issuer.issuer, scopes: ['admin'] }])
})

test.each([undefined, {}, { subject: '' }, { subject: 7 }])(
  'a principal without the name of a user is refused, since all of them would count as one: %j',
  async (principal) => {
    await using server = await createProtectedServer({ toPrincipal: () => principal as never })
    expect((await server.send(await server.issuer.sign())).status).toBe(401)
    expect([server.listErrorCodes(), server.principals]).toEqual([['invalid_claim'], []])
  },
)

test('a function of one’s own may forbid a call: 403', async () => {
  const toPrincipal = () => {
    throw new TokenError('insufficient_scope', 'The user has no role')
  }
  await using server = await createProtectedServer({ scopes: [], toPrincipal })
  const response = await server.send(await server.issuer.sign())
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([
    403,
    expect.stringMatching(/^Bearer error="insufficient_scope", resource_metadata=/),
  ])
  expect(await response.json()).toMatchObject({ error: { message: 'The access token does not allow this' } })
  expect(server.listErrorCodes()).toEqual(['insufficient_scope'])
})

test('a principal may have members of its own, such as a status, and its claims stay changeable in the program', async () => {
  const user = { seen: 0, roles: ['admin'] }
  await using server = await createProtectedServer({
    scopes: [],
    toPrincipal: (_, issuer) => Object({ subject: 'ada', issuer, status: 'active', claims: user }),
  })
  expect((await server.send(await server.issuer.sign())).status).toBe(200)
  expect(server.principals).toMatchObject([{ status: 'active', claims: user }])
  expect([Object.isFrozen(server.principals[0]?.claims), Object.isFrozen(user)]).toEqual([true, false])
})

test('a toPrincipal that never answers is 503 after ten seconds, and asked again by the next request', async () => {
  const asked: ((principal: { subject: string }) => void)[] = []
  const toPrincipal = () => new Promise<{ subject: string }>((resolve) => void asked.push(resolve))
  await using server = await createProtectedServer({ scopes: [], toPrincipal })
  const token = await server.issuer.sign()
  const hanging = server.send(token)
  await expect.poll(() => asked.length).toBe(1)
  server.advanceTime(10_000)
  expect((await hanging).status).toBe(503)
  const next = server.send(token)
  await expect.poll(() => asked.length).toBe(2)
  asked[1]?.({ subject: 'ada' })
  expect((await next).status).toBe(200)
})
