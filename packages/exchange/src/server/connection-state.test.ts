import { expect, test, vi } from 'vitest'
import { type ConnectionState, ConnectionStateSource } from './connection-state.ts'

const lost = new Error('nothing listens')
const url = new URL('https://login.example.com/authorize?state=x')
const login = Object.assign(new Error('A login is open'), { url })

function watch(source = new ConnectionStateSource()) {
  const seen: ConnectionState['status'][] = []
  const remove = source.onStateChange(({ status }) => seen.push(status))
  return { source, seen, remove }
}

test('a server that cannot be reached is restarting if it has answered before, and connecting otherwise', () => {
  const { source, seen } = watch()
  source.lose(lost)
  expect(source.state).toEqual({ status: 'connecting', loginUrl: undefined, reason: lost })
  source.open()
  source.lose(lost)
  source.open()
  expect(seen).toEqual(['connecting', 'open', 'restarting', 'open'])
})

test('a login has its page, and ends in the state before it', () => {
  const { source, seen } = watch()
  source.endLogin()
  source.needLogin(login)
  expect(source.state).toEqual({ status: 'login_needed', loginUrl: url.href, reason: login })
  source.endLogin()
  source.open()
  source.needLogin(login)
  source.endLogin()
  expect(seen).toEqual(['login_needed', 'connecting', 'open', 'login_needed', 'open'])
})

test('a login that is open stays the state while other requests are answered, until it ends', () => {
  const { source, seen } = watch()
  source.needLogin(Object.assign(new Error('A login is open'), { code: 'login_pending' }))
  source.open()
  source.endLogin()
  source.needLogin(login)
  source.open()
  expect(seen).toEqual(['login_needed', 'open', 'login_needed', 'open'])
})

test('an unchanged state is not reported, nor any state to a removed listener or after the end', () => {
  const { source, seen, remove } = watch()
  source.open()
  source.open()
  source.lose(lost)
  source.lose(new Error(lost.message))
  remove()
  source.open()
  const { seen: later } = watch(source)
  source.close(new Error('closed here'))
  source.open()
  expect([seen, later, source.state.status]).toEqual([['open', 'restarting'], ['closed'], 'closed'])
})

test('a listener that throws breaks neither the transport nor the other listeners', () => {
  const report = vi.spyOn(console, 'error').mockImplementation(() => {})
  const source = new ConnectionStateSource()
  source.onStateChange(() => {
    throw new Error('the page is gone')
  })
  const { seen } = watch(source)
  source.open()
  expect([seen, report.mock.calls.length]).toEqual([['open'], 1])
  report.mockRestore()
})
