import { describe, expect, test } from 'vitest'
import { findFileProblems, gatewayFile } from './file-schema.ts'

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
