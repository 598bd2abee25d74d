import { createGate } from '@tooling/vitest/gate'
import { describe, expect, test } from 'vitest'
import { connectScriptedServer as connect, createElicitRequest } from '../../testing/scripted-calls.ts'

describe('a call that its client gives up while a question is open is cancelled at the server at once', () => {
  test('when the handler throws [LEX-005]', async () => {
    const elicit = (): never => {
      throw new Error('no terminal here')
    }
    const { server, client, nextCall } = connect({ elicit })
    const result = client.callTool('greet')
    const { stream, id } = await nextCall()
    stream.send(createElicitRequest('q'))
    await expect(result).rejects.toThrow('no terminal here')
    await expect.poll(() => server.methods()).toContain('notifications/cancelled')
    const cancelled = server.arrived.find(({ message }) => message['method'] === 'notifications/cancelled')
    expect(cancelled?.message).toMatchObject({ params: { requestId: id } })
    expect(await server.nextAnswer()).toMatchObject({ id: 'q', error: { code: -32603 } })
  })

  test('when its signal aborts, with the reason [LEX-005]', async () => {
    const controller = new AbortController()
    const elicit = (): Promise<never> => {
      controller.abort('the user has left')
      return new Promise(() => {})
    }
    const { server, client, nextCall } = connect({ elicit })
    const result = client.callTool('greet', {}, { signal: controller.signal })
    const { stream } = await nextCall()
    stream.send(createElicitRequest('q'))
    await expect(result).rejects.toBe('the user has left')
    await expect.poll(() => server.methods()).toContain('notifications/cancelled')
    const cancelled = server.arrived.find(({ message }) => message['method'] === 'notifications/cancelled')
    expect(cancelled?.message).toMatchObject({ params: { reason: 'the user has left' } })
  })

  test('when it is asked more often than it allows', async () => {
    const { server, client, nextCall } = connect({
      elicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
    })
    const result = client.callTool('greet', {}, { rounds: { maxRounds: 1 } })
    const { stream } = await nextCall()
    stream.send(createElicitRequest('q-1'))
    await server.nextAnswer()
    stream.send(createElicitRequest('q-2'))
    await expect(result).rejects.toMatchObject({ code: 'too_many_rounds' })
    await expect.poll(() => server.methods()).toContain('notifications/cancelled')
  })
})

test('a call that is given up right before its connection is closed is cancelled before its session ends', async () => {
  const controller = new AbortController()
  const [isCancelled, isAccepted] = [createGate(), createGate()]
  const { client, connection, server, nextCall } = connect(
    {},
    {},
    {
      handle: ({ message }) => {
        if (message['method'] !== 'notifications/cancelled') return undefined
        isCancelled.open()
        return isAccepted.opened.then(() => new Response(null, { status: 202 }))
      },
    },
  )
  const result = client.callTool('greet', {}, { signal: controller.signal })
  await nextCall()
  controller.abort('the user has left')
  await expect(result).rejects.toBe('the user has left')
  const closing = connection.close()
  await isCancelled.opened
  expect(server.methods()).not.toContain('DELETE')
  isAccepted.open()
  await closing
  expect(server.methods().slice(-2)).toEqual(['notifications/cancelled', 'DELETE'])
})
