import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Call } from '@x/exchange'
import type { RpcNotification, RpcRequest, RpcResponse } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { createPostRequest } from '../testing/sent.ts'
import { serveFunctions } from '../testing/shells.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const listen = createPostRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
const changed: RpcNotification = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }

describe.each(serveFunctions)('%s', (_, serve) => {
  test('a stream keeps nothing of the request that opened it', async () => {
    let request: WeakRef<RpcRequest> | undefined
    let end = (_response: RpcResponse): void => {}
    const exchange = (asked: RpcRequest, { notify }: Call): Promise<RpcResponse> => {
      request = new WeakRef(asked)
      notify(changed)
      return new Promise((resolve) => {
        end = resolve
      })
    }
    await using handler = await serve(exchange)
    const stream = await handler.open(listen)
    expect(await stream.next()).toContain(changed.method)
    for (let round = 0; round < 4; round++) {
      await new Promise((resolve) => setImmediate(resolve))
      collect()
    }
    expect(request?.deref()).toBeUndefined()
    end({ jsonrpc: '2.0', id: 1, result: { resultType: 'complete' } })
    expect(await stream.next()).toContain('"complete"')
  })
})
