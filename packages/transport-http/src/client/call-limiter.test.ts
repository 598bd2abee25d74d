import { expect, test } from 'vitest'
import { callWith, rpcRequest, rpcResult } from '../testing/scripted-server.ts'
import { maxConcurrentCalls } from './call-limiter.ts'
import { connectHttp } from './connect-node.ts'

test('a call beyond the bound waits for the end of another, and streams and notifications wait for none', async () => {
  const answers: (() => void)[] = []
  const fetch = (): Promise<Response> =>
    new Promise((resolve) => answers.push(() => resolve(Response.json(rpcResult()))))
  await using connection = connectHttp('https://example.com/mcp', { fetch })
  const call = (signal?: AbortSignal) => connection.exchange(rpcRequest(), callWith(signal))
  const calls = Array.from({ length: maxConcurrentCalls }, () => call())
  const controller = new AbortController()
  const given = call(controller.signal)
  const waiting = call()
  await Promise.resolve()
  expect(answers).toHaveLength(maxConcurrentCalls)
  const listening = connection.exchange({ ...rpcRequest(), method: 'subscriptions/listen' }, callWith())
  const told = connection.notify({ jsonrpc: '2.0', method: 'com.example/changed' }, callWith())
  expect(answers).toHaveLength(maxConcurrentCalls + 2)
  controller.abort('enough')
  await expect(given).rejects.toBe('enough')
  answers[0]?.()
  expect(await calls[0]).toEqual(rpcResult())
  expect(answers).toHaveLength(maxConcurrentCalls + 3)
  answers.at(-1)?.()
  expect(await waiting).toEqual(rpcResult())
  await connection.close()
  await Promise.allSettled([...calls, listening, told])
})
