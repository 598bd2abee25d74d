import { createServer } from 'node:http'
import { globalAgent } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { guardedFetch } from './guarded-fetch.ts'

test.each([
  'https://127.0.0.1/',
  'https://10.1.2.3/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://100.64.0.1/',
  'https://0.0.0.0/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
  'https://[64:ff9b::a00:1]/',
  'https://[::]/',
  'https://[::7f00:1]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[64:ff9b:1::a00:1]/',
  'https://[100::1]/',
  'https://[2001::1]/',
  'https://[2001:10::1]/',
  'https://[2001:db8::1]/',
  'https://[2002:7f00:1::1]/',
  'https://[2002:a00:1::1]/',
  'https://[3fff::1]/',
  'https://[4000::1]/',
  'https://[5f00::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://192.0.0.8/',
  'https://192.0.2.1/',
  'https://192.88.99.1/',
  'https://198.18.0.1/',
  'https://198.51.100.1/',
  'https://203.0.113.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://localhost/',
])('%s is not asked, because it is no address of the public network [AUE-027]', async (address) => {
  await expect(guardedFetch()(address, {})).rejects.toThrow('of this machine or of a private network')
})

test.each([
  'https://[2606:4700:4700::1111]/',
  'https://[2001:4860:4860::8888]/',
  'https://8.8.8.8/',
  'https://192.0.1.1/',
])('%s is an address of the public network', async (address) => {
  const signal = AbortSignal.abort(new Error('aborted by the test'))
  await expect(guardedFetch()(address, { signal })).rejects.not.toThrow('of this machine or of a private network')
})

test('Plain http is not asked [AUS-007]', async () => {
  await expect(guardedFetch()('http://example.com/', {})).rejects.toThrow('Only https is allowed')
})

test('A host that is allowed is connected to', async () => {
  // Nothing listens there: the refusal of the connection shows that it was tried.
  await expect(guardedFetch({ allowedOrigins: ['https://127.0.0.1:1'] })('https://127.0.0.1:1/', {})).rejects.toThrow(
    'ECONNREFUSED',
  )
})

test('An open connection of the program to a private address is not used', async () => {
  const server = createServer((_, response) => response.end('secret'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  // Needs no certificate: the connections of the platform's agent are plain.
  Object.assign(globalAgent, { createConnection: () => connect(port, '127.0.0.1') })
  try {
    const origin = `https://localhost:${port}`
    const allowed = await guardedFetch({ allowedOrigins: [origin] })(origin, {})
    expect(await allowed.text()).toBe('secret')
    await expect.poll(() => Object.values(globalAgent.freeSockets).flat()).toHaveLength(1)
    await expect(guardedFetch()(origin, {})).rejects.toThrow('of this machine or of a private network')
  } finally {
    Reflect.deleteProperty(globalAgent, 'createConnection')
    globalAgent.destroy()
    server.close()
  }
})

test.each([
  ['a text, which also contains the beginning of its address', { allowedOrigins: 'https://10.0.0.12' }],
  ['a misspelt name', { allowedOrigin: ['https://10.0.0.1'] }],
])('origins as %s are refused', (_, options) => {
  expect(() => guardedFetch(Object(options))).toThrow('allowedOrigins')
})
