import type { LogRecord } from '@x/core'
import { randomKey, sealedState } from '@x/state-codec'
import { expect, test } from 'vitest'
import { LoginTickets } from './login-tickets.ts'

test('why a link of another instance is not accepted is only in the log', async () => {
  const records: LogRecord[] = []
  const create = () =>
    new LoginTickets(sealedState({ keys: [randomKey()] }), new URL('https://mcp.example.com/login'), (record) =>
      records.push(record),
    )
  const [one, other] = [create(), create()]
  const user = { issuer: 'https://login.example.com', subject: 'ada' }
  const needed = { user, endpoint: 'https://crm.example.com/mcp', scopes: undefined }
  const link = await one.createLink(needed)
  expect([await one.openLink(link), await other.openLink(link)]).toEqual([needed, undefined])
  expect(await other.openLink(new URL('https://mcp.example.com/login'))).toBeUndefined()
  expect(records).toEqual([
    expect.objectContaining({ code: 'login_expired', message: expect.stringContaining('No key has the id') }),
  ])
})
