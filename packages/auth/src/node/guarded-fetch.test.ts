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
  'https://localhost/',
])('%s is not asked, because it is no address of the public network [AUE-027]', async (address) => {
  await expect(guardedFetch()(address, {})).rejects.toThrow('of this machine or of a private network')
})

test('Plain http is not asked [AUS-007]', async () => {
  await expect(guardedFetch()('http://example.com/', {})).rejects.toThrow('Only https is allowed')
})

test('A host that is allowed is connected to', async () => {
  // Nothing listens there: the refusal of the connection shows that it was tried.
  await expect(guardedFetch({ allowedHosts: ['127.0.0.1'] })('https://127.0.0.1:1/', {})).rejects.toThrow(
    'ECONNREFUSED',
  )
})
