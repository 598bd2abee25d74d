import { tool } from '@x/server'
import { expect, test } from 'vitest'
import { createGate } from '@tooling/vitest/gate'
import { overEveryTransport, type Peer } from './over-every-transport.ts'
import { send } from './raw-request.ts'

const secret = tool('secret', {
  description: 'For Ada alone',
  visibleTo: (principal) => principal?.subject === 'ada',
  run: () => 'the secret',
})
const open = tool('open', { description: 'For all users', run: () => 'open' })

overEveryTransport('two callers', (serve) => {
  test('who use the same ids concurrently receive their own answers and progress', async () => {
    const gate = createGate()
    const whoami = tool('whoami', {
      description: 'Returns the subject of the caller',
      run: async (_, ctx) => {
        ctx.progress(1, 2, ctx.principal?.subject)
        await gate.opened
        ctx.progress(2, 2, ctx.principal?.subject)
        return String(ctx.principal?.subject)
      },
    })
    await using served = await serve({ tools: [whoami] })
    const call = {
      method: 'tools/call',
      params: { name: 'whoami', arguments: {} },
      meta: { progressToken: 'same' },
      id: 1,
    }
    const subjects = ['ada', 'grace', 'edsger']
    const answers = subjects.map((subject) => send(served.connect({ subject }).exchange, call))
    gate.open()
    for (const [index, { response, notifications }] of (await Promise.all(answers)).entries()) {
      const subject = subjects[index]
      expect(response).toMatchObject({ id: 1, result: { content: [{ type: 'text', text: subject }] } })
      expect(notifications.map(({ params }) => params?.['message'])).toEqual([subject, subject])
    }
  })

  test('see different lists if a tool is hidden, and cannot call hidden tools [TOL-005 TOL-036 CCH-026 CCH-027]', async () => {
    await using served = await serve({ tools: [secret, open] })
    const names = async ({ client }: Peer): Promise<string[]> => (await client.listTools()).map(({ name }) => name)
    const ada = served.connect({ subject: 'ada' })
    expect(await names(ada)).toEqual(['secret', 'open'])
    expect((await ada.client.callTool('secret')).content).toEqual([{ type: 'text', text: 'the secret' }])
    for (const other of [served.connect({ subject: 'grace' }), served.connect()]) {
      expect(await names(other)).toEqual(['open'])
      await expect(other.client.callTool('secret')).rejects.toMatchObject({ rpc: { code: -32602 } })
    }
  })

  test('cannot distinguish a hidden tool from one that does not exist', async () => {
    await using served = await serve({ tools: [secret, open] })
    const { exchange } = served.connect({ subject: 'grace' })
    const call = (name: string) => send(exchange, { method: 'tools/call', params: { name, arguments: {} } })
    const hidden = JSON.stringify((await call('secret')).response)
    const missing = JSON.stringify((await call('nosuch')).response)
    expect(hidden.replaceAll('secret', 'nosuch')).toBe(missing)
  })

  test('share no list that differs between them: its scope is private [CCH-025]', async () => {
    await using served = await serve({ tools: [secret, open], cache: { ttlMs: 60_000, scope: 'public' } })
    const { response } = await send(served.connect({ subject: 'ada' }).exchange, { method: 'tools/list' })
    expect(response).toMatchObject({ result: { cacheScope: 'private' } })
  })
})
