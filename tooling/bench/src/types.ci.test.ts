import { expect, test } from 'vitest'
import { compileCalls } from './types.ts'

test('500 calls through client.tools make the compiler create fewer than 2.5 times the types', {
  timeout: 120_000,
}, () => {
  const untyped = compileCalls(500, 'untyped')
  const typed = compileCalls(500, 'typed')
  // A generic callTool(name, args) creates 16 times as many types, because the compiler compares each call with every
  // tool.
  expect(typed.instantiations / untyped.instantiations).toBeLessThan(2.5)
  // With a smaller ratio the calls would not be checked.
  expect(typed.instantiations / untyped.instantiations).toBeGreaterThan(1.2)
})
