import { expect, test } from 'vitest'
import { createClient } from '../create-client.ts'
import { createSkippingClock, transportError } from '../testing/lost-answers.ts'
import {
  createMinimalTool,
  createScriptedExchange,
  createTextResult,
  createToolsPage,
  hostInfo,
} from '../testing/scripted-exchange.ts'

const origin = 'https://x.test'
const quick = { ...hostInfo, runtime: createSkippingClock() }

test('a call of an unknown tool whose server has died fails after one look at the list', async () => {
  const exchange = createScriptedExchange(() => {
    throw transportError('HttpError', { code: 'closed', origin })
  })
  const client = createClient(exchange, quick)
  await expect(client.callTool('hidden')).rejects.toMatchObject({ code: 'transport' })
  expect(exchange.received.map(({ request }) => request.method)).toEqual(['tools/call', 'tools/list'])
})

test('a call of an unknown tool is sent again when a proxy answered while the server restarted', async () => {
  const away = transportError('HttpError', { code: 'status', status: 502, origin })
  let failures = 4
  const exchange = createScriptedExchange(({ request }) => {
    if (failures-- > 0) throw away
    const looks = createMinimalTool('look', { annotations: { readOnlyHint: true } })
    return request.method === 'tools/list' ? createToolsPage([looks]) : createTextResult('done')
  })
  expect(await createClient(exchange, quick).callTool('look')).toMatchObject(createTextResult('done'))
})

test('a first connection that is refused is logged once, because its server may not run', async () => {
  const records: unknown[] = []
  const refused = Object.assign(new Error('no connection (ECONNREFUSED)'), {
    name: 'HttpError',
    code: 'refused',
    mayHaveRun: false,
  })
  const client = createClient(() => Promise.reject(refused), { ...quick, log: (record) => records.push(record) })
  await Promise.allSettled([client.callTool('pay'), client.discover()])
  const message = expect.stringMatching(
    /^Nothing listens at .*: is the server running\? what it has not received is sent again for up to 10 s$/,
  )
  expect(records).toEqual([expect.objectContaining({ level: 'warn', message })])
})
