import { describe, expect, test } from 'vitest'
import { withSignalOf } from '@x/core'
import { createCall } from '@x/exchange'
import { z } from 'zod'
import { type Context, createServer, prompt, tool } from '../index.ts'
import { callOf, callTool, createLogCollector, requestOf, resultOf, textOf } from '../testing/ask.ts'
import { replayModes, send, serve } from '../testing/rounds.ts'

const about = { name: 'demo', version: '1.0.0' }

describe('cancelling', () => {
  test('a handler that ends with its signal rejects the call with the reason, and reports no error [CAN-012]', async () => {
    const { reported, log } = createLogCollector()
    const run = (_: unknown, ctx: Context) =>
      new Promise<string>((_resolve, reject) =>
        ctx.signal.addEventListener('abort', () => reject(new Error('stopped'))),
      )
    const server = createServer({ ...about, tools: [tool('obedient', { description: 'Ends', run })], log })
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
    const source = {
      get signal() {
        looks++
        return new AbortController().signal
      },
    }
    const call = withSignalOf({ notify() {}, context: createCall({}).context }, source)
    await expect(server.exchange(requestOf('tools/call', { name: 'a' }), call)).resolves.toMatchObject({ id: 1 })
    expect(looks).toBe(0)
  })
})

describe('a thenable whose `then` returns nothing', () => {
  const later = <T>(value: T): PromiseLike<T> =>
    // oxlint-disable-next-line unicorn/no-thenable -- the object under test
    ({ then: (resolve: (value: T) => void) => void setImmediate(resolve, value) }) as unknown as PromiseLike<T>

  test.each(replayModes)('is waited for as the result of a handler (strictReplay: $strictReplay)', async (mode) => {
    const served = serve(() => later('done'), mode)
    expect((await send(served)).text).toBe('done')
  })

  test('is waited for as the outcome of a validator and of a completer', async () => {
    const input = z.object({ a: z.string() })
    const slow = {
      ...input,
      '~standard': { ...input['~standard'], validate: () => later({ value: { a: 'checked' } }) },
    }
    const hello = prompt('hello', { input, complete: { a: () => later(['Ada']) }, run: ({ a }) => a })
    const echo = tool('echo', { description: 'Echoes', input: slow as unknown as typeof input, run: ({ a }) => a })
    const server = createServer({ ...about, tools: [echo], prompts: [hello], strictReplay: false })
    expect(textOf(await callTool(server, 'echo', { a: 'x' }))).toBe('checked')
    const params = { ref: { type: 'ref/prompt', name: 'hello' }, argument: { name: 'a', value: 'A' } }
    expect(await resultOf(server, 'completion/complete', params)).toMatchObject({ completion: { values: ['Ada'] } })
  })
})
