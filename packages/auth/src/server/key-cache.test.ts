import { expect, test } from 'vitest'
import { createProtectedServer } from '../testing/protected.ts'

test('keys stay in use when their issuer publishes an empty set', async () => {
  await using server = await createProtectedServer({ cacheMs: 0 })
  const token = await server.issuer.sign({ claims: { exp: Math.floor(Date.now() / 1000) + 7200 } })
  expect((await server.send(token)).status).toBe(200)
  server.issuer.answer('/jwks', { json: { keys: [] } })
  server.advanceTime(600_000)
  expect((await server.send(token)).status).toBe(200)
  expect(server.listErrorCodes()).toEqual(['issuer_unavailable'])
})

test('a clock that is set back delays no fetch and no report, and allows no more searches', async () => {
  await using server = await createProtectedServer()
  const token = await server.issuer.sign()
  server.issuer.break(true)
  expect((await server.send(token)).status).toBe(503)
  server.changeClock(-3_600_000)
  server.advanceTime(60_000)
  expect((await server.send(token)).status).toBe(503)
  expect(server.errors).toHaveLength(2)
  server.issuer.break(false)
  server.advanceTime(2000)
  expect((await server.send(token)).status).toBe(200)
  server.changeClock(-3_600_000)
  for (let number = 0; number < 20; number += 1)
    await server.send(await server.issuer.sign({ header: { kid: `made-up-${number}` } }))
  expect(server.issuer.requests.filter(({ path }) => path === '/jwks')).toHaveLength(5)
})
