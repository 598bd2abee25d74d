import { describe, expect, test } from 'vitest'
import { describeIssues, findFileProblems, gatewayFile } from './file-schema.ts'

const protect = { resource: 'https://mcp.example.com/mcp', issuers: ['https://login.example.com'] }
const upstreams = { crm: { url: 'https://crm.example.com/mcp' } }
const problemsOf = (listen: object) =>
  findFileProblems(gatewayFile.parse({ name: 'company', state: { keys: { env: 'KEYS' } }, listen, upstreams }))

describe('an address to listen on', () => {
  test.each([
    [{}],
    [{ host: 'localhost' }],
    [{ host: '127.0.0.2' }],
    [{ allowedHosts: ['crm.localhost'] }],
    [{ host: '::1', allowedHosts: ['[::1]:3000', 'localhost'] }],
    [{ host: '0.0.0.0', allowedHosts: ['mcp.example.com'], protect }],
  ])('has no problem: %j', (listen) => {
    expect(problemsOf(listen)).toEqual([])
  })

  test.each([
    [{ host: '0.0.0.0', allowedHosts: ['mcp.example.com'] }, ['add protect']],
    [{ host: '::', protect }, ['add allowedHosts']],
    [{ allowedHosts: ['localhost:3000', 'mcp.example.com:443'] }, ['add protect']],
  ])('for other machines needs names, and a verification of callers: %j', (listen, expected) => {
    expect(problemsOf(listen)).toEqual(expected.map((advice) => expect.stringContaining(advice)))
  })
})

describe('an upstream', () => {
  const file = { name: 'company', state: { keys: { env: 'KEYS' } } }
  const { crm } = upstreams

  test('whose rules of tools contradict is a problem', () => {
    const contradicting = { ...crm, tools: { allow: ['add'], deny: ['add'] } }
    const parsed = gatewayFile.parse({
      ...file,
      upstreams: { a: contradicting, b: { ...crm, tools: { deny: ['x'] } } },
    })
    expect(findFileProblems(parsed)).toEqual([
      expect.stringContaining('upstreams.a.tools: "add" is in allow and in deny'),
    ])
  })

  test.each(['60s', 0, 1.5])('has a time in whole milliseconds: %j', (timeoutMs) => {
    const { error } = gatewayFile.safeParse({ ...file, upstreams: { a: { ...crm, timeoutMs } } })
    const problem = 'upstreams.a.timeoutMs: must be a whole number of milliseconds, such as 60000'
    expect(error && describeIssues(error)).toEqual([problem])
  })
})
