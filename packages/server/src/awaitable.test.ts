import { describe, expect, test } from 'vitest'
import { createServer, tool } from './index.ts'
import { callOf, collector, requestOf } from './testing/ask.ts'

const about = { name: 'demo', version: '1.0.0' }
const nothing = tool('nothing', { description: 'Does nothing', run: () => 'nothing' })

describe('cancelling', () => {
  const { reported, onError } = collector()
  const stubborn = tool('stubborn', { description: 'Never ends', run: () => new Promise<string>(() => {}) })
  const obedient = tool('obedient', {
    description: 'Ends with its signal',
    run: (_, ctx) =>
      new Promise<string>((_resolve, reject) =>
        ctx.signal.addEventListener('abort', () => reject(new Error('stopped'))),
      ),
  })
  const server = createServer({ ...about, tools: [stubborn, obedient, nothing], onError })

  test.each(['stubborn', 'obedient'])(
    'a %s handler is not waited for: the call rejects with the reason [CAN-012]',
    async (name) => {
      const controller = new AbortController()
      const answer = server(requestOf('tools/call', { name }), callOf({ signal: controller.signal }))
      const reason = new Error('enough')
      controller.abort(reason)
      await expect(answer).rejects.toBe(reason)
      expect(reported).toEqual([])
    },
  )

  test('a call that was cancelled before it began does not begin', async () => {
    const signal = AbortSignal.abort('never mind')
    await expect(server(requestOf('tools/call', { name: 'nothing' }), callOf({ signal }))).rejects.toBe('never mind')
  })

  test('a call that is cancelled while a synchronous handler runs gives no answer', async () => {
    const controller = new AbortController()
    const run = () => {
      controller.abort('mid-run')
      return 'done'
    }
    const aborting = createServer({ ...about, tools: [tool('a', { description: 'a', run })] })
    const answer = aborting(requestOf('tools/call', { name: 'a' }), callOf({ signal: controller.signal }))
    await expect(answer).rejects.toBe('mid-run')
  })

  test('a listener on the signal is taken away with the answer', async () => {
    const controller = new AbortController()
    const added: unknown[] = []
    const removed: unknown[] = []
    const { signal } = controller
    const spied = new Proxy(signal, {
      get(target, key) {
        if (key === 'addEventListener') return (_: string, listener: unknown) => added.push(listener)
        if (key === 'removeEventListener') return (_: string, listener: unknown) => removed.push(listener)
        return Reflect.get(target, key, target)
      },
    })
    const run = async () => 'done'
    const slow = createServer({ ...about, tools: [tool('a', { description: 'a', run })] })
    await slow(requestOf('tools/call', { name: 'a' }), callOf({ signal: spied }))
    expect(added).toHaveLength(1)
    expect(removed).toEqual(added)
  })
})
