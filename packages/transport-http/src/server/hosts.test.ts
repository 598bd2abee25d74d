import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileHosts, isHostAllowed, loopbackHosts, parseHost } from './hosts.ts'

const loopback = compileHosts(loopbackHosts)

test('a host that passes is one that the URL parser, too, takes for this machine [SHT-002]', () => {
  const hostile = fc.stringMatching(/^[a-z0-9.:@/\\[\]%#?_-]{0,20}$/)
  const near = fc.tuple(hostile, fc.constantFrom(...loopbackHosts), hostile).map((parts) => parts.join(''))
  fc.assert(
    fc.property(fc.oneof(near, hostile, fc.string()), (header) => {
      const host = parseHost(header)
      if (host === undefined || !isHostAllowed(host, loopback)) return
      expect(loopbackHosts).toContain(new URL(`http://${header}`).hostname)
    }),
    { numRuns: 2_000 },
  )
})

test('a port belongs to its host alone', () => {
  const rule = compileHosts(['a.test:1', 'b.test'])
  const allowed = ['a.test:1', 'a.test:2', 'a.test', 'b.test:1', 'b.test'].filter((header) => {
    const host = parseHost(header)
    return host !== undefined && isHostAllowed(host, rule)
  })
  expect(allowed).toEqual(['a.test:1', 'b.test:1', 'b.test'])
})
