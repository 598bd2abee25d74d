import { afterEach, beforeEach, expect, vi } from 'vitest'

const methods = ['log', 'info', 'warn', 'error', 'debug']

// A stray console call is noise in a user's process, so it fails the test that made it.
beforeEach(() => {
  for (const method of methods) vi.spyOn(console, method).mockImplementation(() => {})
})
afterEach(() => {
  for (const method of methods) {
    const calls = vi.mocked(console[method]).mock?.calls ?? []
    vi.mocked(console[method]).mockRestore?.()
    expect(calls, `console.${method} was called; expect it in the test or remove it`).toEqual([])
  }
})
