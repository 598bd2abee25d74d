import { tool } from '@x/server'
import { expect, test } from 'vitest'
import { createGate } from '@tooling/vitest/gate'
import { overEveryTransport } from './over-every-transport.ts'
import { waitingTool } from './waiting-tool.ts'

const reason = new Error('the user pressed stop')

overEveryTransport('cancelling', (serve) => {
  test('while the handler runs rejects the call with the reason and aborts the signal of the handler [CAN-004 SHT-024 SHT-025]', async () => {
    const { started, stopped, waits } = waitingTool()
    await using served = await serve({ tools: [waits] })
    const controller = new AbortController()
    const call = served.connect().client.callTool('waits', {}, { signal: controller.signal })
    await started.opened
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    await stopped.opened
  })

  test('before the call sends nothing', async () => {
    let runs = 0
    const counts = tool('counts', { description: 'Counts its runs', run: () => String(++runs) })
    await using served = await serve({ tools: [counts] })
    const { client } = served.connect()
    await expect(client.callTool('counts', {}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect((await client.callTool('counts')).content).toEqual([{ type: 'text', text: '1' }])
  })

  test('after the response has no effect [CAN-014]', async () => {
    const seen: AbortSignal[] = []
    const quick = tool('quick', {
      description: 'Answers at once',
      run: (_, ctx) => {
        seen.push(ctx.signal)
        return 'quick'
      },
    })
    await using served = await serve({ tools: [quick] })
    const { client } = served.connect()
    const controller = new AbortController()
    const result = await client.callTool('quick', {}, { signal: controller.signal })
    controller.abort(reason)
    expect(result.content).toEqual([{ type: 'text', text: 'quick' }])
    await client.callTool('quick')
    expect(seen[1]?.aborted).toBe(false)
  })

  test('one call affects no other call and leaves the connection usable', async () => {
    const { started, waits } = waitingTool()
    const gate = createGate()
    const slow = tool('slow', { description: 'Waits for a gate', run: () => gate.opened.then(() => 'slow') })
    await using served = await serve({ tools: [waits, slow] })
    const { client } = served.connect()
    const controller = new AbortController()
    const other = client.callTool('slow')
    const call = client.callTool('waits', {}, { signal: controller.signal })
    await started.opened
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    gate.open()
    expect((await other).content).toEqual([{ type: 'text', text: 'slow' }])
  })

  test('during progress aborts the signal of the handler too [SHT-024]', async () => {
    const aborted = createGate()
    const reports = tool('reports', {
      description: 'Reports progress and waits',
      run: (_, ctx) =>
        new Promise<string>((resolve) => {
          ctx.signal.addEventListener('abort', () => {
            aborted.open()
            resolve('too late')
          })
          ctx.progress(1)
        }),
    })
    await using served = await serve({ tools: [reports] })
    const controller = new AbortController()
    const onProgress = (): void => controller.abort(reason)
    const call = served.connect().client.callTool('reports', {}, { signal: controller.signal, onProgress })
    await expect(call).rejects.toBe(reason)
    await aborted.opened
  })
})
