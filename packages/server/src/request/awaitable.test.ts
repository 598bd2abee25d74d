import { describe, expect, test } from 'vitest'
import { deferSignal, emptyContext } from '@x/schema'
import { type Context, createServer, tool } from '../index.ts'
import { callOf, collector, requestOf } from '../testing/ask.ts'

const about = { name: 'demo', version: '1.0.0' }

describe('cancelling', () => {
  test('a handler that ends with its signal rejects the call with the reason, and reports no error [CAN-012]', async () => {
    const { reported, onError } = collector()
    const run = (_: unknown, ctx: Context) =>
      new Promise<string>((_resolve, reject) =>
        ctx.signal.addEventListener('abort', () => reject(new Error('stopped'))),
      )
    const server = createServer({ ...about, tools: [tool('obedient', { description: 'Ends', run })], onError })
    const controller = new AbortController()
    const answer = server.exchange(requestOf('tools/call', { name: 'obedient' }), callOf({ signal: controller.signal }))
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(answer).rejects.toBe(reason)
    expect(reported).toEqual([])
  })

  test.each([
    ['answers at once', () => 'done'],
    ['answers later', async () => 'done'],
  ])('the signal is not looked at for a handler that %s', async (_, run) => {
    const server = createServer({ ...about, tools: [tool('a', { description: 'a', run })] })
    let looks = 0
    const call = deferSignal({ notify() {}, context: emptyContext }, () => {
      looks++
      return new AbortController().signal
    })
    await expect(server.exchange(requestOf('tools/call', { name: 'a' }), call)).resolves.toMatchObject({ id: 1 })
    expect(looks).toBe(0)
  })
})
