import { expect, test } from 'vitest'
import { compileCalls } from './many-calls.ts'

test('500 calls through client.tools make the compiler create fewer than 2.5 times the types', {
  timeout: 120_000,
}, () => {
  const untyped = compileCalls(500, 'untyped')
  const typed = compileCalls(500, 'typed')
  // A generic callTool(name, args) makes it 16 times as many, because each call looks at every tool.
  expect(typed.instantiations / untyped.instantiations).toBeLessThan(2.5)
  // Fewer than this, and the calls are not checked.
  expect(typed.instantiations / untyped.instantiations).toBeGreaterThan(1.2)
})
