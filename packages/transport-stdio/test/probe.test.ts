import { createGate } from '@tooling/vitest/gate'
import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import { createRequest } from '../src/testing/requests.ts'
import { listeningCall } from '../src/testing/scripted-link.ts'
import { toScript } from './scripted-process.ts'

describe('the probe of a fresh process', () => {
  const receive = (answer: string): string => `receive((message) => { console.error(message.method); ${answer} })`

  test('comes before everything else, and once [STD-019]', async () => {
    const methods: string[] = []
    const source = receive('say({ id: message.id, result })')
    await using connection = toScript(source, { stderr: (method) => methods.push(method) })
    await Promise.all([1, 2].map((id) => connection.exchange(createRequest(id, 'tools/list'), listeningCall())))
    await connection.close()
    expect(methods).toEqual(['server/discover', 'tools/list', 'tools/list'])
  })

  test.each([
    [-32601, null],
    [-32602, '1900-01-01'],
    [-32000, '2025-11-25'],
    [7, '2025-06-18'],
  ])(
    'names an older server that answers with the error %i, and starts it once [STD-017 STD-018]',
    async (code, named) => {
      const methods: string[] = []
      const [error, result] = [{ code, message: 'no' }, { protocolVersion: named }].map((part) => JSON.stringify(part))
      const source = receive(
        `say({ id: message.id, ...(message.method === 'initialize' ? { result: ${result} } : { error: ${error} }) })`,
      )
      await using connection = toScript(source, { stderr: (method) => methods.push(method) })
      const revision = named?.startsWith('2025') === true ? named : 'one of an earlier revision'
      const message = expect.stringContaining(`only MCP 2026-07-28; the server answered as ${revision}`)
      for (const id of [1, 2])
        await expect(connection.exchange(createRequest(id), listeningCall())).rejects.toMatchObject({
          code: 'unsupported_version',
          message,
        })
      await connection.close()
      expect(methods).toEqual(['server/discover', 'initialize'])
    },
  )

  test('takes a server that names other revisions for a modern one, and leaves the rest to the client', async () => {
    const error = `{ code: -32022, message: 'no', data: { supported: ['2027-01-01'], requested: '2026-07-28' } }`
    await using connection = toScript(receive(`say({ id: message.id, error: ${error} })`))
    const answer = await connection.exchange(createRequest(1), listeningCall())
    expect(answer).toMatchObject({ id: 1, error: { code: -32022 } })
  })

  test('fails for a server that does not respond [STD-018]', async () => {
    const clock = manualClock()
    const asked = createGate()
    const source = receive('')
    await using connection = toScript(source, {
      runtime: clock,
      stderr: () => asked.open(),
      restart: false,
    })
    const failure = connection.exchange(createRequest(1), listeningCall()).catch((error: unknown) => error)
    await asked.opened
    clock.advance(60_000)
    expect(await failure).toMatchObject({ code: 'probe', message: expect.stringContaining('60000 ms') })
  })

  test('is replaced by onStart', async () => {
    const methods: string[] = []
    const source = receive('say({ id: message.id, result })')
    await using connection = toScript(source, { stderr: (method) => methods.push(method), onStart: async () => {} })
    await connection.exchange(createRequest(1, 'tools/list'), listeningCall())
    await connection.close()
    expect(methods).toEqual(['tools/list'])
  })
})
