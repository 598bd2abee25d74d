import { expect, test } from 'vitest'
import { echo, testServer } from '../testing/exchanges.ts'
import { serveHttp } from './serve-http.ts'

test('an option that does not exist is rejected by name, with a suggestion', async () => {
  const options = { principal: () => undefined }
  await expect(serveHttp(testServer(echo), options as object)).rejects.toThrow(
    'serveHttp has no option `principal`: did you mean `auth`?',
  )
  const stopOnSignals = { notice: 3000 }
  await expect(serveHttp(testServer(echo), { stopOnSignals } as object)).rejects.toThrow(
    'serveHttp, stopOnSignals, has no option `notice`: did you mean `noticeMs`?',
  )
})

test.each([
  ['endless', Number.POSITIVE_INFINITY],
  ['longer than a timer of the platform', 2 ** 31],
  ['no number', Number.NaN],
  ['negative', -1],
  ['a text', '30s'],
  ['null', null],
])('a time that is %s is rejected, and aborts no call at a stop', async (_, ms) => {
  const server = testServer(echo)
  for (const options of [
    { stopOnSignals: { graceMs: ms } },
    { stopOnSignals: { noticeMs: ms } },
    { timeoutMs: ms },
    { keepAliveMs: ms },
  ])
    await expect(serveHttp(server, options as object)).rejects.toThrow(/Ms is .*: write a number from 0 to 2147483647$/)
  await using http = await serveHttp(server)
  await expect(http.close({ graceMs: ms } as object)).rejects.toThrow('graceMs is')
  expect((await fetch(`http://127.0.0.1:${http.port}/healthz`)).status).toBe(200)
})
