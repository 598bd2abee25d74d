import { expect, test, vi } from 'vitest'
import { SharedRequests } from './coalesced-requests.ts'

test('a logout also ends what waits for the end of an open login, and the next call begins anew', async () => {
  const requests = new SharedRequests<string>()
  const { signal } = new AbortController()
  const runQueued = vi.fn(async () => 'token of admin')
  const open = requests.join('server', { scopes: ['read'], signal }, () => new Promise(() => {}))
  const queued = requests.join('server', { scopes: ['admin'], signal }, runQueued)
  requests.end('server', 'the user logged out')
  const next = requests.join('server', { scopes: ['read'], signal }, async () => 'token of read')
  const ended = { code: 'login_ended', message: 'The login ended: the user logged out' }
  await expect(open).rejects.toMatchObject(ended)
  await expect(queued).rejects.toMatchObject(ended)
  expect([await next, runQueued.mock.calls]).toEqual(['token of read', []])
})
